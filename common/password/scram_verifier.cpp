#include "common/password/scram_verifier.hpp"

#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "common/env/random.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

constexpr std::string_view mechanism = "SCRAM-SHA-256";
constexpr uint32_t iterationsMax = 100'000'000;

const unsigned char* raw(std::string_view text) {
   return reinterpret_cast<const unsigned char*>(text.data());
}
std::string_view chars(const ScramKey& key) {
   return {reinterpret_cast<const char*>(key.data()), key.size()};
}

} // namespace

ScramVerifier ScramVerifier::derive(std::string_view password, std::string_view salt, uint32_t iterations) {
   ScramKey salted;
   // Passwords are not normalized: SASLprep changes no ASCII password, and PostgreSQL too falls back to raw bytes.
   if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), raw(salt), static_cast<int>(salt.size()),
                         static_cast<int>(iterations), EVP_sha256(), static_cast<int>(salted.size()),
                         salted.data()) != 1)
      throwInternal("PBKDF2 failed");
   ScramVerifier verifier;
   verifier.iterations = iterations;
   verifier.salt = salt;
   verifier.storedKey = scramHash(chars(scramHmac(chars(salted), "Client Key")));
   verifier.serverKey = scramHmac(chars(salted), "Server Key");
   return verifier;
}

ScramVerifier ScramVerifier::make(std::string_view password) {
   std::string salt(scramSaltBytes, '\0');
   fillRandom(salt.data(), salt.size());
   return derive(password, salt);
}

std::optional<ScramVerifier> ScramVerifier::parse(std::string_view text) {
   if (!text.starts_with(mechanism) || text.size() <= mechanism.size() || text[mechanism.size()] != '$')
      return std::nullopt;
   text.remove_prefix(mechanism.size() + 1);
   ScramVerifier verifier;
   const auto number = std::from_chars(text.data(), text.data() + text.size(), verifier.iterations);
   if (number.ec != std::errc() || verifier.iterations == 0 || verifier.iterations > iterationsMax) return std::nullopt;
   text.remove_prefix(static_cast<size_t>(number.ptr - text.data()));
   const size_t dollar = text.find('$');
   if (!text.starts_with(':') || dollar == std::string_view::npos) return std::nullopt;
   const auto salt = base64Decode(text.substr(1, dollar - 1));
   const auto keys = text.substr(dollar + 1);
   const size_t colon = keys.find(':');
   if (!salt || colon == std::string_view::npos) return std::nullopt;
   const auto stored = base64Decode(keys.substr(0, colon)), server = base64Decode(keys.substr(colon + 1));
   if (!stored || !server || stored->size() != 32 || server->size() != 32) return std::nullopt;
   verifier.salt = *salt;
   std::memcpy(verifier.storedKey.data(), stored->data(), 32);
   std::memcpy(verifier.serverKey.data(), server->data(), 32);
   return verifier;
}

std::string ScramVerifier::text() const {
   return fmt::format("{}${}:{}${}:{}", mechanism, iterations, base64Encode(salt), base64Encode(chars(storedKey)),
                      base64Encode(chars(serverKey)));
}

ScramKey scramHmac(std::string_view key, std::string_view data) {
   ScramKey result;
   unsigned length = 0;
   if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), raw(data), data.size(), result.data(), &length) ||
       length != result.size())
      throwInternal("HMAC-SHA-256 failed");
   return result;
}

ScramKey scramHash(std::string_view data) {
   ScramKey result;
   SHA256(raw(data), data.size(), result.data());
   return result;
}

std::string base64Encode(std::string_view bytes) {
   std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
   text.resize(static_cast<size_t>(
       EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), raw(bytes), static_cast<int>(bytes.size()))));
   return text;
}

std::optional<std::string> base64Decode(std::string_view text) {
   if (text.empty() || text.size() % 4 != 0) return std::nullopt;
   size_t padding = 0;
   while (padding < 2 && text[text.size() - 1 - padding] == '=')
      ++padding;
   for (const char c : text.substr(0, text.size() - padding)) // EVP_DecodeBlock would skip blanks at the ends
      if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/'))
         return std::nullopt;
   std::string bytes(text.size() / 4 * 3, '\0');
   const int size =
       EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), raw(text), static_cast<int>(text.size()));
   if (size < 0) return std::nullopt;
   bytes.resize(static_cast<size_t>(size) - padding);
   return bytes;
}

} // namespace ouzel
