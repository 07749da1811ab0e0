#include "io/crypto/encryption_key.hpp"

#include <cstring>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <optional>

#include "common/env/random.hpp"
#include "common/error/sql_error.hpp"
#include "io/file/file.hpp"

namespace ouzel::io {

namespace {

constexpr size_t fileSizeMax = 4096; ///< a longer file holds no key and may be an endless device

/// The value of a hexadecimal digit; none for other characters.
std::optional<unsigned> hexValue(char c) {
   if (c >= '0' && c <= '9') return c - '0';
   if (c >= 'a' && c <= 'f') return c - 'a' + 10;
   if (c >= 'A' && c <= 'F') return c - 'A' + 10;
   return std::nullopt;
}

std::optional<unsigned> base64Value(char c) {
   if (c >= 'A' && c <= 'Z') return c - 'A';
   if (c >= 'a' && c <= 'z') return c - 'a' + 26;
   if (c >= '0' && c <= '9') return c - '0' + 52;
   if (c == '+') return 62;
   if (c == '/') return 63;
   return std::nullopt;
}

/// Decodes `text` as digits of `bits` bits each, most significant first. False unless the digits make exactly 32 bytes.
bool decode(std::string_view text, unsigned bits, std::optional<unsigned> (*valueOf)(char), SecretBytes& secret) {
   unsigned pending = 0, pendingBits = 0;
   size_t count = 0;
   for (const char c : text) {
      const auto value = valueOf(c);
      if (!value) return false;
      pending = (pending << bits | *value) & 0xffff;
      pendingBits += bits;
      if (pendingBits < 8) continue;
      if (count == secret.bytes.size()) return false;
      pendingBits -= 8;
      secret.bytes[count++] = static_cast<unsigned char>(pending >> pendingBits);
   }
   return count == secret.bytes.size() && (pending & ((1u << pendingBits) - 1)) == 0;
}

std::string_view trimmed(std::string_view text) {
   constexpr std::string_view blanks = " \t\r\n";
   const size_t first = text.find_first_not_of(blanks);
   if (first == std::string_view::npos) return {};
   return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

} // namespace

SecretBytes::~SecretBytes() {
   OPENSSL_cleanse(bytes.data(), bytes.size());
}

EncryptionKey::EncryptionKey(const SecretBytes& secret) : secret_(secret) {
   const SecretBytes name = derive("", "ouzel key id");
   std::memcpy(&id_, name.bytes.data(), sizeof id_);
}

std::shared_ptr<const EncryptionKey> EncryptionKey::parse(std::string_view text) {
   text = trimmed(text);
   SecretBytes secret;
   bool isGood = text.size() == 64 && decode(text, 4, hexValue, secret);
   if (!isGood) {
      if (text.size() == 44 && text.ends_with('=')) text.remove_suffix(1);
      isGood = text.size() == 43 && decode(text, 6, base64Value, secret);
   }
   if (!isGood)
      throw SqlError(sqlstate::invalidParameterValue,
                     "the encryption key is neither 64 hex digits nor base64 of 32 bytes")
          .hint("Make one with: openssl rand -hex 32");
   return std::shared_ptr<const EncryptionKey>(new EncryptionKey(secret));
}

std::shared_ptr<const EncryptionKey> EncryptionKey::readFile(const std::string& path) {
   const File file(path, File::Mode::Read);
   const uint64_t size = file.size();
   if (size > fileSizeMax)
      throw SqlError(sqlstate::invalidParameterValue, "the encryption key file \"" + path + "\" is too long");
   std::string text(size, '\0');
   file.readAt(text.data(), text.size(), 0);
   auto key = parse(text);
   OPENSSL_cleanse(text.data(), text.size());
   return key;
}

std::shared_ptr<const EncryptionKey> EncryptionKey::makeRandom() {
   SecretBytes secret;
   fillRandom(secret.bytes.data(), secret.bytes.size());
   return std::shared_ptr<const EncryptionKey>(new EncryptionKey(secret));
}

SecretBytes EncryptionKey::derive(std::string_view salt, std::string_view purpose) const {
   static EVP_KDF* const hkdf = EVP_KDF_fetch(nullptr, "HKDF", nullptr); // once: this takes longer than deriving
   const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(hkdf ? EVP_KDF_CTX_new(hkdf) : nullptr,
                                                                           EVP_KDF_CTX_free);
   // OpenSSL only reads through these pointers, but declares them non-const.
   const auto octets = [](const char* name, const void* data, size_t size) {
      return OSSL_PARAM_construct_octet_string(name, const_cast<void*>(data), size);
   };
   char digest[] = "SHA256";
   const OSSL_PARAM parameters[] = {
       OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
       octets(OSSL_KDF_PARAM_KEY, secret_.bytes.data(), secret_.bytes.size()),
       octets(OSSL_KDF_PARAM_SALT, salt.data(), salt.size()),
       octets(OSSL_KDF_PARAM_INFO, purpose.data(), purpose.size()),
       OSSL_PARAM_construct_end(),
   };
   SecretBytes result;
   if (!context || EVP_KDF_derive(context.get(), result.bytes.data(), result.bytes.size(), parameters) != 1)
      throwInternal("HKDF failed");
   return result;
}

} // namespace ouzel::io
