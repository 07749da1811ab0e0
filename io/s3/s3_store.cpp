#include "io/s3/s3_store.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "io/s3/answers.hpp"
#include "io/s3/crc32c.hpp"
#include "io/s3/s3_reader.hpp"
#include "io/s3/s3_upload.hpp"

namespace ouzel::io {

namespace {

constexpr size_t firstReadSize = 8 << 20;
constexpr size_t batchSizeMax = 1000;       ///< S3's limit of names in one DeleteObjects request
constexpr size_t listBodySizeMax = 8 << 20; ///< a thousand names of a thousand bytes, percent-encoded

S3Request makeRequest(RequestKind kind, const char* method, std::string_view object, std::string query = {}) {
   S3Request request;
   request.kind = kind;
   request.method = method;
   request.object = object;
   request.query = std::move(query);
   return request;
}

S3Request lookUp(std::string_view name) {
   S3Request request = makeRequest(RequestKind::Head, "HEAD", name);
   request.mayHedge = true;
   return request;
}

[[noreturn]] void refuse(const S3Location& location, std::string_view name, const std::string& why) {
   throw SqlError(sqlstate::ioError, "unexpected answer about \"" + location.display(name) + "\" from " +
                                         location.displayEndpoint() + ": " + why)
       .hint("Perhaps the endpoint in the bucket's address is a server that does not speak S3.");
}

} // namespace

S3Store::S3Store(S3Location location, CredentialsSource source, RetrieverOptions options)
   : retriever_(std::make_shared<Retriever>(std::move(location), std::move(source), options)) {}

bool S3Store::put(std::string_view name, std::span<const std::string_view> parts, const PutCondition& condition) {
   CHECK(isValidObjectName(name));
   return uploadObject(*retriever_, name, parts, condition);
}

std::unique_ptr<ObjectReader> S3Store::open(std::string_view name) {
   CHECK(isValidObjectName(name));
   const S3Answer answer = retriever_->call(lookUp(name));
   if (answer.status == 404) return nullptr;
   if (answer.status != 200 || !answer.head.contentLength)
      refuse(location(), name, "status " + std::to_string(answer.status));
   return std::make_unique<S3Reader>(retriever_, std::string(name), *answer.head.contentLength,
                                     std::string(answer.head.header("etag")));
}

std::unique_ptr<ObjectReader> S3Store::open(std::string_view name, uint64_t knownSize) {
   CHECK(isValidObjectName(name));
   return std::make_unique<S3Reader>(retriever_, std::string(name), knownSize, "");
}

std::optional<std::string> S3Store::get(std::string_view name) {
   CHECK(isValidObjectName(name));
   S3Request request = makeRequest(RequestKind::Get, "GET", name);
   request.headers.emplace_back("range", "bytes=0-" + std::to_string(firstReadSize - 1));
   request.bodySizeMax = firstReadSize;
   request.mayHedge = true;
   S3Answer answer = retriever_->call(std::move(request));
   if (answer.status == 404) return std::nullopt;
   if (answer.status == 416) return ""; // an empty object has no range to read
   if (answer.status == 200) return std::move(answer.body);
   const auto range = parseContentRange(answer.head.header("content-range"));
   if (answer.status != 206 || !range || range->first != 0 || range->last + 1 != answer.body.size())
      refuse(location(), name, "status " + std::to_string(answer.status));
   const size_t received = answer.body.size();
   if (range->total > received) {
      answer.body.resize(range->total);
      const S3Reader rest(retriever_, std::string(name), range->total, std::string(answer.head.header("etag")));
      rest.read(received, range->total - received, answer.body.data() + received);
   }
   return std::move(answer.body);
}

std::optional<std::string> S3Store::tag(std::string_view name) {
   CHECK(isValidObjectName(name));
   const S3Answer answer = retriever_->call(lookUp(name));
   if (answer.status == 404) return std::nullopt;
   const std::string_view tag = answer.head.header("etag");
   if (answer.status != 200 || tag.empty()) refuse(location(), name, "status " + std::to_string(answer.status));
   return std::string(tag);
}

std::vector<ObjectInfo> S3Store::list(std::string_view prefix, size_t limit) {
   std::vector<ObjectInfo> result;
   const std::string& own = location().prefix;
   std::string continuation;
   do {
      std::string query = continuation.empty() ? "" : "continuation-token=" + percentEncode(continuation) + "&";
      query +=
          "encoding-type=url&list-type=2&max-keys=" + std::to_string(std::min<size_t>(limit - result.size(), 1000)) +
          "&prefix=" + percentEncode(own + std::string(prefix));
      S3Request request = makeRequest(RequestKind::List, "GET", "", std::move(query));
      request.bodySizeMax = listBodySizeMax;
      request.mayHedge = true;
      const S3Answer answer = retriever_->call(std::move(request));
      const auto page = answer.status == 200 ? parseListPage(answer.body) : std::nullopt;
      if (!page || (!page->continuation.empty() && page->objects.empty()))
         refuse(location(), prefix, "status " + std::to_string(answer.status) + " with no list of objects");
      for (const ListedObject& object : page->objects)
         // Skips objects with names that put() refuses, such as a console's "folders", which end in '/'.
         if (object.key.starts_with(own) && isValidObjectName(std::string_view(object.key).substr(own.size())))
            result.push_back({object.key.substr(own.size()), object.size});
      continuation = page->continuation;
   } while (!continuation.empty() && result.size() < limit);
   // S3 lists in this order; other servers may deviate.
   std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
   return result;
}

void S3Store::remove(std::string_view name) {
   CHECK(isValidObjectName(name));
   const S3Answer answer = retriever_->call(makeRequest(RequestKind::Delete, "DELETE", name));
   if (answer.status != 404 && answer.status >= 300)
      refuse(location(), name, "status " + std::to_string(answer.status));
}

void S3Store::remove(std::span<const std::string> names) {
   for (; names.size() > 1; names = names.subspan(std::min(names.size(), batchSizeMax)))
      removeBatch(names.subspan(0, std::min(names.size(), batchSizeMax)));
   if (!names.empty()) remove(std::string_view(names.front()));
}

void S3Store::removeBatch(std::span<const std::string> names) {
   std::string list = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
   for (const std::string& name : names) {
      CHECK(isValidObjectName(name));
      list += "<Object><Key>" + escapeXml(location().keyOf(name)) + "</Key></Object>";
   }
   list += "</Delete>";
   S3Request request = makeRequest(RequestKind::Delete, "POST", "", "delete=");
   request.body.assign(1, list);
   request.payloadHash = sha256Hex(request.body);
   request.headers.emplace_back("content-type", "application/xml");
   request.headers.emplace_back("x-amz-checksum-crc32c", crc32cHeader(crc32c(list)));
   const S3Answer answer = retriever_->call(std::move(request));
   const auto failures = answer.status == 200 ? parseDeleteResult(answer.body) : std::nullopt;
   if (!failures) refuse(location(), names.front(), "status " + std::to_string(answer.status));
   for (const DeleteFailure& failure : *failures)
      if (failure.code != "NoSuchKey")
         throw SqlError(failure.code == "AccessDenied" ? sqlstate::insufficientPrivilege : sqlstate::ioError,
                        "could not remove object \"s3://" + location().bucket + "/" + failure.key +
                            "\": " + failure.code + ": " + failure.message);
}

void S3Store::removeLeftovers() {
   const std::string& own = location().prefix;
   // Each round lists the first thousand uploads that remain.
   while (true) {
      S3Request request = makeRequest(RequestKind::List, "GET", "", "prefix=" + percentEncode(own) + "&uploads=");
      request.bodySizeMax = listBodySizeMax;
      const S3Answer answer = retriever_->call(std::move(request));
      const auto uploads = answer.status == 200 ? parseUploads(answer.body) : std::nullopt;
      if (!uploads) refuse(location(), "", "status " + std::to_string(answer.status) + " with no list of uploads");
      size_t found = 0;
      for (const PendingUpload& upload : *uploads) {
         if (!upload.key.starts_with(own)) continue;
         abortUpload(*retriever_, std::string_view(upload.key).substr(own.size()), upload.uploadId);
         ++found;
      }
      if (found < batchSizeMax) return;
   }
}

} // namespace ouzel::io
