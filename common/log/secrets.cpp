#include "common/log/secrets.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/log/sql_scanner.hpp"

namespace ouzel {

namespace {

constexpr std::string_view mask = "'***'";

using Scanner = SqlScanner;

bool namesRoles(std::string_view word) {
   return equalsLower(word, "role") || equalsLower(word, "user") || equalsLower(word, "group");
}

size_t findLower(std::string_view text, std::string_view word, size_t from = 0) noexcept {
   for (size_t at = from; at + word.size() <= text.size(); ++at)
      if (equalsLower(text.substr(at, word.size()), word)) return at;
   return std::string_view::npos;
}

/// What settings and parameters are called whose values are secret.
constexpr std::string_view secretWords[] = {"password", "passwd",     "passphrase", "secret",
                                            "token",    "credential", "_key",       "apikey"};

bool isCalledSecret(std::string_view name) {
   return std::any_of(std::begin(secretWords), std::end(secretWords),
                      [&](std::string_view word) { return findLower(name, word) != std::string_view::npos; });
}

/// A connection string: "host=db password=x".
bool hasPassword(std::string_view literal) {
   return std::any_of(std::begin(secretWords), std::end(secretWords), [&](std::string_view word) {
      size_t at = findLower(literal, word);
      if (at == std::string_view::npos) return false;
      at = literal.find_first_not_of(' ', at + word.size());
      return at != std::string_view::npos && literal[at] == '=' && literal.find("://") == std::string_view::npos;
   });
}

/// Masks what a statement must not show, token by token.
class Masking {
public:
   Masking(std::string_view sql, MaskedStatement& masked) : sql_(sql), scanner_(sql), masked_(masked) {}

   void run() {
      for (Scanner::Token token; (token = scanner_.next()) != Scanner::Token::End;) {
         const std::string_view text = sql_.substr(scanner_.begin, scanner_.end - scanner_.begin);
         if (token == Scanner::Token::Semicolon)
            endStatement();
         else if (isValueSecret_)
            addToValue();
         else if (token == Scanner::Token::Literal)
            literal(text);
         else
            other(token, text);
      }
      endStatement();
      if (masked_.isMasked()) masked_.text = out_.append(sql_.substr(copied_));
   }

private:
   void hide(size_t begin, size_t end, std::string_view instead) {
      if (begin >= end) return;
      out_.append(sql_.substr(copied_, begin - copied_)).append(instead);
      copied_ = end;
      masked_.secrets.emplace_back(sql_.substr(begin, end - begin));
   }
   /// All that follows "SET app.password =".
   void addToValue() {
      if (!valueBegin_) valueBegin_ = scanner_.begin;
      valueEnd_ = scanner_.end;
   }
   void endStatement() {
      if (valueBegin_) hide(*valueBegin_, valueEnd_, mask);
      valueBegin_.reset();
      words_ = 0;
      isOfRoles_ = isMapping_ = mayName_ = isNamedSecret_ = isValueSecret_ = isCall_ = false;
   }
   void literal(std::string_view text) {
      followsLiteral_ = true;
      // `previous_` stays: the next literal continues this one.
      const bool isSecret = isCalledSecret(previous_) || (isOfRoles_ && !equalsLower(previous_, "until")) ||
                            (isCall_ && isNamedSecret_) || hasPassword(text);
      if (isSecret) return hide(scanner_.begin, scanner_.end, mask);
      if (isCall_) isNamedSecret_ = isCalledSecret(text);
      const size_t address = text.find("://");
      if (address != std::string_view::npos) hideInAddress(text, scanner_.begin, address + 3);
   }
   /// s3://user:secret@host/path?parameters
   void hideInAddress(std::string_view text, size_t begin, size_t host) {
      // Secrets may have slashes.
      const size_t end = std::min(text.find_first_of("?'", host), text.size());
      const size_t at = text.substr(0, end).rfind('@');
      if (at != std::string_view::npos && at > host && text.substr(host, at - host).find(':') != std::string_view::npos)
         hide(begin + host, begin + at, "***");
      const size_t parameters = text.find('?', host);
      if (parameters != std::string_view::npos && isCalledSecret(text.substr(parameters)))
         hide(begin + parameters + 1, begin + text.size() - (text.ends_with('\'') ? 1 : 0), "***");
   }
   void other(Scanner::Token token, std::string_view text) {
      // PASSWORD abc: the quotes are missing, or are others.
      const bool isValue = (token == Scanner::Token::Word && !equalsLower(text, "null")) || text.starts_with('"');
      const bool isFirst = !std::exchange(followsLiteral_, false); // behind the word
      if (isOfRoles_ && words_ > 2 && isFirst && isValue && isCalledSecret(previous_))
         hide(scanner_.begin, scanner_.end, mask);
      previous_ = token == Scanner::Token::Word ? text : std::string_view();
      if (mayName_ && (text == "=" || equalsLower(text, "to")))
         isValueSecret_ = isNamedSecret_;
      else if (mayName_)
         isNamedSecret_ = isNamedSecret_ || (isCalledSecret(text) && !equalsLower(text, "password_encryption"));
      if (equalsLower(text, "set_config")) isCall_ = true;
      if (isCall_ && text == ")") isCall_ = isNamedSecret_ = false;
      if (++words_ == 1) {
         first_ = text;
      } else if (words_ == 2) {
         const bool isAlter = equalsLower(first_, "alter");
         isOfRoles_ = (equalsLower(first_, "create") || isAlter) && namesRoles(text);
         isOfDatabase_ = isAlter && (equalsLower(text, "database") || equalsLower(text, "system"));
      } else if (words_ == 3) {
         isMapping_ = isOfRoles_ && equalsLower(text, "mapping"); // ALTER USER MAPPING ... OPTIONS (SET ...)
      }
      if (!equalsLower(text, "set")) return;
      const bool isOfRole = isOfRoles_ && !isMapping_ && words_ > 3 && equalsLower(first_, "alter"); // ALTER ROLE a SET
      if (isOfRole) isOfRoles_ = false;
      if (words_ == 1 || isOfDatabase_ || isOfRole) mayName_ = true;
   }

