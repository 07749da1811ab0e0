#pragma once
// The service that answers S3's requests over a directory of buckets.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/object_server/bucket_directory.hpp"
#include "tests/object_server/credentials.hpp"
#include "tests/object_server/multipart.hpp"
#include "tests/object_server/s3_body.hpp"
#include "tests/object_server/service.hpp"

namespace ouzel::object_server {

struct S3Options {
   std::string domain = "localhost";    ///< BUCKET.domain in Host is the virtual-host style
   std::string tagAlgorithm = "xxh128"; ///< for objects put in one request; S3's md5 costs more than all other work
};

/// Used by one thread, so that checking a condition and the write behind it are atomic.
class S3Service final : public Service {
public:
   S3Service(BucketDirectory& directory, Credentials& credentials, S3Options options)
      : directory_(directory), uploads_(directory), credentials_(credentials), options_(std::move(options)) {}
   std::unique_ptr<Exchange> begin(const HttpRequest& request) override;

   /// A request with its parsed head.
   struct Call {
      HttpRequest request;
      std::string bucket, key;
      std::optional<S3Body> body;
   };
   using Operation = HttpResponse (S3Service::*)(Call&);
   struct Route {
      const char* name;
      Operation run;
      bool hasFile = false; ///< the body becomes a file
   };

private:
   friend class S3Exchange;
   void locate(Call& call) const;
   static Route route(const Call& call);
   /// Throws NoSuchBucket when the bucket does not exist.
   void requireBucket(const Call& call) const;
   /// Checks If-Match and If-None-Match of a request that writes. Throws PreconditionFailed or NoSuchKey.
   void requireCondition(const Call& call) const;

   // s3_buckets.cpp
   HttpResponse listBuckets(Call& call);
   HttpResponse createBucket(Call& call);
   HttpResponse headBucket(Call& call);
   HttpResponse deleteBucket(Call& call);
   HttpResponse bucketLocation(Call& call);
   HttpResponse listObjects(Call& call);
   HttpResponse listUploads(Call& call);
   HttpResponse deleteObjects(Call& call);
   // s3_objects.cpp
   HttpResponse getObject(Call& call);
   HttpResponse putObject(Call& call);
   HttpResponse deleteObject(Call& call);
   HttpResponse createUpload(Call& call);
   HttpResponse uploadPart(Call& call);
   HttpResponse completeUpload(Call& call);
   HttpResponse abortUpload(Call& call);
   HttpResponse listParts(Call& call);
   HttpResponse unknown(Call& call);

   BucketDirectory& directory_;
   MultipartUploads uploads_;
   Credentials& credentials_;
   const S3Options options_;
};

} // namespace ouzel::object_server
