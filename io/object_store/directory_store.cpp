#include "io/object_store/directory_store.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "io/file/file.hpp"

namespace ouzel::io {

namespace {

constexpr std::string_view temporaryDirectory = ".tmp";

class FileReader final : public ObjectReader {
public:
   explicit FileReader(File file) : file_(std::move(file)), size_(file_.size()) {}
   void read(uint64_t offset, size_t size, void* target) const override { file_.readAt(target, size, offset); }
   void prefetch(uint64_t offset, size_t size) const override {
      ::posix_fadvise(file_.descriptor(), static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
   }
   uint64_t size() const override { return size_; }

private:
   File file_;
   uint64_t size_;
};

bool isValidName(std::string_view name) {
   if (name.empty() || name.front() == '/' || name.back() == '/' || name.front() == '.') return false;
   return std::all_of(
              name.begin(), name.end(),
              [](unsigned char c) { return std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-'; }) &&
          name.find("..") == std::string_view::npos;
}

std::string parentOf(const std::string& path) {
   return path.substr(0, path.find_last_of('/'));
}

} // namespace

DirectoryStore::DirectoryStore(std::string root) : root_(std::move(root)) {
   makeDirectories(root_);
   const std::string temporary = root_ + "/" + std::string(temporaryDirectory);
   std::error_code ignored;
   std::filesystem::remove_all(temporary, ignored);
   makeDirectories(temporary);
}

std::string DirectoryStore::pathOf(std::string_view name) const {
   CHECK(isValidName(name));
   return root_ + "/" + std::string(name);
}

void DirectoryStore::prepareParent(const std::string& path) {
   const std::string parent = parentOf(path);
   {
      const std::lock_guard lock(mutex_);
      if (knownDirectories_.contains(parent)) return;
   }
   makeDirectories(parent);
   const std::lock_guard lock(mutex_);
   knownDirectories_.insert(parent);
}

bool DirectoryStore::put(std::string_view name, std::span<const std::string_view> parts,
                         const PutCondition& condition) {
   const std::string path = pathOf(name);
   std::string temporary = root_ + "/" + std::string(temporaryDirectory) + "/";
   {
      const std::lock_guard lock(mutex_);
      temporary += std::to_string(++temporaryCount_);
   }
   try {
      File file(temporary, File::Mode::CreateNew);
      uint64_t offset = 0;
      for (const std::string_view part : parts) {
         file.writeAt(part.data(), part.size(), offset);
         offset += part.size();
      }
      file.syncData();
   } catch (...) {
      ::unlink(temporary.c_str());
      throw;
   }
   prepareParent(path);
   bool stored = true;
   if (condition.kind == PutCondition::Kind::IfAbsent) {
      const int result = ::link(temporary.c_str(), path.c_str());
      const int error = errno;
      ::unlink(temporary.c_str());
      if (result != 0 && error != EEXIST) throwIoError("could not create file", path, error);
      stored = result == 0;
   } else {
      std::unique_lock lock(mutex_, std::defer_lock);
      if (condition.kind == PutCondition::Kind::IfMatch) {
         lock.lock();
         stored = tag(name) == condition.tag;
      }
      if (!stored) {
         ::unlink(temporary.c_str());
      } else if (::rename(temporary.c_str(), path.c_str()) != 0) {
         const int error = errno;
         ::unlink(temporary.c_str());
         throwIoError("could not rename file", path, error);
      }
   }
   if (stored) syncDirectory(parentOf(path));
   return stored;
}

std::unique_ptr<ObjectReader> DirectoryStore::open(std::string_view name) {
   const std::string path = pathOf(name);
   if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return nullptr;
   return std::make_unique<FileReader>(File(path, File::Mode::Read));
}

std::optional<std::string> DirectoryStore::tag(std::string_view name) {
   struct stat status {};
   if (::stat(pathOf(name).c_str(), &status) != 0) return std::nullopt;
   return std::to_string(status.st_ino) + "-" + std::to_string(status.st_mtim.tv_sec) + "." +
          std::to_string(status.st_mtim.tv_nsec) + "-" + std::to_string(status.st_size);
}

std::vector<ObjectInfo> DirectoryStore::list(std::string_view prefix, size_t limit) {
   namespace fs = std::filesystem;
   std::vector<ObjectInfo> result;
   const size_t slash = prefix.find_last_of('/');
   const std::string start =
       slash == std::string_view::npos ? root_ : root_ + "/" + std::string(prefix.substr(0, slash));
   std::error_code error;
   if (!fs::is_directory(start, error)) return result;
   for (auto it = fs::recursive_directory_iterator(start, error); !error && it != fs::recursive_directory_iterator();
        it.increment(error)) {
      const std::string path = it->path().string();
      if (it->path().filename() == temporaryDirectory && it->is_directory()) {
         it.disable_recursion_pending();
         continue;
      }
      if (!it->is_regular_file()) continue;
      std::string name = path.substr(root_.size() + 1);
      if (name.starts_with(prefix)) result.push_back({std::move(name), it->file_size()});
   }
   if (error) throwIoError("could not read directory", start, error.value());
   std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
   if (result.size() > limit) result.resize(limit);
   return result;
}

void DirectoryStore::remove(std::string_view name) {
   const std::string path = pathOf(name);
   if (::unlink(path.c_str()) != 0 && errno != ENOENT) throwIoError("could not remove file", path, errno);
}

} // namespace ouzel::io
