// Objects: reading, writing, multipart uploads.
#include <algorithm>
#include <charconv>
#include <sys/mman.h>

#include "tests/object_server/s3_error.hpp"
#include "tests/object_server/s3_service.hpp"

namespace ouzel::object_server {

namespace {

constexpr const char* xmlHead = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
constexpr const char* xmlSpace = " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

std::string quoted(const std::string& tag) {
   return '"' + tag + '"';
}

/// The headers of a put that are returned with the object.
std::vector<std::pair<std::string, std::string>> storedHeaders(const HttpRequest& request) {
   std::vector<std::pair<std::string, std::string>> result;
   for (const auto& [name, value] : request.headers)
      if (name == "content-type" || name == "cache-control" || name.starts_with("x-amz-meta-"))
         result.emplace_back(name, value);
   return result;
}

/// Parses "bytes=a-b", "bytes=a-" or "bytes=-n" to [first, last). False: no range, or one that a server may ignore.
bool parseRange(const std::string& text, uint64_t size, uint64_t& first, uint64_t& last) {
   if (!text.starts_with("bytes=") || text.find(',') != std::string::npos) return false;
   const char *at = text.data() + 6, *end = text.data() + text.size();
   uint64_t a = 0, b = 0;
   if (at != end && *at == '-') {
      if (std::from_chars(at + 1, end, a).ptr != end || at + 1 == end) return false;
      first = size - std::min(a, size);
      last = size;
   } else {
      const auto [dash, error] = std::from_chars(at, end, a);
      if (error != std::errc() || dash == end || *dash != '-') return false;
      const bool isOpen = dash + 1 == end;
      if (!isOpen && (std::from_chars(dash + 1, end, b).ptr != end || b < a)) return false;
      first = a;
      last = isOpen ? size : std::min(b, size - 1) + 1;
   }
   if (first >= size) throw S3Error(416, "InvalidRange", "The requested range is not satisfiable");
   return true;
}

int partNumber(const HttpRequest& request) {
   const std::string text = request.parameterOr("partNumber");
   int number = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
   if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > 10'000)
      throw S3Error(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive");
   return number;
}

/// Checks the checksum of the whole object that a client sends when it completes an upload.
void verifyWhole(const HttpRequest& request, const ObjectWriter& file, ObjectMeta& meta) {
   for (std::string_view algorithm : checksumAlgorithms) {
      const std::string name = "x-amz-checksum-" + std::string(algorithm);
      const std::string* expected = request.header(name);
      if (!expected || expected->find('-') != std::string::npos || file.size() == 0) continue;
      void* bytes = ::mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.fd(), 0);
      if (bytes == MAP_FAILED) throw S3Error(500, "InternalError", "mmap failed");
      const std::string sum = toBase64(Digest::of(algorithm, {static_cast<const char*>(bytes), file.size()}));
      ::munmap(bytes, file.size());
      if (sum != *expected) throw S3Error(400, "BadDigest", "The " + name + " you specified did not match.");
      meta.fields.emplace_back(name, sum);
   }
}

void checkReadCondition(const HttpRequest& request, const ObjectMeta& meta) {
   const auto is = [&](const std::string& tag) { return tag == "*" || tag == meta.etag || tag == quoted(meta.etag); };
   if (const std::string* match = request.header("if-match"); match && !is(*match))
      throw S3Error(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
   if (const std::string* none = request.header("if-none-match"); none && is(*none))
      throw S3Error(304, "NotModified", "Not Modified");
}

} // namespace

HttpResponse S3Service::getObject(Call& call) {
   requireBucket(call);
   HttpResponse response;
   ObjectMeta meta;
   response.file = directory_.open(call.bucket, call.key, meta);
   if (!response.file) throw S3Error(404, "NoSuchKey", "The specified key does not exist.");
   checkReadCondition(call.request, meta);
   response.headers = {
       {"ETag", quoted(meta.etag)}, {"Last-Modified", httpDate(meta.modifiedSeconds)}, {"Accept-Ranges", "bytes"}};
   uint64_t first = 0, last = meta.size;
   const std::string* range = call.request.header("range");
   const bool isPartial = range && parseRange(*range, meta.size, first, last);
   if (isPartial) {
      response.status = 206;
      response.headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last - 1) +
                                                         "/" + std::to_string(meta.size));
   }
   const bool wantsChecksum = !isPartial && toLower(call.request.headerOr("x-amz-checksum-mode")) == "enabled";
   bool hasType = false;
   for (const auto& [name, value] : meta.fields) {
      hasType |= name == "content-type";
      if (!name.starts_with("x-amz-checksum-") || wantsChecksum) response.headers.emplace_back(name, value);
   }
   if (!hasType) response.headers.emplace_back("Content-Type", "binary/octet-stream");
   response.fileOffset = first;
   response.fileSize = last - first;
   return response;
}

