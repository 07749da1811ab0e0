#include "engine/role/role_password.hpp"

#include "common/password/md5_password.hpp"
#include "common/password/scram_verifier.hpp"

namespace ouzel::engine {

std::string storedPassword(SessionCore& core, const std::string& role, const std::string& password) {
   const bool isMd5 = isMd5Password(password);
   const auto given = ScramVerifier::parse(password);
   const bool isEmpty = isMd5 ? password == md5Password("", role)
                        : given
                            ? ScramVerifier::derive("", given->salt, given->iterations).storedKey == given->storedKey
                            : password.empty();
   if (isEmpty) {
      core.notice("empty string is not a valid password, clearing password");
      return {};
   }
   if (given || isMd5) return password;
   if (core.settings.value("password_encryption") == "md5") return md5Password(password, role);
   return ScramVerifier::make(password).text();
}

} // namespace ouzel::engine
