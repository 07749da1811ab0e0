#include "io/s3/request_text.hpp"

#include <algorithm>

#include "io/s3/answers.hpp"

namespace ouzel::io {

std::string requestText(const S3Request& request, const S3Location& location, const Credentials& credentials,
                        int64_t unixSeconds) {
   const std::string path = location.pathOf(request.object), time = signingTime(unixSeconds);
   const std::string hash(request.payloadHash.empty() ? unsignedPayload : request.payloadHash);
   HttpHeaders headers = request.headers;
   headers.emplace_back("host", location.hostHeader());
   headers.emplace_back("x-amz-content-sha256", hash);
   headers.emplace_back("x-amz-date", time);
   if (!credentials.sessionToken.empty()) headers.emplace_back("x-amz-security-token", credentials.sessionToken);
   if (request.target != nullptr)
      headers.emplace_back("range", "bytes=" + std::to_string(request.offset) + "-" +
                                        std::to_string(request.offset + request.targetSize - 1));
   const SignableRequest signable{request.method, path, request.query, &headers, hash, time, location.region, "s3"};
   const std::string authorization = authorizationHeader(signable, credentials);

   std::string text =
       request.method + " " + path + (request.query.empty() ? "" : "?" + request.query) + " HTTP/1.1\r\n";
   for (const auto& [name, value] : headers)
      text.append(name).append(": ").append(value).append("\r\n");
   text.append("authorization: ").append(authorization).append("\r\n");
   if (request.method == "PUT" || request.method == "POST") {
      size_t size = 0;
      for (const std::string_view part : request.body)
         size += part.size();
      text.append("content-length: ").append(std::to_string(size)).append("\r\n");
   }
   return text.append("user-agent: ouzel\r\n\r\n");
}

namespace {

bool isOneOf(std::string_view code, std::initializer_list<std::string_view> codes) {
   return std::find(codes.begin(), codes.end(), code) != codes.end();
}

Judgement relocation(const std::string& text, const std::string& region) {
   Judgement result(Verdict::Relocate, text);
   result.region = region;
   return result;
}

/// Checks that a ranged GET brought exactly the requested range.
Judgement judgeRange(const S3Request& request, const HttpHead& head, bool isComplete) {
   if (head.status == 200 && request.offset > 0) return {Verdict::Refused, "the server does not answer ranges"};
   if (head.status == 206) {
      const auto range = parseContentRange(head.header("content-range"));
      if (!range || range->first != request.offset) return {Verdict::Refused, "the server sent another range"};
      if (range->last != request.offset + request.targetSize - 1)
         return {Verdict::Refused, "the object ends at byte " + std::to_string(range->total) + ", before byte " +
                                       std::to_string(request.offset + request.targetSize)};
   }
   if (!isComplete)
      return {Verdict::Refused, "the object does not have " + std::to_string(request.targetSize) + " bytes"};
   return {};
}

} // namespace

Judgement judge(const S3Request& request, const HttpHead& head, std::string_view body, bool wentToTarget,
                std::string_view region) {
   const int status = head.status;
   if (status >= 200 && status < 300) {
      const bool isComplete = wentToTarget || body.size() == request.targetSize;
      return request.target == nullptr ? Judgement() : judgeRange(request, head, isComplete);
   }
   const S3Error error = parseS3Error(body).value_or(S3Error());
   std::string text = std::to_string(status);
   if (!error.code.empty()) text += " " + error.code;
   if (!error.message.empty()) text += ": " + error.message.substr(0, 300);

   std::string found(head.header("x-amz-bucket-region"));
   if (found.empty()) found = error.region;
   const bool saysRegion = isOneOf(error.code, {"AuthorizationHeaderMalformed", "PermanentRedirect",
                                                "TemporaryRedirect", "IllegalLocationConstraintException"}) ||
                           status == 301 || status == 307 || (request.method == "HEAD" && status == 400);
   if (saysRegion && !found.empty() && found != region && found.size() < 64 &&
       std::all_of(found.begin(), found.end(),
                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }))
      return relocation(text, found);
   if (error.code == "RequestTimeTooSkewed") {
      Judgement result(Verdict::WrongTime, text);
      result.theirs = parseHttpDate(head.header("date"));
      if (result.theirs < 0) result.theirs = parseIsoTime(error.serverTime);
      return result;
   }
   if (isOneOf(error.code,
               {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId"}))
      return {Verdict::Renew, text};
   // The answer to HEAD has only a status, no reason.
   if (request.method == "HEAD" && (status == 301 || status == 307 || status == 400 || status == 403))
      return {Verdict::AskWhy, text};
   if (status == 501) return {Verdict::Refused, text};
   if (status == 429 || status == 503 || error.code == "SlowDown") return {Verdict::Throttled, text};
   if (status >= 500 || status == 408 || isOneOf(error.code, {"RequestTimeout", "BadDigest", "IncompleteBody"}))
      return {Verdict::Retry, text};
   if (status == 401 || status == 403) return {Verdict::Denied, text};
   if (error.code == "NoSuchBucket") return {Verdict::Refused, text};
   if (status == 304 || status == 404 || status == 409 || status == 412 || status == 416) return {};
   return {Verdict::Refused, text};
}

S3Request requestForReason(const S3Request& refused) {
   S3Request request;
   request.kind = refused.kind;
   request.object = refused.object;
   request.headers = {{"range", "bytes=0-0"}};
   return request;
}

std::string describeFailure(const S3Request& request, const S3Location& location) {
   static constexpr std::string_view what[] = {"could not read object", "could not write object",
                                               "could not list objects", "could not remove object",
                                               "could not look up object"};
   std::string text(what[static_cast<size_t>(request.kind)]);
   return text + " \"" + location.display(request.object) + "\" at " + location.displayEndpoint();
}

} // namespace ouzel::io