   const std::string_view sql_;
   Scanner scanner_;
   MaskedStatement& masked_;
   std::string out_;
   size_t copied_ = 0;
   // Of the statement at hand.
   uint32_t words_ = 0;
   std::string_view first_, previous_;
   bool isOfRoles_ = false, isMapping_ = false, isOfDatabase_ = false;
   bool followsLiteral_ = false; ///< the token before is a literal
   bool isCall_ = false;         ///< inside set_config(...)
   bool mayName_ = false;        ///< behind SET: the setting's name
   bool isNamedSecret_ = false;  ///< the setting is called after a secret
   bool isValueSecret_ = false;  ///< behind '=': all to the statement's end is hidden
   std::optional<size_t> valueBegin_;
   size_t valueEnd_ = 0;
};

} // namespace

bool mayHoldSecret(std::string_view sql) noexcept {
   const auto startsWith = [&](size_t at, std::string_view word) {
      return equalsLower(sql.substr(at, word.size()), word);
   };
   for (size_t i = 0; i < sql.size(); ++i) {
      switch (sql[i] | 0x20) { // lower case; the text may have megabytes
      case 'p':
         if (startsWith(i, "pass")) return true;
         break;
      case 'r':
         if (startsWith(i, "role")) return true;
         break;
      case 'u':
         if (startsWith(i, "user")) return true;
         break;
      case 'g':
         if (startsWith(i, "group")) return true;
         break;
      case 's':
         if (startsWith(i, "secret")) return true;
         break;
      case 't':
         if (startsWith(i, "token")) return true;
         break;
      case 'c':
         if (startsWith(i, "credential")) return true;
         break;
      case 'k':
         if (startsWith(i, "key") && i > 0 && (sql[i - 1] == '_' || (sql[i - 1] | 0x20) == 'i')) return true;
         break;
      case ':':
         if (startsWith(i, "://")) return true;
         break;
      default: break;
      }
   }
   return false;
}

MaskedStatement maskSecrets(std::string_view sql) {
   MaskedStatement masked;
   if (mayHoldSecret(sql)) Masking(sql, masked).run();
   return masked;
}

std::string MaskedStatement::hideIn(std::string_view message) const {
   std::string shown(message);
   const auto hide = [&](std::string_view secret) {
      for (size_t at = shown.find(secret); at != std::string::npos; at = shown.find(secret, at + mask.size()))
         shown.replace(at, secret.size(), mask);
   };
   for (const std::string& secret : secrets) {
      hide(secret);
      // The value as an error quotes it.
      if (secret.size() > 2 && secret.front() == '\'') hide("\"" + secret.substr(1, secret.size() - 2) + "\"");
   }
   return shown;
}

} // namespace ouzel
