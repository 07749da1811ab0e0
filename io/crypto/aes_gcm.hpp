#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/crypto/encryption_key.hpp"

struct evp_cipher_ctx_st; // OpenSSL's EVP_CIPHER_CTX

namespace ouzel::io {

/// AES-256-GCM under one key. The constructor allocates and expands the key. Used by one thread at a time.
class AesGcm {
public:
   static constexpr size_t tagSize = 16;

   explicit AesGcm(const SecretBytes& key);
   ~AesGcm();
   AesGcm(const AesGcm&) = delete;
   AesGcm& operator=(const AesGcm&) = delete;

   /// Encrypts the concatenation of `parts` to `target`, which has room for it, and writes the tag over ciphertext and
   /// `additional` to `tag`. REQUIRES: the nonce is used only once with this key.
   void seal(uint64_t nonce, std::string_view additional, std::span<const std::string_view> parts, char* target,
             char* tag);
   /// Decrypts `sealed` to `target`, which may be the same memory. False: the tag does not match, because ciphertext,
   /// nonce, `additional` or tag differ from what was sealed. Then `target` holds bytes that must not be used.
   [[nodiscard]] bool open(uint64_t nonce, std::string_view additional, std::string_view sealed, const char* tag,
                           char* target);

private:
   void start(uint64_t nonce, std::string_view additional, bool seals);
   void update(std::string_view source, char* target);

   evp_cipher_ctx_st* const context_;
};

} // namespace ouzel::io
