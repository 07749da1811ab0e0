#include <crypt.h>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "common/text/ascii.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// crypt() and gen_salt() of pgcrypto. The hashes are those of libcrypt; which of them a salt means is pgcrypto's rule:
// $1$ MD5, $2a$ and $2x$ Blowfish, _ extended DES, and all else DES, which takes its first two characters.

namespace ouzel::executor {

namespace {

constexpr std::string_view digits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view blowfishDigits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

[[noreturn]] void invalidSalt() {
   throw SqlError(sqlstate::invalidParameterValue, "invalid salt");
}

std::string hashed(std::string password, const std::string& salt) {
   if (password.size() >= CRYPT_MAX_PASSPHRASE_SIZE) throwNotSupported("crypt() of passwords of 512 bytes and more");
   const auto data = std::make_unique<crypt_data>();
   const char* hash = crypt_rn(password.c_str(), salt.c_str(), data.get(), sizeof(crypt_data));
   if (!hash) invalidSalt();
   std::string result = hash;
   OPENSSL_cleanse(data.get(), sizeof(crypt_data));
   OPENSSL_cleanse(password.data(), password.size());
   return result;
}

/// DES takes any two characters for its salt; libcrypt those that are digits. A digit that means the same stands in.
std::string hashedByDes(const std::string& password, const std::string& salt) {
   if (salt.size() < 2) invalidSalt();
   std::string digitsOnly = salt.substr(0, 2);
   for (char& c : digitsOnly)
      if (digits.find(c) == std::string_view::npos) c = '.';
   constexpr size_t usedBytes = 8;
   return salt.substr(0, 2) + hashed(password.substr(0, usedBytes), digitsOnly).substr(2);
}

StringView crypt(const StringView& password, const StringView& salt, KernelEnv& env) {
   const std::string secret(password.view()), setting(salt.view());
   if (setting.starts_with("$2a$") || setting.starts_with("$2x$")) {
      constexpr size_t usedBytes = 72;
      return env.copy(hashed(secret.substr(0, usedBytes), setting));
   }
   if (setting.starts_with("$1$") || setting.starts_with("_")) return env.copy(hashed(secret, setting));
   if (setting.starts_with("$2$")) invalidSalt();
   return env.copy(hashedByDes(secret, setting));
}

// ---- salts ----

void fillRandom(unsigned char* bytes, int size) {
   if (RAND_bytes(bytes, size) != 1) throw SqlError(sqlstate::internalError, "could not generate a random number");
}

std::string randomDigits(size_t count) {
   unsigned char bytes[8];
   fillRandom(bytes, sizeof bytes);
   std::string text;
   for (size_t i = 0; i < count; ++i)
      text += digits[bytes[i] & 63];
   return text;
}

/// 16 bytes in the base64 of Blowfish hashes.
std::string blowfishSalt() {
   unsigned char bytes[18] = {};
   fillRandom(bytes, 16);
   std::string text;
   for (size_t i = 0; i < 18; i += 3) {
      const uint32_t group =
          static_cast<uint32_t>(bytes[i]) << 16 | static_cast<uint32_t>(bytes[i + 1]) << 8 | bytes[i + 2];
      for (int shift = 18; shift >= 0; shift -= 6)
         text += blowfishDigits[group >> shift & 63];
   }
   return text.substr(0, 22);
}

std::string saltFor(std::string_view type, int32_t rounds) {
   const std::string name = lowerCase(type);
   const auto require = [](bool isGood) {
      if (!isGood) throw SqlError(sqlstate::invalidParameterValue, "gen_salt: Incorrect number of rounds");
   };
   if (name == "des") {
      require(rounds == 0 || rounds == 25);
      return randomDigits(2);
   }
   if (name == "md5") {
      require(rounds == 0 || rounds == 1000);
      return "$1$" + randomDigits(8);
   }
   if (name == "xdes") {
      if (rounds == 0) rounds = 29 * 25;
      require(rounds >= 1 && rounds <= 0xffffff && rounds % 2 == 1); // an even number reveals weak DES keys
      std::string salt = "_";
      for (int shift = 0; shift < 24; shift += 6)
         salt += digits[static_cast<uint32_t>(rounds) >> shift & 63];
      return salt + randomDigits(4);
   }
   if (name == "bf") {
      if (rounds == 0) rounds = 6;
      require(rounds >= 4 && rounds <= 31);
      return std::string("$2a$") + (rounds < 10 ? "0" : "") + std::to_string(rounds) + "$" + blowfishSalt();
   }
   throw SqlError(sqlstate::invalidParameterValue, "gen_salt: Unknown salt algorithm");
}

StringView genSalt(const StringView& type, KernelEnv& env) {
   return env.copy(saltFor(type.view(), 0));
}
StringView genSaltRounds(const StringView& type, int32_t rounds, KernelEnv& env) {
   return env.copy(saltFor(type.view(), rounds));
}

} // namespace

void registerPgcryptoPasswords() {
   addKernel<crypt>("pgcrypto/pg_crypt");
   addKernel<genSalt>("pgcrypto/pg_gen_salt");
   addKernel<genSaltRounds>("pgcrypto/pg_gen_salt_rounds");
}

} // namespace ouzel::executor
