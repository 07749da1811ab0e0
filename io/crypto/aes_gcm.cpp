#include "io/crypto/aes_gcm.hpp"

#include <algorithm>
#include <cstring>
#include <openssl/evp.h>

#include "common/error/sql_error.hpp"

namespace ouzel::io {

namespace {

constexpr size_t stepMax = size_t{1} << 30; ///< lengths are ints to OpenSSL

const unsigned char* bytesOf(std::string_view text) {
   return reinterpret_cast<const unsigned char*>(text.data());
}

void require(bool isGood) {
   if (!isGood) throwInternal("AES-GCM failed");
}

} // namespace

AesGcm::AesGcm(const SecretBytes& key) : context_(EVP_CIPHER_CTX_new()) {
   static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
   if (context_ == nullptr || cipher == nullptr ||
       EVP_EncryptInit_ex(context_, cipher, nullptr, key.bytes.data(), nullptr) != 1) {
      EVP_CIPHER_CTX_free(context_);
      throwInternal("AES-256-GCM is not available");
   }
}

AesGcm::~AesGcm() {
   EVP_CIPHER_CTX_free(context_);
}

void AesGcm::start(uint64_t nonce, std::string_view additional, bool seals) {
   unsigned char iv[12] = {}; // 96 bits: GCM uses an IV of this size without hashing
   std::memcpy(iv, &nonce, sizeof nonce);
   require(EVP_CipherInit_ex(context_, nullptr, nullptr, nullptr, iv, seals ? 1 : 0) == 1);
   int written = 0;
   require(EVP_CipherUpdate(context_, nullptr, &written, bytesOf(additional), static_cast<int>(additional.size())) ==
           1);
}

void AesGcm::update(std::string_view source, char* target) {
   while (!source.empty()) {
      const size_t step = std::min(source.size(), stepMax);
      int written = 0;
      require(EVP_CipherUpdate(context_, reinterpret_cast<unsigned char*>(target), &written, bytesOf(source),
                               static_cast<int>(step)) == 1);
      source.remove_prefix(step);
      target += step;
   }
}

void AesGcm::seal(uint64_t nonce, std::string_view additional, std::span<const std::string_view> parts, char* target,
                  char* tag) {
   start(nonce, additional, true);
   for (const std::string_view part : parts) {
      update(part, target);
      target += part.size();
   }
   unsigned char rest[16];
   int written = 0;
   require(EVP_CipherFinal_ex(context_, rest, &written) == 1);
   require(EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_GET_TAG, tagSize, tag) == 1);
}

bool AesGcm::open(uint64_t nonce, std::string_view additional, std::string_view sealed, const char* tag, char* target) {
   start(nonce, additional, false);
   update(sealed, target);
   char expected[tagSize];
   std::memcpy(expected, tag, tagSize);
   require(EVP_CIPHER_CTX_ctrl(context_, EVP_CTRL_AEAD_SET_TAG, tagSize, expected) == 1);
   unsigned char rest[16];
   int written = 0;
   return EVP_CipherFinal_ex(context_, rest, &written) == 1;
}

} // namespace ouzel::io
