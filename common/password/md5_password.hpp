#pragma once
#include <string>
#include <string_view>

// Passwords as PostgreSQL kept them before SCRAM, for roles that come from older servers and for password_encryption =
// md5. Whoever reads one can log in with it, which is not so of a SCRAM verifier.

namespace ouzel {

/// Whether a text is a stored password: "md5" and 32 hexadecimal digits.
bool isMd5Password(std::string_view stored);
/// What is stored of a password. The role's name is its salt.
std::string md5Password(std::string_view password, std::string_view role);
/// What a client that knows the password answers to the server's `salt`. REQUIRES: isMd5Password(stored).
std::string md5Answer(std::string_view stored, std::string_view salt);

} // namespace ouzel
