#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Signatures of AWS's "Signature Version 4", sent in the Authorization header.

namespace ouzel::io {

struct Credentials {
   std::string accessKeyId;
   std::string secretAccessKey;
   std::string sessionToken; ///< empty for long-lived keys
   /// Seconds since 1970 at which the credentials expire; 0: never.
   int64_t expiresAt = 0;
   /// Whether both keys are set and all three texts are valid in a header. The services that issue credentials may be
   /// hostile.
   bool isPlausible() const;
   bool operator==(const Credentials&) const = default;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// A request before it is signed.
struct SignableRequest {
   std::string_view method;
   std::string_view path;        ///< percent-encoded, beginning with '/'
   std::string_view query;       ///< canonical: percent-encoded pairs, each with "=", sorted by name
   const HttpHeaders* headers;   ///< all are signed; names in lower case; includes "host"
   std::string_view payloadHash; ///< hexadecimal SHA-256, or unsignedPayload
   std::string_view time;        ///< "20130524T000000Z"
   std::string_view region;
   std::string_view service = "s3";
};

inline constexpr std::string_view unsignedPayload = "UNSIGNED-PAYLOAD";

/// Signs the request and returns the value of its Authorization header.
std::string authorizationHeader(const SignableRequest& request, const Credentials& credentials);

/// Formats seconds since 1970 as "20130524T000000Z".
std::string signingTime(int64_t unixSeconds);
/// Parses a Date header ("Fri, 24 May 2013 00:00:00 GMT") to seconds since 1970; -1 when the text is not one.
int64_t parseHttpDate(std::string_view text);
/// Parses "2013-05-24T00:00:00Z", with or without fractions of a second, in the same way.
int64_t parseIsoTime(std::string_view text);

/// Hexadecimal SHA-256 of the concatenation.
std::string sha256Hex(const std::vector<std::string_view>& parts);
std::string base64(std::string_view bytes);

} // namespace ouzel::io
