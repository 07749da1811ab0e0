#include "common/password/md5_password.hpp"

#include <array>
#include <fmt/format.h>
#include <openssl/evp.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel {

namespace {

constexpr std::string_view prefix = "md5";
constexpr size_t hashBytes = 16;

/// The prefix and the hash of both texts, one behind the other.
std::string hashOf(std::string_view first, std::string_view second) {
   std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
   const std::string text = std::string(first) + std::string(second);
   if (EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_md5(), nullptr) != 1) throwInternal("MD5 failed");
   std::string result(prefix);
   for (size_t i = 0; i < hashBytes; ++i)
      fmt::format_to(std::back_inserter(result), "{:02x}", hash[i]);
   return result;
}

} // namespace

bool isMd5Password(std::string_view stored) {
   return stored.starts_with(prefix) && stored.size() == prefix.size() + 2 * hashBytes &&
          stored.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

std::string md5Password(std::string_view password, std::string_view role) {
   return hashOf(password, role);
}

std::string md5Answer(std::string_view stored, std::string_view salt) {
   DCHECK(isMd5Password(stored));
   return hashOf(stored.substr(prefix.size()), salt);
}

} // namespace ouzel
