#include "common/audit/chain.hpp"

#include <algorithm>
#include <charconv>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <utility>

#include "common/error/check.hpp"

namespace ouzel {

namespace {

constexpr std::string_view numberKey = "{\"number\":", previousKey = ",\"previous\":\"", hashKey = ",\"hash\":\"";

bool isHash(std::string_view text) {
   return text.size() == chainDigits && std::all_of(text.begin(), text.end(), [](char c) {
             return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
          });
}

/// The hash behind `key` at the end of the text, before a quote; the text loses both.
std::optional<std::string_view> takeHash(std::string_view& text, std::string_view key) {
   const size_t bytes = key.size() + chainDigits + 1;
   if (text.size() < bytes || !text.ends_with('"')) return std::nullopt;
   const std::string_view tail = text.substr(text.size() - bytes);
   const std::string_view hash = tail.substr(key.size(), chainDigits);
   if (!tail.starts_with(key) || !isHash(hash)) return std::nullopt;
   text.remove_suffix(bytes);
   return hash;
}

} // namespace

std::string firstChainHash() {
   return std::string(chainDigits, '0');
}

std::optional<AuditLine> parseAuditLine(std::string_view line) {
   if (!line.starts_with(numberKey) || !line.ends_with('}')) return std::nullopt;
   AuditLine out;
   const char* digits = line.data() + numberKey.size();
   const auto parsed = std::from_chars(digits, line.data() + line.size(), out.number);
   if (parsed.ec != std::errc() || *parsed.ptr != ',') return std::nullopt;
   std::string_view rest = line.substr(0, line.size() - 1);
   out.hash = takeHash(rest, hashKey);
   out.content = out.hash ? rest : line;
   if (out.hash) out.previous = takeHash(rest, previousKey);
   return out;
}

std::string chainHash(std::string_view previous, std::string_view content) {
   unsigned char digest[SHA256_DIGEST_LENGTH];
   EVP_MD_CTX* context = EVP_MD_CTX_new();
   CHECK(context != nullptr);
   const bool isDone = EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1 &&
                       EVP_DigestUpdate(context, previous.data(), previous.size()) == 1 &&
                       EVP_DigestUpdate(context, content.data(), content.size()) == 1 &&
                       EVP_DigestFinal_ex(context, digest, nullptr) == 1;
   EVP_MD_CTX_free(context);
   CHECK(isDone);
   constexpr char hex[] = "0123456789abcdef";
   std::string out;
   for (const unsigned char byte : digest)
      out.append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
   return out;
}

std::string AuditChain::link(std::string_view line) {
   DCHECK(line.ends_with('}'));
   std::string out(line.substr(0, line.size() - 1));
   if (std::exchange(isFirst_, false)) out.append(previousKey).append(last_).append(1, '"');
   last_ = chainHash(last_, out);
   return out.append(hashKey).append(last_).append("\"}");
}

} // namespace ouzel
