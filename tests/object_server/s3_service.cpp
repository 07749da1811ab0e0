#include "tests/object_server/s3_service.hpp"

#include <functional>
#include <stdexcept>

#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

/// Runs one call. An error becomes the answer when the body has been received.
class S3Exchange final : public Exchange {
public:
   S3Exchange(S3Service& service, const HttpRequest& request) : service_(service) {
      call_.request = request;
      attempt([&] {
         service_.locate(call_);
         route_ = S3Service::route(call_);
         const bool isPayloadSigned = service_.credentials_.check(request);
         auto file = route_.hasFile ? service_.directory_.newFile() : nullptr;
         call_.body.emplace(request, std::move(file), isPayloadSigned,
                            route_.hasFile ? service_.options_.tagAlgorithm : std::string());
      });
   }
   void consume(std::string_view bytes) override {
      if (!refusal_) attempt([&] { call_.body->consume(bytes); });
   }
   void finish(Responder respond) override {
      HttpResponse response;
      if (!refusal_)
         attempt([&] {
            call_.body->verify();
            response = std::invoke(route_.run, service_, call_); // gcc 12 warns of a null access for .* in a lambda
         });
      if (refusal_) response = std::move(*refusal_);
      response.isHeadOnly = call_.request.method == "HEAD";
      respond(std::move(response));
   }
   const char* kind() const override { return route_.name; }

private:
   template <class Function>
   void attempt(Function&& function) {
      try {
         function();
      } catch (const S3Error& error) {
         refusal_ = errorResponse(error, call_.request.path);
      } catch (const std::exception& error) {
         refusal_ = errorResponse(S3Error(500, "InternalError", error.what()), call_.request.path);
      }
   }

   S3Service& service_;
   S3Service::Call call_;
   S3Service::Route route_{"Unknown", nullptr};
   std::optional<HttpResponse> refusal_;
};

std::unique_ptr<Exchange> S3Service::begin(const HttpRequest& request) {
   return std::make_unique<S3Exchange>(*this, request);
}

void S3Service::locate(Call& call) const {
   std::string host = call.request.headerOr("host");
   host.resize(std::min(host.find(':'), host.size()));
   std::string path = call.request.path;
   if (path.empty() || path[0] != '/') throw S3Error(400, "InvalidURI", "Couldn't parse the specified URI.");
   path.erase(0, 1);
   const std::string suffix = "." + options_.domain;
   if (host.size() > suffix.size() && host.ends_with(suffix)) {
      call.bucket = host.substr(0, host.size() - suffix.size());
      call.key = path;
      return;
   }
   const size_t slash = path.find('/');
   call.bucket = path.substr(0, slash);
   if (slash != std::string::npos) call.key = path.substr(slash + 1);
}

S3Service::Route S3Service::route(const Call& call) {
   const HttpRequest& request = call.request;
   const std::string& method = request.method;
   const auto has = [&](std::string_view name) { return request.parameter(name) != nullptr; };
   if (call.bucket.empty() && method == "GET") return {"ListBuckets", &S3Service::listBuckets};
   if (call.key.empty()) {
      if (method == "GET" && has("location")) return {"GetBucketLocation", &S3Service::bucketLocation};
      if (method == "GET" && has("uploads")) return {"ListMultipartUploads", &S3Service::listUploads};
      if (method == "GET") return {"ListObjectsV2", &S3Service::listObjects};
      if (method == "HEAD") return {"HeadBucket", &S3Service::headBucket};
      if (method == "PUT") return {"CreateBucket", &S3Service::createBucket};
      if (method == "DELETE") return {"DeleteBucket", &S3Service::deleteBucket};
      if (method == "POST" && has("delete")) return {"DeleteObjects", &S3Service::deleteObjects};
      return {"Unknown", &S3Service::unknown};
   }
   if (method == "GET" && has("uploadId")) return {"ListParts", &S3Service::listParts};
   if (method == "GET") return {"GetObject", &S3Service::getObject};
   if (method == "HEAD") return {"HeadObject", &S3Service::getObject};
   if (method == "PUT" && request.header("x-amz-copy-source")) return {"CopyObject", &S3Service::unknown};
   if (method == "PUT" && has("uploadId")) return {"UploadPart", &S3Service::uploadPart, true};
   if (method == "PUT") return {"PutObject", &S3Service::putObject, true};
   if (method == "DELETE" && has("uploadId")) return {"AbortMultipartUpload", &S3Service::abortUpload};
   if (method == "DELETE") return {"DeleteObject", &S3Service::deleteObject};
   if (method == "POST" && has("uploads")) return {"CreateMultipartUpload", &S3Service::createUpload};
   if (method == "POST" && has("uploadId")) return {"CompleteMultipartUpload", &S3Service::completeUpload};
   return {"Unknown", &S3Service::unknown};
}

void S3Service::requireBucket(const Call& call) const {
   if (!directory_.hasBucket(call.bucket)) throw S3Error(404, "NoSuchBucket", "The specified bucket does not exist");
}

void S3Service::requireCondition(const Call& call) const {
   const std::string* match = call.request.header("if-match");
   const std::string* noneMatch = call.request.header("if-none-match");
   if (!match && !noneMatch) return;
   const auto found = directory_.find(call.bucket, call.key);
   const auto is = [&](const std::string& tag) {
      return tag == "*" || tag == found->etag || tag == '"' + found->etag + '"';
   };
   if (match && !found) throw S3Error(404, "NoSuchKey", "The specified key does not exist.");
   if ((match && !is(*match)) || (noneMatch && found && is(*noneMatch))) {
      S3Error error(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
      error.elements = {{"Condition", match ? "If-Match" : "If-None-Match"}};
      throw error;
   }
}

HttpResponse S3Service::unknown(Call&) {
   throw S3Error(501, "NotImplemented",
                 "A header or parameter you provided implies functionality that is not implemented");
}

} // namespace ouzel::object_server
