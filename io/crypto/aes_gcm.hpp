#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/crypto/encryption_key.hpp"

struct evp_cipher_ctx_st; // OpenSSL's EVP_CIPHER_CTX

namespace ouzel::io {

/// AES-256-GCM under one key. Costs an allocation and the key's schedule to make; one thread's at a time.
class AesGcm {
public:
   static constexpr size_t tagSize = 16;

   explicit AesGcm(const SecretBytes& key);
   ~AesGcm();
   AesGcm(const AesGcm&) = delete;
   AesGcm& operator=(const AesGcm&) = delete;

   /// Encrypt the concatenation of `parts` to `target`, which has room for it, and make the tag of it and of
   /// `additional`. REQUIRES: the nonce is used for nothing else with this key.
   void seal(uint64_t nonce, std::string_view additional, std::span<const std::string_view> parts, char* target,
             char* tag);
   /// Decrypt to `target` (which may be where `sealed` is); false when the tag says that anything is not as it was
   /// sealed, and what was written to `target` must not be used.
   [[nodiscard]] bool open(uint64_t nonce, std::string_view additional, std::string_view sealed, const char* tag,
                           char* target);

private:
   void start(uint64_t nonce, std::string_view additional, bool seals);
   void update(std::string_view source, char* target);

   evp_cipher_ctx_st* const context_;
};

} // namespace ouzel::io
