#include "io/s3/s3_location.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "io/s3/credentials_chain.hpp"

namespace ouzel::io {

namespace {

constexpr std::string_view scheme = "s3://";

[[noreturn, gnu::cold]] void refuse(std::string_view url, const std::string& why) {
   // Messages leave out the parameters behind '?': a user may have put a secret there.
   throw SqlError(sqlstate::invalidParameterValue,
                  "invalid object store address \"" + std::string(url.substr(0, url.find('?'))) + "\": " + why);
}

std::optional<std::string> percentDecode(std::string_view text) {
   std::string result;
   for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
         result += text[i];
         continue;
      }
      if (text.size() - i < 3) return std::nullopt;
      const int high = hexDigit(text[i + 1]), low = hexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
   }
   return result;
}

bool isLowerWord(std::string_view text, std::string_view alsoAllowed) {
   return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || alsoAllowed.find(c) != std::string_view::npos;
   });
}

bool isHostName(std::string_view host) {
   return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
             c == '_' || c == ':';
   });
}

void parsePort(std::string_view url, std::string_view text, S3Location& result) {
   uint32_t port = 0;
   for (const char c : text) {
      if (c < '0' || c > '9' || port > UINT16_MAX) refuse(url, "the endpoint's port is not a number below 65536");
      port = port * 10 + static_cast<uint32_t>(c - '0');
   }
   if (port == 0 || port > UINT16_MAX) refuse(url, "the endpoint's port is not a number below 65536");
   result.port = static_cast<uint16_t>(port);
}

void parseEndpoint(std::string_view url, std::string_view endpoint, S3Location& result) {
   if (endpoint.starts_with("https://")) {
      endpoint.remove_prefix(8);
   } else if (endpoint.starts_with("http://")) {
      endpoint.remove_prefix(7);
      result.isEncrypted = false;
      result.port = 80;
   } else {
      refuse(url, "the endpoint must begin with http:// or https://");
   }
   if (endpoint.ends_with('/')) endpoint.remove_suffix(1);
   std::string_view host = endpoint, port;
   if (endpoint.starts_with('[')) {
      const size_t close = endpoint.find(']');
      if (close == std::string_view::npos) refuse(url, "the endpoint's host is not valid");
      host = endpoint.substr(1, close - 1);
      port = endpoint.substr(close + 1);
      if (!port.empty() && port.front() != ':') refuse(url, "the endpoint's host is not valid");
   } else if (const size_t colon = endpoint.find(':'); colon != std::string_view::npos) {
      host = endpoint.substr(0, colon);
      port = endpoint.substr(colon);
      if (port.find(':', 1) != std::string_view::npos) refuse(url, "the endpoint's host is not valid");
   }
   if (!isHostName(host)) refuse(url, "the endpoint's host is not valid");
   if (!port.empty()) parsePort(url, port.substr(1), result);
   result.host = lowerCase(std::string(host));
   result.hasOwnEndpoint = true;
}

