#pragma once
// HTTP/1.1 messages: parses heads of requests and builds heads of answers.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/object_server/descriptor.hpp"

namespace ouzel::object_server {

struct HttpRequest {
   std::string method;
   std::string target;                                       ///< as received
   std::string rawPath;                                      ///< path of the target, still encoded
   std::string path;                                         ///< decoded
   std::vector<std::pair<std::string, std::string>> query;   ///< decoded, in the order given
   std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case, values without blanks around
   uint64_t contentLength = 0;
   bool isChunked = false;
   bool keepsAlive = true;
   bool expectsContinue = false;

   /// Null when it is absent.
   const std::string* header(std::string_view name) const;
   const std::string* parameter(std::string_view name) const;
   /// Empty when it is absent.
   std::string headerOr(std::string_view name) const;
   std::string parameterOr(std::string_view name) const;
};

/// An answer. Its body is either `body` or a range of `file`.
struct HttpResponse {
   int status = 200;
   std::vector<std::pair<std::string, std::string>> headers; ///< without Content-Length and Connection
   std::string body;
   Descriptor file;
   uint64_t fileOffset = 0;
   uint64_t fileSize = 0;
   bool isHeadOnly = false;            ///< an answer to HEAD: has the length, but no body
   std::optional<uint64_t> statedSize; ///< overrides the body's size, when a proxy passes on an answer to HEAD
   std::string code;                   ///< S3's error code, for the log

   uint64_t bodySize() const { return file ? fileSize : body.size(); }
   /// Number of bytes behind the head.
   uint64_t sentSize() const { return isHeadOnly ? 0 : bodySize(); }
   /// Status line and headers, with the empty line.
   std::string head(bool keepsAlive) const;
};

constexpr size_t headIncomplete = 0, headMalformed = SIZE_MAX, headSizeMax = 64 << 10;
/// Parses the head at the beginning of `bytes`. Returns its size, or one of the two values above.
size_t parseHead(std::string_view bytes, HttpRequest& request);

/// The pairs of "name=value&...", decoded, in the order given.
std::vector<std::pair<std::string, std::string>> parseQuery(std::string_view text);
std::string percentDecode(std::string_view text, bool plusIsBlank = false);
/// Percent-encodes as SigV4 requires: all bytes but letters, digits and -._~ (and '/' when `keepSlash`) become %XX.
std::string percentEncode(std::string_view text, bool keepSlash = false);
std::string toLower(std::string_view text);
std::string toHex(std::string_view bytes);
/// Empty when `text` is not base64.
std::string fromBase64(std::string_view text);
std::string toBase64(std::string_view bytes);
/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string httpDate(int64_t secondsSinceEpoch);
/// "2009-10-12T17:50:30.000Z"
std::string isoDate(int64_t secondsSinceEpoch);
/// Parses "20130524T000000Z"; -1 when malformed.
int64_t parseAmzDate(std::string_view text);

} // namespace ouzel::object_server
