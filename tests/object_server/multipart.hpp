#pragma once
// Multipart uploads. Parts are files until the upload is completed or aborted, and outlive the server.
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
   /// A part in a client's list that completes an upload.
   struct ClaimedPart {
      int number = 0;
      std::string etag;
   };

   explicit MultipartUploads(BucketDirectory& directory) : directory_(directory) {}
   /// Begins an upload and returns its id. `fields` become the object's.
   std::string begin(const std::string& bucket, const std::string& key,
                     const std::vector<std::pair<std::string, std::string>>& fields);
   /// Throws NoSuchUpload when there is no such upload.
   void require(const std::string& bucket, const std::string& key, const std::string& id) const;
   void putPart(const std::string& bucket, const std::string& id, int number, ObjectWriter& file,
                const ObjectMeta& meta);
   /// Builds the object's file and fields from the parts. The upload exists until end().
   std::unique_ptr<ObjectWriter> assemble(const std::string& bucket, const std::string& id,
                                          const std::vector<ClaimedPart>& parts, ObjectMeta& meta);
   void end(const std::string& bucket, const std::string& id);
   std::vector<Part> parts(const std::string& bucket, const std::string& id) const;
   /// Uploads in the order of their keys.
   std::vector<Upload> list(const std::string& bucket, std::string_view prefix) const;

private:
   std::string pathOf(const std::string& bucket, const std::string& id) const;

   BucketDirectory& directory_;
   uint64_t count_ = 0;
};

} // namespace ouzel::object_server
