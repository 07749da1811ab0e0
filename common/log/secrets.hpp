#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ouzel {

/// A statement's text without the passwords in it, for the log.
struct MaskedStatement {
   std::string text;                 ///< '***' in the place of each secret; empty when there are none
   std::vector<std::string> secrets; ///< the literals as they stood in the statement

   bool isMasked() const { return !secrets.empty(); }
   /// A message about the statement, which may quote a part of it.
   std::string hideIn(std::string_view message) const;
};

/// Secret is every string literal behind the word PASSWORD, and every one in CREATE and ALTER of ROLE, USER and GROUP
/// but VALID UNTIL's: the word may be misspelt. So are the value of a setting that is called after a secret
/// ("app.api_key"), by SET and by set_config(), a literal that holds a connection string with a password, and in
/// addresses ("s3://...") what is before '@' and the parameters. Goes by words, so it also works for texts that are no
/// valid SQL.
MaskedStatement maskSecrets(std::string_view sql);
/// Whether maskSecrets() could find a secret: a quick search, safe in a signal handler.
bool mayHoldSecret(std::string_view sql) noexcept;

} // namespace ouzel
