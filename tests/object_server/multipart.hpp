#pragma once
// Multipart uploads: parts are files until the upload is completed or aborted. They outlive the server.
#include <memory>
#include <string>
#include <vector>

#include "tests/object_server/bucket_directory.hpp"

namespace ouzel::object_server {

class MultipartUploads {
public:
   struct Upload {
      std::string id, key;
      int64_t startedSeconds = 0;
   };
   struct Part {
      int number = 0;
      ObjectMeta meta;
   };
   /// What a client says an upload consists of.
   struct ClaimedPart {
      int number = 0;
      std::string etag;
   };

   explicit MultipartUploads(BucketDirectory& directory) : directory_(directory) {}
   /// `fields` become the object's. Returns the upload's id.
   std::string begin(const std::string& bucket, const std::string& key,
                     const std::vector<std::pair<std::string, std::string>>& fields);
   /// Throws NoSuchUpload.
   void require(const std::string& bucket, const std::string& key, const std::string& id) const;
   void putPart(const std::string& bucket, const std::string& id, int number, ObjectWriter& file,
                const ObjectMeta& meta);
   /// The object's file, its bytes and fields; the upload stays until end().
   std::unique_ptr<ObjectWriter> assemble(const std::string& bucket, const std::string& id,
                                          const std::vector<ClaimedPart>& parts, ObjectMeta& meta);
   void end(const std::string& bucket, const std::string& id);
   std::vector<Part> parts(const std::string& bucket, const std::string& id) const;
   /// By key.
   std::vector<Upload> list(const std::string& bucket, std::string_view prefix) const;

private:
   std::string pathOf(const std::string& bucket, const std::string& id) const;

   BucketDirectory& directory_;
   uint64_t count_ = 0;
};

} // namespace ouzel::object_server
