#include "io/s3/signer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

using Digest = std::array<unsigned char, 32>;

std::string_view bytesOf(const Digest& digest) {
   return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest hmac(std::string_view key, std::string_view text) {
   Digest result;
   unsigned length = 0;
   if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
            text.size(), result.data(), &length) == nullptr)
      throwInternal("HMAC failed");
   return result;
}

std::string hex(const Digest& digest) {
   static constexpr char digits[] = "0123456789abcdef";
   std::string result;
   for (const unsigned char byte : digest) {
      result += digits[byte >> 4];
      result += digits[byte & 15];
   }
   return result;
}

/// Removes blanks at the ends and turns runs of blanks into one.
std::string trimmed(std::string_view value) {
   std::string result;
   for (const char c : value) {
      if (c == ' ' && (result.empty() || result.back() == ' ')) continue;
      result += c;
   }
   if (!result.empty() && result.back() == ' ') result.pop_back();
   return result;
}

} // namespace

std::string sha256Hex(const std::vector<std::string_view>& parts) {
   const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
   Digest digest;
   bool isGood = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
   for (const std::string_view part : parts)
      isGood = isGood && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
   if (!isGood || EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) throwInternal("SHA-256 failed");
   return hex(digest);
}

std::string base64(std::string_view bytes) {
   std::string result((bytes.size() + 2) / 3 * 4 + 1, '\0');
   const int size =
       EVP_EncodeBlock(reinterpret_cast<unsigned char*>(result.data()),
                       reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
   result.resize(static_cast<size_t>(size));
   return result;
}

std::string authorizationHeader(const SignableRequest& request, const Credentials& credentials) {
   std::vector<const std::pair<std::string, std::string>*> sorted;
   for (const auto& header : *request.headers)
      sorted.push_back(&header);
   std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });

   std::string canonical(request.method), names;
   canonical.append("\n").append(request.path).append("\n").append(request.query).append("\n");
   for (const auto* header : sorted) {
      canonical.append(header->first).append(":").append(trimmed(header->second)).append("\n");
      names.append(names.empty() ? "" : ";").append(header->first);
   }
   canonical.append("\n").append(names).append("\n").append(request.payloadHash);

   const std::string_view day = request.time.substr(0, 8);
   std::string scope(day);
   scope.append("/").append(request.region).append("/").append(request.service).append("/aws4_request");
   std::string toSign = "AWS4-HMAC-SHA256\n";
   toSign.append(request.time).append("\n").append(scope).append("\n").append(sha256Hex({canonical}));

   Digest key = hmac("AWS4" + credentials.secretAccessKey, day);
   for (const std::string_view step : {request.region, request.service, std::string_view("aws4_request")})
      key = hmac(bytesOf(key), step);
   return "AWS4-HMAC-SHA256 Credential=" + credentials.accessKeyId + "/" + scope + ",SignedHeaders=" + names +
          ",Signature=" + hex(hmac(bytesOf(key), toSign));
}

bool Credentials::isPlausible() const {
   const auto isVisible = [](const std::string& text) {
      return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
   };
   return !accessKeyId.empty() && !secretAccessKey.empty() && isVisible(accessKeyId) && isVisible(secretAccessKey) &&
          isVisible(sessionToken);
}

std::string signingTime(int64_t unixSeconds) {
   const auto seconds = static_cast<time_t>(unixSeconds);
   tm parts{};
   gmtime_r(&seconds, &parts);
   char text[32];
   const size_t size = strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
   return {text, size};
}

namespace {
bool isPlausible(const tm& parts) {
   return parts.tm_year >= 70 && parts.tm_year < 8000 && parts.tm_mon >= 0 && parts.tm_mon < 12 && parts.tm_mday >= 1 &&
          parts.tm_mday <= 31 && parts.tm_hour >= 0 && parts.tm_hour < 24 && parts.tm_min >= 0 && parts.tm_min < 60 &&
          parts.tm_sec >= 0 && parts.tm_sec <= 60;
}
} // namespace

int64_t parseHttpDate(std::string_view text) {
   static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
   const std::string copy(text.substr(0, 64));
   tm parts{};
   char month[4] = "";
   if (std::sscanf(copy.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &parts.tm_mday, month, &parts.tm_year,
                   &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6)
      return -1;
   const size_t index = months.find(month);
   if (index == std::string_view::npos || index % 3 != 0) return -1;
   parts.tm_mon = static_cast<int>(index / 3);
   parts.tm_year -= 1900;
   return isPlausible(parts) ? timegm(&parts) : -1;
}

int64_t parseIsoTime(std::string_view text) {
   const std::string copy(text.substr(0, 64));
   tm parts{};
   if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                   &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6)
      return -1;
   parts.tm_year -= 1900;
   --parts.tm_mon;
   return isPlausible(parts) ? timegm(&parts) : -1;
}

} // namespace ouzel::io
