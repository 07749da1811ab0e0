#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Signatures as AWS's "Signature Version 4" describes them, in the Authorization header.

namespace ouzel::io {

struct Credentials {
   std::string accessKeyId;
   std::string secretAccessKey;
   std::string sessionToken; ///< empty for long-lived keys
   /// Seconds since 1970 after which they are refused; 0: never.
   int64_t expiresAt = 0;
   /// Both keys are there, and all of it can stand in a header: services hand out credentials, and may be hostile.
   bool isPlausible() const;
   bool operator==(const Credentials&) const = default;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// A request before it is signed.
struct SignableRequest {
   std::string_view method;
   std::string_view path;        ///< percent-encoded, beginning with '/'
   std::string_view query;       ///< canonical: percent-encoded pairs in order of their names, "=" always there
   const HttpHeaders* headers;   ///< all of them are signed; names in lower case, among them "host"
   std::string_view payloadHash; ///< hexadecimal SHA-256, or unsignedPayload
   std::string_view time;        ///< "20130524T000000Z"
   std::string_view region;
   std::string_view service = "s3";
};

inline constexpr std::string_view unsignedPayload = "UNSIGNED-PAYLOAD";

/// The value of the Authorization header.
std::string authorizationHeader(const SignableRequest& request, const Credentials& credentials);

/// "20130524T000000Z" of seconds since 1970.
std::string signingTime(int64_t unixSeconds);
/// Seconds since 1970 of a Date header ("Fri, 24 May 2013 00:00:00 GMT"); -1 when it is not one.
int64_t parseHttpDate(std::string_view text);
/// The same of "2013-05-24T00:00:00Z", with or without fractions of a second.
int64_t parseIsoTime(std::string_view text);

/// Hexadecimal SHA-256 of the concatenation.
std::string sha256Hex(const std::vector<std::string_view>& parts);
std::string base64(std::string_view bytes);

} // namespace ouzel::io