HttpResponse S3Service::putObject(Call& call) {
   requireBucket(call);
   requireCondition(call);
   ObjectMeta meta;
   meta.etag = call.body->tag();
   meta.fields = storedHeaders(call.request);
   const auto& checksums = call.body->checksums();
   meta.fields.insert(meta.fields.end(), checksums.begin(), checksums.end());
   directory_.commit(call.body->file(), call.bucket, call.key, meta);
   HttpResponse response;
   response.headers = checksums;
   response.headers.emplace_back("ETag", quoted(meta.etag));
   return response;
}

HttpResponse S3Service::deleteObject(Call& call) {
   requireBucket(call);
   requireCondition(call);
   directory_.remove(call.bucket, call.key);
   HttpResponse response;
   response.status = 204;
   return response;
}

HttpResponse S3Service::createUpload(Call& call) {
   requireBucket(call);
   const std::string id = uploads_.begin(call.bucket, call.key, storedHeaders(call.request));
   HttpResponse response;
   response.body = std::string(xmlHead) + "<InitiateMultipartUploadResult" + xmlSpace + ">" +
                   xmlElement("Bucket", call.bucket) + xmlElement("Key", call.key) + xmlElement("UploadId", id) +
                   "</InitiateMultipartUploadResult>";
   return response;
}

HttpResponse S3Service::uploadPart(Call& call) {
   requireBucket(call);
   const std::string id = call.request.parameterOr("uploadId");
   uploads_.require(call.bucket, call.key, id);
   ObjectMeta meta;
   meta.etag = call.body->tag();
   meta.fields = call.body->checksums();
   uploads_.putPart(call.bucket, id, partNumber(call.request), call.body->file(), meta);
   HttpResponse response;
   response.headers = call.body->checksums();
   response.headers.emplace_back("ETag", quoted(meta.etag));
   return response;
}

HttpResponse S3Service::completeUpload(Call& call) {
   requireBucket(call);
   const std::string id = call.request.parameterOr("uploadId");
   uploads_.require(call.bucket, call.key, id);
   std::vector<MultipartUploads::ClaimedPart> parts;
   for (const std::string& xml : xmlContents(call.body->text(), "Part")) {
      const std::string number = xmlText(xml, "PartNumber").value_or("0");
      std::string tag = xmlText(xml, "ETag").value_or("");
      tag.erase(std::remove(tag.begin(), tag.end(), '"'), tag.end());
      parts.push_back({std::atoi(number.c_str()), tag});
   }
   if (parts.empty()) throw S3Error(400, "MalformedXML", "You must specify at least one part");
   requireCondition(call);
   ObjectMeta meta;
   const auto file = uploads_.assemble(call.bucket, id, parts, meta);
   verifyWhole(call.request, *file, meta);
   directory_.commit(*file, call.bucket, call.key, meta);
   uploads_.end(call.bucket, id);
   HttpResponse response;
   response.body = std::string(xmlHead) + "<CompleteMultipartUploadResult" + xmlSpace + ">" +
                   xmlElement("Location", call.request.path) + xmlElement("Bucket", call.bucket) +
                   xmlElement("Key", call.key) + xmlElement("ETag", quoted(meta.etag)) +
                   "</CompleteMultipartUploadResult>";
   return response;
}

HttpResponse S3Service::abortUpload(Call& call) {
   requireBucket(call);
   const std::string id = call.request.parameterOr("uploadId");
   uploads_.require(call.bucket, call.key, id);
   uploads_.end(call.bucket, id);
   HttpResponse response;
   response.status = 204;
   return response;
}

HttpResponse S3Service::listParts(Call& call) {
   requireBucket(call);
   const std::string id = call.request.parameterOr("uploadId");
   uploads_.require(call.bucket, call.key, id);
   HttpResponse response;
   response.body = std::string(xmlHead) + "<ListPartsResult" + xmlSpace + ">" + xmlElement("Bucket", call.bucket) +
                   xmlElement("Key", call.key) + xmlElement("UploadId", id) + "<IsTruncated>false</IsTruncated>";
   for (const auto& part : uploads_.parts(call.bucket, id))
      response.body += "<Part>" + xmlElement("PartNumber", std::to_string(part.number)) +
                       xmlElement("LastModified", isoDate(part.meta.modifiedSeconds)) +
                       xmlElement("ETag", quoted(part.meta.etag)) + xmlElement("Size", std::to_string(part.meta.size)) +
                       "</Part>";
   response.body += "</ListPartsResult>";
   return response;
}

} // namespace ouzel::object_server
