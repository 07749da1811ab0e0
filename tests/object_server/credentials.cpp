#include "tests/object_server/credentials.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "tests/object_server/digest.hpp"
#include "tests/object_server/s3_error.hpp"

namespace ouzel::object_server {

namespace {

constexpr int64_t skewSecondsMax = 15 * 60;

std::vector<std::string> split(std::string_view text, char separator) {
   std::vector<std::string> result;
   for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(separator, at), text.size());
      result.emplace_back(text.substr(at, end - at));
      at = end + 1;
   }
   return result;
}

/// Turns runs of blanks into one.
std::string squeeze(std::string_view text) {
   std::string result;
   for (char c : text)
      if (c != ' ' || result.empty() || result.back() != ' ') result += c;
   return result;
}

std::string canonicalQuery(const HttpRequest& request) {
   std::vector<std::string> items;
   for (const auto& [name, value] : request.query)
      if (name != "X-Amz-Signature") items.push_back(percentEncode(name) + "=" + percentEncode(value));
   std::sort(items.begin(), items.end());
   std::string result;
   for (const std::string& item : items)
      result += (result.empty() ? "" : "&") + item;
   return result;
}

std::string canonicalRequest(const HttpRequest& request, const std::string& signedHeaders, bool isPresigned) {
   std::string headers;
   for (const std::string& name : split(signedHeaders, ';')) {
      std::string values;
      for (const auto& [key, value] : request.headers)
         if (key == name) values += (values.empty() ? "" : ",") + squeeze(value);
      headers += name + ":" + values + "\n";
   }
   std::string payload = request.headerOr("x-amz-content-sha256");
   if (payload.empty()) payload = isPresigned ? "UNSIGNED-PAYLOAD" : toHex(Digest::of("sha256", ""));
   return request.method + "\n" + percentEncode(request.path, true) + "\n" + canonicalQuery(request) + "\n" + headers +
          "\n" + signedHeaders + "\n" + payload;
}

} // namespace

void Credentials::add(const std::string& accessKey, const std::string& secret, const std::string& token,
                      int64_t expiresAt) {
   keys_[accessKey] = {secret, token, expiresAt};
}

void Credentials::resetCounts() {
   uses_.clear();
   expired_ = 0;
}

/// False when the request is not signed.
bool Credentials::readClaim(const HttpRequest& request, Claim& claim) {
   std::string scope;
   if (const std::string* header = request.header("authorization")) {
      if (!header->starts_with("AWS4-HMAC-SHA256"))
         throw S3Error(400, "AuthorizationHeaderMalformed", "only AWS4-HMAC-SHA256 is known here");
      for (std::string part : split(std::string_view(*header).substr(16), ',')) {
         part.erase(0, part.find_first_not_of(' '));
         if (part.starts_with("Credential=")) scope = part.substr(11);
         if (part.starts_with("SignedHeaders=")) claim.signedHeaders = part.substr(14);
         if (part.starts_with("Signature=")) claim.signature = part.substr(10);
      }
      claim.time = request.headerOr("x-amz-date");
      claim.token = request.headerOr("x-amz-security-token");
   } else if (request.parameter("X-Amz-Signature")) {
      claim.isPresigned = true;
      scope = request.parameterOr("X-Amz-Credential");
      claim.signedHeaders = request.parameterOr("X-Amz-SignedHeaders");
      claim.signature = request.parameterOr("X-Amz-Signature");
      claim.time = request.parameterOr("X-Amz-Date");
      claim.token = request.parameterOr("X-Amz-Security-Token");
   } else {
      return false;
   }
   const auto parts = split(scope, '/');
   if (parts.size() != 5 || parts[4] != "aws4_request" || claim.signature.empty())
      throw S3Error(400, "AuthorizationHeaderMalformed", "the credential or the signature is missing or malformed");
   claim.accessKey = parts[0];
   claim.date = parts[1];
   claim.region = parts[2];
   claim.service = parts[3];
   return true;
}

void Credentials::checkRegion(const Claim& claim) const {
   if (region_.empty() || claim.region == region_) return;
   if (settings_.wrongRegion == "malformed") {
      S3Error error(400, "AuthorizationHeaderMalformed",
                    "the region '" + claim.region + "' is wrong; expecting '" + region_ + "'");
      error.elements = {{"Region", region_}};
      throw error;
   }
   S3Error error(301, "PermanentRedirect", "The bucket you are attempting to access must be addressed elsewhere.");
   error.headers = {{"x-amz-bucket-region", region_}};
   throw error;
}

void Credentials::checkTime(const HttpRequest& request, const Claim& claim) const {
   const int64_t signedAt = parseAmzDate(claim.time), now = time(nullptr);
   if (signedAt < 0) throw S3Error(403, "AccessDenied", "AWS authentication requires a valid date");
   if (!claim.isPresigned && std::abs(now - signedAt) > skewSecondsMax)
      throw S3Error(403, "RequestTimeTooSkewed",
                    "The difference between the request time and the server's is too large.");
   if (claim.isPresigned && now > signedAt + std::atoll(request.parameterOr("X-Amz-Expires").c_str()))
      throw S3Error(403, "AccessDenied", "Request has expired");
}

void Credentials::checkExpiry(const Claim& claim, const Key* key) {
   const uint64_t uses = ++uses_[claim.accessKey + '\n' + claim.token];
   const bool isOver = (settings_.expireAfter > 0 && uses > settings_.expireAfter) ||
                       (key && key->expiresAt > 0 && time(nullptr) >= key->expiresAt);
   if (!isOver) return;
   ++expired_;
   throw S3Error(400, "ExpiredToken", "The provided token has expired.");
}

bool Credentials::check(const HttpRequest& request) {
   Claim claim;
   const bool isSigned = readClaim(request, claim);
   if (!isSigned) {
      if (!keys_.empty()) throw S3Error(403, "AccessDenied", "Access Denied");
      return false;
   }
   checkRegion(claim);
   const auto found = keys_.find(claim.accessKey);
   checkExpiry(claim, found == keys_.end() ? nullptr : &found->second);
   if (keys_.empty()) return false;
   if (found == keys_.end())
      throw S3Error(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.");
   const Key& key = found->second;
   if (claim.token != key.token)
      throw S3Error(400, "InvalidToken", "The provided token is malformed or otherwise invalid.");
   checkTime(request, claim);
   const std::string names = ";" + claim.signedHeaders + ";";
   if (names.find(";host;") == std::string::npos || !claim.time.starts_with(claim.date) || claim.service != "s3")
      throw S3Error(403, "SignatureDoesNotMatch", "The host is not signed, or the scope is of another day or service.");

   const std::string canonical = canonicalRequest(request, claim.signedHeaders, claim.isPresigned);
   const std::string scope = claim.date + "/" + claim.region + "/s3/aws4_request";
   const std::string toSign =
       "AWS4-HMAC-SHA256\n" + claim.time + "\n" + scope + "\n" + toHex(Digest::of("sha256", canonical));
   const std::string signingKey = hmacSha256(
       hmacSha256(hmacSha256(hmacSha256("AWS4" + key.secret, claim.date), claim.region), "s3"), "aws4_request");
   if (toHex(hmacSha256(signingKey, toSign)) != claim.signature) {
      S3Error error(403, "SignatureDoesNotMatch",
                    "The request signature we calculated does not match the signature you provided.");
      error.elements = {{"CanonicalRequest", canonical}, {"StringToSign", toSign}};
      throw error;
   }
   return !claim.isPresigned;
}

} // namespace ouzel::object_server