void parseBucket(std::string_view url, std::string_view path, S3Location& result) {
   const size_t slash = path.find('/');
   result.bucket = path.substr(0, slash);
   if (result.bucket.find('@') != std::string::npos) refuse(url, "secrets do not belong into an address");
   if (result.bucket.size() < 3 || result.bucket.size() > 63 || !isLowerWord(result.bucket, ".-") ||
       !isLowerWord(result.bucket.substr(0, 1), "") || !isLowerWord(result.bucket.substr(result.bucket.size() - 1), ""))
      refuse(url, "a bucket's name has 3 to 63 lower-case letters, digits, '-' and '.'");
   if (slash == std::string_view::npos) return;
   const auto prefix = percentDecode(path.substr(slash + 1));
   if (!prefix) refuse(url, "'%' must be followed by two hexadecimal digits");
   result.prefix = *prefix;
   if (result.prefix.starts_with('/') || result.prefix.find("//") != std::string::npos)
      refuse(url, "the prefix has an empty part");
   if (std::any_of(result.prefix.begin(), result.prefix.end(),
                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      refuse(url, "the prefix has a control character");
   if (result.prefix.size() > 512) refuse(url, "the prefix is longer than 512 bytes");
   if (!result.prefix.empty() && !result.prefix.ends_with('/')) result.prefix += '/';
}

struct Parameters {
   std::string region, endpoint;
   std::optional<bool> isPathStyle;
};

Parameters parseParameters(std::string_view url, std::string_view text) {
   Parameters result;
   while (!text.empty()) {
      const std::string_view pair = text.substr(0, text.find('&'));
      text.remove_prefix(std::min(text.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      const std::string name(pair.substr(0, equals));
      const auto value = percentDecode(equals == std::string_view::npos ? "" : pair.substr(equals + 1));
      if (!value) refuse(url, "'%' must be followed by two hexadecimal digits");
      const std::string word = lowerCase(name);
      if (name == "region") {
         if (!isRegionName(*value)) refuse(url, "the region is not valid");
         result.region = *value;
      } else if (name == "endpoint") {
         result.endpoint = *value;
      } else if (name == "path_style") {
         if (*value != "true" && *value != "false") refuse(url, "path_style is true or false");
         result.isPathStyle = *value == "true";
      } else if (word.find("key") != std::string::npos || word.find("secret") != std::string::npos ||
                 word.find("token") != std::string::npos) {
         refuse(url, "secrets do not belong into an address");
      } else {
         refuse(url, "unknown parameter \"" + name + "\"");
      }
   }
   return result;
}

std::string firstOf(std::initializer_list<const char*> names) {
   for (const char* name : names)
      if (std::string value = environment(name); !value.empty()) return value;
   return "";
}

} // namespace

bool isS3Url(std::string_view url) {
   return url.starts_with(scheme);
}

std::string awsHost(std::string_view service, std::string_view region) {
   return std::string(service) + "." + std::string(region) +
          (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
}

bool isRegionName(std::string_view text) {
   return isLowerWord(text, "-");
}

std::string percentEncode(std::string_view text, bool keepSlash) {
   static constexpr char digits[] = "0123456789ABCDEF";
   std::string result;
   result.reserve(text.size());
   for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
          c == '_' || c == '~' || (keepSlash && c == '/')) {
         result += c;
      } else {
         result += '%';
         result += digits[byte >> 4];
         result += digits[byte & 15];
      }
   }
   return result;
}

S3Location S3Location::parse(std::string_view url) {
   if (!isS3Url(url)) refuse(url, "it must begin with s3://");
   S3Location result;
   const size_t question = url.find('?');
   parseBucket(url, url.substr(scheme.size(), question == std::string_view::npos ? question : question - scheme.size()),
               result);
   Parameters parameters = parseParameters(url, question == std::string_view::npos ? "" : url.substr(question + 1));
   if (parameters.endpoint.empty()) parameters.endpoint = firstOf({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
   if (parameters.region.empty()) parameters.region = firstOf({"AWS_REGION", "AWS_DEFAULT_REGION"});
   if (parameters.region.empty()) parameters.region = "us-east-1";
   if (!isRegionName(parameters.region)) refuse(url, "the region is not valid");
   result.region = parameters.region;
   if (parameters.endpoint.empty())
      result.host = awsHost("s3", result.region);
   else
      parseEndpoint(url, parameters.endpoint, result);
   result.isPathStyle =
       parameters.isPathStyle.value_or(result.hasOwnEndpoint || result.bucket.find('.') != std::string::npos);
   return result;
}

std::string S3Location::serverName() const {
   return isPathStyle ? host : bucket + "." + host;
}

std::string S3Location::hostHeader() const {
   std::string result = serverName();
   if (result.find(':') != std::string::npos) result = "[" + result + "]";
   return port == (isEncrypted ? 443 : 80) ? result : result + ":" + std::to_string(port);
}

std::string S3Location::pathOf(std::string_view objectName) const {
   std::string result = isPathStyle ? "/" + bucket : "";
   if (!objectName.empty()) result += "/" + percentEncode(keyOf(objectName), true);
   return result.empty() ? "/" : result;
}

std::string S3Location::display(std::string_view objectName) const {
   return std::string(scheme) + bucket + "/" + keyOf(objectName);
}

std::string S3Location::displayEndpoint() const {
   return (isEncrypted ? "https://" : "http://") + hostHeader();
}

S3Location S3Location::inRegion(std::string_view otherRegion) const {
   S3Location result = *this;
   result.region = otherRegion;
   if (!hasOwnEndpoint) result.host = awsHost("s3", otherRegion);
   return result;
}

} // namespace ouzel::io
