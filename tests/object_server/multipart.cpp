#include "tests/object_server/multipart.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>

#include "tests/object_server/digest.hpp"
#include "tests/object_server/http.hpp"
#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

namespace {

constexpr uint64_t partSizeMin = 5 << 20; // S3's limit for all parts but the last

std::string partName(int number) {
   char text[16];
   std::snprintf(text, sizeof text, "%05d", number);
   return text;
}

/// Each upload is a directory with an empty file, whose attribute has the object's key and fields.
constexpr const char* description = "/upload";

std::string field(const ObjectMeta& meta, std::string_view name) {
   for (const auto& [key, value] : meta.fields)
      if (key == name) return value;
   return {};
}

} // namespace

std::string MultipartUploads::pathOf(const std::string& bucket, const std::string& id) const {
   if (id.empty() || id.find_first_not_of("0123456789abcdef-") != std::string::npos)
      throw S3Error(404, "NoSuchUpload", "The specified upload does not exist.");
   return directory_.privateRoot() + "/uploads/" + bucket + "/" + id;
}

std::string MultipartUploads::begin(const std::string& bucket, const std::string& key,
                                    const std::vector<std::pair<std::string, std::string>>& fields) {
   const auto now = std::chrono::system_clock::now().time_since_epoch().count();
   const std::string id =
       toHex(Digest::of("xxh128", bucket + "/" + key + std::to_string(now) + std::to_string(++count_)));
   const std::string path = pathOf(bucket, id);
   std::filesystem::create_directories(path);
   ObjectMeta meta;
   meta.etag = "none";
   meta.fields = fields;
   meta.fields.emplace_back("key", percentEncode(key));
   directory_.newFile()->moveTo(path + description, meta);
   return id;
}

void MultipartUploads::require(const std::string& bucket, const std::string& key, const std::string& id) const {
   ObjectMeta meta;
   if (!readMeta(pathOf(bucket, id) + description, meta) || percentDecode(field(meta, "key")) != key)
      throw S3Error(404, "NoSuchUpload", "The specified upload does not exist.");
}

void MultipartUploads::putPart(const std::string& bucket, const std::string& id, int number, ObjectWriter& file,
                               const ObjectMeta& meta) {
   file.moveTo(pathOf(bucket, id) + "/" + partName(number), meta);
}

std::vector<MultipartUploads::Part> MultipartUploads::parts(const std::string& bucket, const std::string& id) const {
   std::vector<Part> result;
   std::error_code error;
   for (const auto& entry : std::filesystem::directory_iterator(pathOf(bucket, id), error)) {
      Part part;
      const std::string name = entry.path().filename();
      if (name.size() != 5 || !readMeta(entry.path(), part.meta)) continue;
      part.number = std::stoi(name);
      result.push_back(std::move(part));
   }
   std::sort(result.begin(), result.end(), [](const Part& a, const Part& b) { return a.number < b.number; });
   return result;
}

std::unique_ptr<ObjectWriter> MultipartUploads::assemble(const std::string& bucket, const std::string& id,
                                                         const std::vector<ClaimedPart>& claimed, ObjectMeta& meta) {
   const std::string path = pathOf(bucket, id);
   for (size_t i = 1; i < claimed.size(); ++i)
      if (claimed[i].number <= claimed[i - 1].number)
         throw S3Error(400, "InvalidPartOrder", "The list of parts was not in ascending order.");
   auto result = directory_.newFile();
   std::string tags;
   for (size_t i = 0; i < claimed.size(); ++i) {
      const std::string file = path + "/" + partName(claimed[i].number);
      ObjectMeta part;
      if (!readMeta(file, part) || part.etag != claimed[i].etag)
         throw S3Error(400, "InvalidPart", "One or more of the specified parts could not be found.");
      if (i + 1 < claimed.size() && part.size < partSizeMin)
         throw S3Error(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size.");
      const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
      result->appendFile(from.get(), part.size);
      tags += part.etag;
   }
   ObjectMeta stored;
   readMeta(path + description, stored);
   meta = {};
   for (auto& entry : stored.fields)
      if (entry.first != "key") meta.fields.push_back(std::move(entry));
   meta.size = result->size();
   meta.etag = toHex(Digest::of("md5", tags)) + "-" + std::to_string(claimed.size());
   return result;
}

void MultipartUploads::end(const std::string& bucket, const std::string& id) {
   std::error_code ignored;
   std::filesystem::remove_all(pathOf(bucket, id), ignored);
   std::filesystem::remove(directory_.privateRoot() + "/uploads/" + bucket, ignored);
}

std::vector<MultipartUploads::Upload> MultipartUploads::list(const std::string& bucket, std::string_view prefix) const {
   std::vector<Upload> result;
   std::error_code error;
   for (const auto& entry :
        std::filesystem::directory_iterator(directory_.privateRoot() + "/uploads/" + bucket, error)) {
      ObjectMeta meta;
      if (!readMeta(entry.path().string() + description, meta)) continue;
      std::string key = percentDecode(field(meta, "key"));
      if (key.starts_with(prefix)) result.push_back({entry.path().filename(), std::move(key), meta.modifiedSeconds});
   }
   std::sort(result.begin(), result.end(),
             [](const Upload& a, const Upload& b) { return std::tie(a.key, a.id) < std::tie(b.key, b.id); });
   return result;
}

} // namespace ouzel::object_server
