#include "engine/role/role_password.hpp"

#include <algorithm>

#include "common/password/scram_verifier.hpp"

namespace ouzel::engine {

namespace {

/// "md5" and 32 hexadecimal digits.
bool isMd5(std::string_view password) {
   constexpr size_t digits = 32;
   return password.starts_with("md5") && password.size() == 3 + digits &&
          password.find_first_not_of("0123456789abcdef", 3) == std::string_view::npos;
}

} // namespace

std::string storedPassword(SessionCore& core, const std::string& password) {
   if (isMd5(password)) throwNotSupported("an MD5 password");
   const auto given = ScramVerifier::parse(password);
   const bool isEmpty = given ? ScramVerifier::derive("", given->salt, given->iterations).storedKey == given->storedKey
                              : password.empty();
   if (isEmpty) {
      core.notice("empty string is not a valid password, clearing password");
      return {};
   }
   if (given) return password;
   if (core.settings.value("password_encryption") == "md5") throwNotSupported("password_encryption = md5");
   return ScramVerifier::make(password).text();
}

} // namespace ouzel::engine
