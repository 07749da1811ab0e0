#include "tests/object_server/bucket_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/object_server/http.hpp"
#include "tests/object_server/s3_error.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ouzel::object_server {

namespace {

constexpr const char* attribute = "user.object_server";

[[noreturn]] void fail(const std::string& what) {
   const int error = errno;
   throw S3Error(error == ENOSPC ? 507 : 500, error == ENOSPC ? "InsufficientStorage" : "InternalError",
                 what + ": " + std::strerror(error));
}

/// The tag of a file that was not put by this server.
std::string tagOf(const struct stat& info) {
   const uint64_t parts[] = {static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size),
                             static_cast<uint64_t>(info.st_mtim.tv_sec), static_cast<uint64_t>(info.st_mtim.tv_nsec)};
   const XXH128_hash_t hash = XXH3_128bits(parts, sizeof parts);
   XXH128_canonical_t bytes;
   XXH128_canonicalFromHash(&bytes, hash);
   return toHex({reinterpret_cast<const char*>(bytes.digest), sizeof bytes.digest});
}

void fillMeta(const struct stat& info, std::string_view stored, ObjectMeta& meta) {
   meta = {};
   meta.size = static_cast<uint64_t>(info.st_size);
   meta.modifiedSeconds = info.st_mtim.tv_sec;
   while (!stored.empty()) {
      const std::string_view line = stored.substr(0, stored.find('\n'));
      stored.remove_prefix(std::min(line.size() + 1, stored.size()));
      const size_t equals = line.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view name = line.substr(0, equals), value = line.substr(equals + 1);
      if (name == "etag")
         meta.etag = value;
      else
         meta.fields.emplace_back(name, value);
   }
   if (meta.etag.empty()) meta.etag = tagOf(info);
}

/// A directory sorts where its content does: behind names that continue with a byte below '/'.
struct Entry {
   std::string name; ///< of a directory with a slash at the end
   bool isDirectory() const { return name.back() == '/'; }
};

std::vector<Entry> readDirectory(const std::string& path) {
   std::vector<Entry> result;
   std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
   if (!directory) return result;
   while (const dirent* entry = ::readdir(directory.get())) {
      std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      bool isDirectory = entry->d_type == DT_DIR;
      if (struct stat info{}; entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
         if (::stat((path + "/" + name).c_str(), &info) != 0) continue;
         isDirectory = S_ISDIR(info.st_mode);
      }
      result.push_back({isDirectory ? name + "/" : name});
   }
   std::sort(result.begin(), result.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
   return result;
}

} // namespace

bool readMeta(const std::string& path, ObjectMeta& meta) {
   struct stat info {};
   if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
   char stored[4096];
   const ssize_t size = ::getxattr(path.c_str(), attribute, stored, sizeof stored);
   fillMeta(info, {stored, size > 0 ? static_cast<size_t>(size) : 0}, meta);
   return true;
}

ObjectWriter::ObjectWriter(std::string path)
   : path_(std::move(path)), file_(::open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644)) {
   if (!file_) fail("cannot create " + path_);
}

ObjectWriter::~ObjectWriter() {
   if (!path_.empty()) ::unlink(path_.c_str());
}

