#include <algorithm>
#include <memory>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "common/text/ascii.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"

// The extension pgcrypto: digests, raw encryption, random bytes. OpenSSL does the work, as it does for PostgreSQL.

namespace ouzel::executor {

namespace {

[[noreturn]] void cannotUse(std::string_view name, const char* why) {
   throw SqlError(sqlstate::invalidParameterValue, "Cannot use \"" + lowerCase(name) + "\": " + why);
}
[[noreturn]] void failed(const char* action, const char* why) {
   throw SqlError(sqlstate::externalRoutineInvocationException, std::string(action) + " error: " + why);
}

// ---- digests ----

/// Throws 22023 for a name that OpenSSL does not know, or whose algorithm it does not have.
const EVP_MD* digestNamed(const StringView& name) {
   const EVP_MD* algorithm = EVP_get_digestbyname(lowerCase(name.view()).c_str());
   if (!algorithm) cannotUse(name.view(), "No such hash algorithm");
   unsigned char hash[EVP_MAX_MD_SIZE];
   if (EVP_Digest("", 0, hash, nullptr, algorithm, nullptr) != 1)
      cannotUse(name.view(), "Cipher cannot be initialized");
   return algorithm;
}

StringView digest(const StringView& data, const StringView& name, KernelEnv& env) {
   unsigned char hash[EVP_MAX_MD_SIZE];
   unsigned int size = 0;
   if (EVP_Digest(data.data(), data.size(), hash, &size, digestNamed(name), nullptr) != 1)
      throwInternal("digest failed");
   return env.copy({reinterpret_cast<const char*>(hash), size});
}

StringView hmac(const StringView& data, const StringView& key, const StringView& name, KernelEnv& env) {
   unsigned char hash[EVP_MAX_MD_SIZE];
   unsigned int size = 0;
   const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
   if (!HMAC(digestNamed(name), key.data(), static_cast<int>(key.size()), bytes, data.size(), hash, &size))
      throwInternal("hmac failed");
   return env.copy({reinterpret_cast<const char*>(hash), size});
}

// ---- ciphers ----

struct Cipher {
   std::string algorithm; ///< "aes"
   bool isEcb = false;    ///< else cbc
   bool isPadded = true;
};

/// "aes-cbc/pad:pkcs": the mode may be missing, and options follow the slash.
Cipher cipherNamed(const StringView& name) {
   const std::string text = lowerCase(name.view());
   const auto unknown = [&] { cannotUse(text, "No such cipher algorithm"); };
   Cipher cipher;
   size_t slash = text.find('/');
   const std::string whole = text.substr(0, slash);
   const size_t dash = whole.find('-');
   cipher.algorithm = whole.substr(0, dash);
   const std::string mode = dash == std::string::npos ? "cbc" : whole.substr(dash + 1);
   if (cipher.algorithm == "blowfish") cipher.algorithm = "bf";
   if (cipher.algorithm == "rijndael") cipher.algorithm = "aes";
   constexpr std::string_view algorithms[] = {"aes", "bf", "des", "3des", "cast5"};
   if (std::find(std::begin(algorithms), std::end(algorithms), cipher.algorithm) == std::end(algorithms)) unknown();
   if (mode != "cbc" && mode != "ecb") unknown();
   cipher.isEcb = mode == "ecb";
   while (slash != std::string::npos) {
      const size_t next = text.find('/', slash + 1);
      const std::string option = text.substr(slash + 1, next == std::string::npos ? next : next - slash - 1);
      if (!option.starts_with("pad:")) cannotUse(text, "Unknown option");
      if (option != "pad:pkcs" && option != "pad:none") unknown();
      cipher.isPadded = option == "pad:pkcs";
      slash = next;
   }
   return cipher;
}

struct Variant {
   const EVP_CIPHER* cipher;
   size_t keySize; ///< a key is filled with zeros, or cut, to as many bytes; 0: it has those that are given
};

Variant variantOf(const Cipher& cipher, size_t keySize) {
   const bool ecb = cipher.isEcb;
   if (cipher.algorithm == "bf") return {ecb ? EVP_bf_ecb() : EVP_bf_cbc(), 0};
   if (cipher.algorithm == "cast5") return {ecb ? EVP_cast5_ecb() : EVP_cast5_cbc(), 16};
   if (cipher.algorithm == "des") return {ecb ? EVP_des_ecb() : EVP_des_cbc(), 8};
   if (cipher.algorithm == "3des") return {ecb ? EVP_des_ede3_ecb() : EVP_des_ede3_cbc(), 24};
   if (keySize <= 16) return {ecb ? EVP_aes_128_ecb() : EVP_aes_128_cbc(), 16};
   if (keySize <= 24) return {ecb ? EVP_aes_192_ecb() : EVP_aes_192_cbc(), 24};
   return {ecb ? EVP_aes_256_ecb() : EVP_aes_256_cbc(), 32};
}

/// Encrypts or decrypts.
StringView apply(const char* action, const StringView& data, const StringView& key, std::string_view iv,
                 const StringView& name, KernelEnv& env) {
   const bool encrypts = std::string_view(action) == "encrypt";
   const Cipher cipher = cipherNamed(name);
   const Variant variant = variantOf(cipher, key.size());
   std::string keyBytes(key.view());
   if (variant.keySize > 0) keyBytes.resize(variant.keySize);
   if (cipher.algorithm == "bf") keyBytes.resize(std::min<size_t>(keyBytes.size(), 56));
   std::string ivBytes(iv);
   ivBytes.resize(EVP_MAX_IV_LENGTH);
   const auto* keyData = reinterpret_cast<const unsigned char*>(keyBytes.data());
   const auto* ivData = reinterpret_cast<const unsigned char*>(ivBytes.data());
   const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                 &EVP_CIPHER_CTX_free);
   const bool isReady =
       context && EVP_CipherInit_ex(context.get(), variant.cipher, nullptr, nullptr, nullptr, encrypts) == 1 &&
       (variant.keySize > 0 || EVP_CIPHER_CTX_set_key_length(context.get(), static_cast<int>(keyBytes.size())) == 1) &&
       EVP_CipherInit_ex(context.get(), nullptr, nullptr, keyData, ivData, encrypts) == 1;
   constexpr size_t commonKeyBytes = 16; // the longest key that every build of OpenSSL has for Blowfish
   if (!isReady && cipher.algorithm == "bf" && key.size() > commonKeyBytes) failed(action, "Key was too big");
   if (!isReady) failed(action, "Cipher cannot be initialized");
   EVP_CIPHER_CTX_set_padding(context.get(), cipher.isPadded ? 1 : 0);
   ValueBuilder result(env.strings);
   auto* out = reinterpret_cast<unsigned char*>(result.extend(data.size() + EVP_MAX_BLOCK_LENGTH));
   int written = 0, last = 0;
   const auto* in = reinterpret_cast<const unsigned char*>(data.data());
   if (EVP_CipherUpdate(context.get(), out, &written, in, static_cast<int>(data.size())) != 1 ||
       EVP_CipherFinal_ex(context.get(), out + written, &last) != 1)
      failed(action, encrypts ? "Encryption failed" : "Decryption failed");
   result.truncate(static_cast<size_t>(written + last));
   return result.finish();
}

StringView encrypt(const StringView& data, const StringView& key, const StringView& name, KernelEnv& env) {
   return apply("encrypt", data, key, {}, name, env);
}
StringView decrypt(const StringView& data, const StringView& key, const StringView& name, KernelEnv& env) {
   return apply("decrypt", data, key, {}, name, env);
}
StringView encryptIv(const StringView& data, const StringView& key, const StringView& iv, const StringView& name,
                     KernelEnv& env) {
   return apply("encrypt", data, key, iv.view(), name, env);
}
StringView decryptIv(const StringView& data, const StringView& key, const StringView& iv, const StringView& name,
                     KernelEnv& env) {
   return apply("decrypt", data, key, iv.view(), name, env);
}

// ---- randomness ----

StringView randomBytes(int32_t count, KernelEnv& env) {
   if (count < 1 || count > 1024) throw SqlError(sqlstate::externalRoutineInvocationException, "Length not in range");
   unsigned char bytes[1024];
   if (RAND_bytes(bytes, count) != 1) throw SqlError(sqlstate::internalError, "could not generate a random number");
   return env.copy({reinterpret_cast<const char*>(bytes), static_cast<size_t>(count)});
}

} // namespace

void registerPgcrypto() {
   addKernel<digest>("pgcrypto/pg_digest");
   addKernel<hmac>("pgcrypto/pg_hmac");
   addKernel<encrypt>("pgcrypto/pg_encrypt");
   addKernel<decrypt>("pgcrypto/pg_decrypt");
   addKernel<encryptIv>("pgcrypto/pg_encrypt_iv");
   addKernel<decryptIv>("pgcrypto/pg_decrypt_iv");
   addKernel<randomBytes>("pgcrypto/pg_random_bytes");
}

} // namespace ouzel::executor
