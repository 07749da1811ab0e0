// Requests on buckets: listing, creating, removing, and listing their objects.
#include <algorithm>
#include <charconv>

#include "tests/object_server/s3_error.hpp"
#include "tests/object_server/s3_service.hpp"

namespace ouzel::object_server {

namespace {

constexpr const char* xmlHead = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
constexpr const char* xmlSpace = " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

size_t countOf(const HttpRequest& request, std::string_view name) {
   const std::string* text = request.parameter(name);
   if (!text || text->empty()) return 1000;
   size_t count = 0;
   const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
   if (error != std::errc() || end != text->data() + text->size())
      throw S3Error(400, "InvalidArgument", "Provided " + std::string(name) + " not an integer");
   return std::min<size_t>(count, 1000);
}

HttpResponse xmlResponse(const std::string& name, const std::string& content) {
   HttpResponse response;
   response.headers = {{"Content-Type", "application/xml"}};
   response.body = std::string(xmlHead) + "<" + name + xmlSpace + ">" + content + "</" + name + ">";
   return response;
}

/// One page of a listing. Keys with a common part up to the delimiter form one prefix.
struct Page {
   std::string prefix, delimiter;
   size_t countMax = 0;
   size_t count = 0;
   std::string contents, commonPrefixes, last, lastCommon;
   bool isTruncated = false;
   bool encodesUrl = false;

   std::string name(const std::string& key) const { return encodesUrl ? percentEncode(key, true) : key; }