void ObjectWriter::write(std::string_view bytes) {
   while (!bytes.empty()) {
      const ssize_t written = ::write(fd(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write");
      bytes.remove_prefix(static_cast<size_t>(written));
      size_ += static_cast<uint64_t>(written);
   }
}

void ObjectWriter::appendFile(int file, uint64_t size) {
   off_t from = 0;
   while (size > 0) {
      const ssize_t copied = ::copy_file_range(file, &from, fd(), nullptr, size, 0);
      if (copied <= 0) fail("cannot copy");
      size -= static_cast<uint64_t>(copied);
      size_ += static_cast<uint64_t>(copied);
   }
}

void ObjectWriter::moveTo(const std::string& path, const ObjectMeta& meta) {
   std::string stored = "etag=" + meta.etag + "\n";
   for (const auto& [name, value] : meta.fields)
      stored += name + "=" + value + "\n";
   // Where the file system has no extended attributes, the object gets a tag from its inode.
   if (::fsetxattr(fd(), attribute, stored.data(), stored.size(), 0) != 0 && errno != ENOTSUP)
      fail("cannot set an attribute");
   if (::rename(path_.c_str(), path.c_str()) != 0) {
      if (errno == EISDIR || errno == ENOTDIR || errno == ENOTEMPTY)
         throw S3Error(409, "KeyConflict", "another object's name is a part of this one's, or the other way round");
      fail("cannot rename");
   }
   path_.clear();
}

BucketDirectory::BucketDirectory(std::string root) : root_(std::move(root)), private_(root_ + "/.object_server") {
   std::filesystem::remove_all(private_ + "/new");
   std::filesystem::create_directories(private_ + "/new");
}

bool BucketDirectory::hasBucket(const std::string& bucket) const {
   struct stat info {};
   return !bucket.empty() && bucket[0] != '.' && bucket.find('/') == std::string::npos &&
          ::stat((root_ + "/" + bucket).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool BucketDirectory::createBucket(const std::string& bucket) {
   const bool isName = bucket.size() >= 3 && bucket.size() <= 63 && bucket[0] != '.' &&
                       bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
   if (!isName) throw S3Error(400, "InvalidBucketName", "The specified bucket is not valid.");
   if (::mkdir((root_ + "/" + bucket).c_str(), 0755) == 0) return true;
   if (errno != EEXIST) fail("cannot make the bucket");
   return false;
}

bool BucketDirectory::removeBucket(const std::string& bucket) {
   return ::rmdir((root_ + "/" + bucket).c_str()) == 0;
}

std::vector<std::string> BucketDirectory::buckets() const {
   std::vector<std::string> result;
   for (const Entry& entry : readDirectory(root_))
      if (entry.isDirectory() && entry.name[0] != '.') result.push_back(entry.name.substr(0, entry.name.size() - 1));
   return result;
}

std::string BucketDirectory::pathOf(const std::string& bucket, const std::string& key) const {
   const std::string padded = "/" + key + "/";
   if (key.empty() || key.size() > 1024 || key.find('\0') != std::string::npos ||
       padded.find("//") != std::string::npos || padded.find("/./") != std::string::npos ||
       padded.find("/../") != std::string::npos)
      throw S3Error(400, "InvalidArgument", "this server cannot store such a key");
   return root_ + "/" + bucket + "/" + key;
}

std::optional<ObjectMeta> BucketDirectory::find(const std::string& bucket, const std::string& key) const {
   ObjectMeta meta;
   if (!readMeta(pathOf(bucket, key), meta)) return std::nullopt;
   return meta;
}

Descriptor BucketDirectory::open(const std::string& bucket, const std::string& key, ObjectMeta& meta) const {
   Descriptor file(::open(pathOf(bucket, key).c_str(), O_RDONLY | O_CLOEXEC));
   struct stat info {};
   if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
   char stored[4096];
   const ssize_t size = ::fgetxattr(file.get(), attribute, stored, sizeof stored);
   fillMeta(info, {stored, size > 0 ? static_cast<size_t>(size) : 0}, meta);
   return file;
}

std::unique_ptr<ObjectWriter> BucketDirectory::newFile() {
   return std::make_unique<ObjectWriter>(private_ + "/new/" + std::to_string(++fileCount_));
}

void BucketDirectory::commit(ObjectWriter& writer, const std::string& bucket, const std::string& key,
                             const ObjectMeta& meta) {
   const std::string path = pathOf(bucket, key);
   std::error_code error;
   std::filesystem::create_directories(path.substr(0, path.rfind('/')), error);
   if (error && error != std::errc::not_a_directory && error != std::errc::file_exists)
      throw S3Error(500, "InternalError", error.message());
   writer.moveTo(path, meta);
}

void BucketDirectory::remove(const std::string& bucket, const std::string& key) {
   std::string path = pathOf(bucket, key);
   struct stat info {};
   if (::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return;
   if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) fail("cannot remove");
   const size_t bucketSize = root_.size() + 1 + bucket.size();
   for (path.resize(path.rfind('/')); path.size() > bucketSize && ::rmdir(path.c_str()) == 0;)
      path.resize(path.rfind('/'));
}

bool BucketDirectory::listBelow(const std::string& directory, const std::string& keyPrefix, std::string_view prefix,
                                std::string_view after, const Visitor& visit) const {
   for (const Entry& entry : readDirectory(directory)) {
      const std::string key = keyPrefix + entry.name;
      const size_t common = std::min(key.size(), prefix.size());
      if (std::string_view(key).substr(0, common) != prefix.substr(0, common)) continue;
      if (entry.isDirectory()) {
         const bool isBefore = key < after && !after.starts_with(key);
         if (!isBefore && !listBelow(directory + "/" + entry.name, key, prefix, after, visit)) return false;
         continue;
      }
      if (key.size() < prefix.size() || key <= after) continue;
      ObjectMeta meta;
      if (readMeta(directory + "/" + entry.name, meta) && !visit(key, meta)) return false;
   }
   return true;
}

void BucketDirectory::list(const std::string& bucket, std::string_view prefix, std::string_view after,
                           const Visitor& visit) const {
   // The listing starts at the deepest directory that holds all keys with this prefix.
   const size_t slash = prefix.rfind('/');
   const std::string below = slash == std::string_view::npos ? "" : std::string(prefix.substr(0, slash + 1));
   if (("/" + below).find("/../") != std::string::npos) return;
   listBelow(root_ + "/" + bucket + "/" + below, below, prefix, after, visit);
}

} // namespace ouzel::object_server