   bool add(const std::string& key, const ObjectMeta& meta) {
      std::string common;
      if (!delimiter.empty())
         if (const size_t at = key.find(delimiter, prefix.size()); at != std::string::npos)
            common = key.substr(0, at + delimiter.size());
      if (!common.empty() && common == lastCommon) {
         last = key;
         return true;
      }
      if (count == countMax) {
         isTruncated = countMax > 0;
         return false;
      }
      ++count;
      last = key;
      lastCommon = common;
      if (!common.empty())
         commonPrefixes += "<CommonPrefixes>" + xmlElement("Prefix", name(common)) + "</CommonPrefixes>";
      else
         contents += "<Contents>" + xmlElement("Key", name(key)) +
                     xmlElement("LastModified", isoDate(meta.modifiedSeconds)) +
                     xmlElement("ETag", '"' + meta.etag + '"') + xmlElement("Size", std::to_string(meta.size)) +
                     "<StorageClass>STANDARD</StorageClass></Contents>";
      return true;
   }
};

} // namespace

HttpResponse S3Service::listBuckets(Call&) {
   std::string content = "<Owner><ID>object_server</ID></Owner><Buckets>";
   for (const std::string& bucket : directory_.buckets())
      content += "<Bucket>" + xmlElement("Name", bucket) + xmlElement("CreationDate", isoDate(0)) + "</Bucket>";
   return xmlResponse("ListAllMyBucketsResult", content + "</Buckets>");
}

HttpResponse S3Service::createBucket(Call& call) {
   if (!directory_.createBucket(call.bucket))
      throw S3Error(409, "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded");
   HttpResponse response;
   response.headers = {{"Location", "/" + call.bucket}};
   return response;
}

HttpResponse S3Service::headBucket(Call& call) {
   requireBucket(call);
   HttpResponse response;
   if (!credentials_.region().empty()) response.headers = {{"x-amz-bucket-region", credentials_.region()}};
   return response;
}

HttpResponse S3Service::deleteBucket(Call& call) {
   requireBucket(call);
   if (!directory_.removeBucket(call.bucket))
      throw S3Error(409, "BucketNotEmpty", "The bucket you tried to delete is not empty");
   HttpResponse response;
   response.status = 204;
   return response;
}

HttpResponse S3Service::bucketLocation(Call& call) {
   requireBucket(call);
   const std::string& region = credentials_.region();
   return xmlResponse("LocationConstraint", region == "us-east-1" ? "" : xmlEscape(region));
}

HttpResponse S3Service::listObjects(Call& call) {
   requireBucket(call);
   const HttpRequest& request = call.request;
   const bool isVersion2 = request.parameterOr("list-type") == "2";
   Page page;
   page.prefix = request.parameterOr("prefix");
   page.delimiter = request.parameterOr("delimiter");
   page.countMax = countOf(request, "max-keys");
   page.encodesUrl = request.parameterOr("encoding-type") == "url";
   // A continuation token is the previous page's last key, so it survives a restart of the server.
   std::string after = request.parameterOr(isVersion2 ? "start-after" : "marker");
   if (const std::string* token = request.parameter("continuation-token")) after = percentDecode(*token);
   directory_.list(call.bucket, page.prefix, after,
                   [&](const std::string& key, const ObjectMeta& meta) { return page.add(key, meta); });

   std::string content = xmlElement("Name", call.bucket) + xmlElement("Prefix", page.name(page.prefix)) +
                         xmlElement("MaxKeys", std::to_string(page.countMax)) +
                         xmlElement("IsTruncated", page.isTruncated ? "true" : "false");
   if (!page.delimiter.empty()) content += xmlElement("Delimiter", page.name(page.delimiter));
   if (page.encodesUrl) content += "<EncodingType>url</EncodingType>";
   if (isVersion2) content += xmlElement("KeyCount", std::to_string(page.count));
   if (page.isTruncated)
      content += isVersion2 ? xmlElement("NextContinuationToken", percentEncode(page.last))
                            : xmlElement("NextMarker", page.name(page.last));
   return xmlResponse("ListBucketResult", content + page.contents + page.commonPrefixes);
}

HttpResponse S3Service::listUploads(Call& call) {
   requireBucket(call);
   const size_t countMax = countOf(call.request, "max-uploads");
   const std::string keyMarker = call.request.parameterOr("key-marker"),
                     idMarker = call.request.parameterOr("upload-id-marker");
   std::string content, lastKey, lastId;
   size_t count = 0;
   bool isTruncated = false;
   for (const auto& upload : uploads_.list(call.bucket, call.request.parameterOr("prefix"))) {
      if (upload.key < keyMarker ||
          (upload.key == keyMarker && !keyMarker.empty() && (idMarker.empty() || upload.id <= idMarker)))
         continue;
      if (count == countMax) {
         isTruncated = true;
         break;
      }
      ++count;
      lastKey = upload.key;
      lastId = upload.id;
      content += "<Upload>" + xmlElement("Key", upload.key) + xmlElement("UploadId", upload.id) +
                 xmlElement("Initiated", isoDate(upload.startedSeconds)) + "</Upload>";
   }
   std::string head = xmlElement("Bucket", call.bucket) + xmlElement("IsTruncated", isTruncated ? "true" : "false");
   if (isTruncated) head += xmlElement("NextKeyMarker", lastKey) + xmlElement("NextUploadIdMarker", lastId);
   return xmlResponse("ListMultipartUploadsResult", head + content);
}

HttpResponse S3Service::deleteObjects(Call& call) {
   requireBucket(call);
   const std::string& xml = call.body->text();
   const bool isQuiet = xmlText(xml, "Quiet").value_or("false") == "true";
   const auto objects = xmlContents(xml, "Object");
   if (objects.empty() || objects.size() > 1000)
      throw S3Error(400, "MalformedXML", "The XML you provided was not well-formed or has no or too many keys");
   std::string content;
   for (const std::string& object : objects) {
      const std::string key = xmlText(object, "Key").value_or("");
      try {
         directory_.remove(call.bucket, key);
         if (!isQuiet) content += "<Deleted>" + xmlElement("Key", key) + "</Deleted>";
      } catch (const S3Error& error) {
         content += "<Error>" + xmlElement("Key", key) + xmlElement("Code", error.code) +
                    xmlElement("Message", error.what()) + "</Error>";
      }
   }
   return xmlResponse("DeleteResult", content);
}

} // namespace ouzel::object_server
