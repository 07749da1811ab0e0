#include "common/log/secrets.hpp"

#include <algorithm>

namespace ouzel {

namespace {

constexpr std::string_view mask = "'***'";

char lower(char c) noexcept {
   return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isWordStart(char c) {
   return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool isWordPart(char c) {
   return isWordStart(c) || (c >= '0' && c <= '9') || c == '$';
}

bool equalsLower(std::string_view text, std::string_view word) noexcept {
   if (text.size() != word.size()) return false;
   for (size_t i = 0; i < text.size(); ++i)
      if (lower(text[i]) != word[i]) return false;
   return true;
}

/// Walks over the tokens of SQL as far as they matter here: words, string literals, everything else.
class Scanner {
public:
   explicit Scanner(std::string_view sql) : sql_(sql) {}

   enum class Token { Word, Literal, Semicolon, Other, End };
   /// The next token; its text is sql[begin, end).
   Token next() {
      skipBlanks();
      begin = end;
      if (end >= sql_.size()) return Token::End;
      const char c = sql_[end];
      if (c == '\'') return literal(false);
      if (c == '$' && dollarQuoted()) return Token::Literal;
      if (isWordStart(c)) return word();
      ++end;
      if (c == '"') {
         while (end < sql_.size() && sql_[end++] != '"') {
         }
         return Token::Other;
      }
      return c == ';' ? Token::Semicolon : Token::Other;
   }

   size_t begin = 0, end = 0;

private:
   void skipBlanks() {
      while (end < sql_.size()) {
         if (sql_[end] == ' ' || (sql_[end] >= '\t' && sql_[end] <= '\r'))
            ++end;
         else if (sql_.substr(end, 2) == "--")
            end = std::min(sql_.find('\n', end), sql_.size());
         else if (sql_.substr(end, 2) == "/*")
            skipComment();
         else
            return;
      }
   }
   void skipComment() {
      int depth = 0;
      do {
         if (sql_.substr(end, 2) == "/*" || sql_.substr(end, 2) == "*/") {
            depth += sql_[end] == '/' ? 1 : -1;
            end += 2;
         } else {
            ++end;
         }
      } while (depth > 0 && end < sql_.size());
   }
   /// From the opening quote on. An unterminated literal reaches to the end.
   Token literal(bool hasEscapes) {
      for (++end; end < sql_.size(); ++end) {
         if (hasEscapes && sql_[end] == '\\') {
            ++end;
         } else if (sql_[end] == '\'') {
            if (end + 1 < sql_.size() && sql_[end + 1] == '\'')
               ++end;
            else
               break;
         }
      }
      end = std::min(end + 1, sql_.size());
      return Token::Literal;
   }
   bool dollarQuoted() {
      size_t tagEnd = end + 1;
      while (tagEnd < sql_.size() && isWordPart(sql_[tagEnd]) && sql_[tagEnd] != '$')
         ++tagEnd;
      if (tagEnd >= sql_.size() || sql_[tagEnd] != '$') return false;
      const std::string_view tag = sql_.substr(end, tagEnd + 1 - end);
      const size_t close = sql_.find(tag, tagEnd + 1);
      end = close == std::string_view::npos ? sql_.size() : close + tag.size();
      return true;
   }
   Token word() {
      while (end < sql_.size() && isWordPart(sql_[end]))
         ++end;
      const std::string_view text = sql_.substr(begin, end - begin);
      if (end >= sql_.size()) return Token::Word;
      // E'...', N'...', U&'...'
      if (sql_[end] == '\'' && (equalsLower(text, "e") || equalsLower(text, "n")))
         return literal(lower(text[0]) == 'e');
      if (equalsLower(text, "u") && sql_.substr(end, 2) == "&'") {
         ++end;
         return literal(false);
      }
      return Token::Word;
   }

   const std::string_view sql_;
};

bool namesRoles(std::string_view word) {
   return equalsLower(word, "role") || equalsLower(word, "user") || equalsLower(word, "group");
}

} // namespace

bool mayHoldSecret(std::string_view sql) noexcept {
   const auto startsWith = [&](size_t at, std::string_view word) {
      return equalsLower(sql.substr(at, word.size()), word);
   };
   for (size_t i = 0; i < sql.size(); ++i) {
      switch (sql[i] | 0x20) { // lower case; the text may have megabytes
      case 'p':
         if (startsWith(i, "password")) return true;
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
      default: break;
      }
   }
   return false;
}

MaskedStatement maskSecrets(std::string_view sql) {
   MaskedStatement masked;
   if (sql.find_first_of("'$") == std::string_view::npos || !mayHoldSecret(sql)) return masked;
   Scanner scanner(sql);
   std::string out;
   size_t copied = 0;
   uint32_t words = 0;
   std::string_view first, previous;
   bool isOfRoles = false;
   while (true) {
      const Scanner::Token token = scanner.next();
      if (token == Scanner::Token::End) break;
      const std::string_view text = sql.substr(scanner.begin, scanner.end - scanner.begin);
      if (token == Scanner::Token::Literal) {
         const bool isSecret = equalsLower(previous, "password") || (isOfRoles && !equalsLower(previous, "until"));
         if (!isSecret) continue;
         out.append(sql.substr(copied, scanner.begin - copied)).append(mask);
         copied = scanner.end;
         masked.secrets.emplace_back(text); // `previous` stays: the next literal continues this one
         continue;
      }
      previous = token == Scanner::Token::Word ? text : std::string_view();
      if (token == Scanner::Token::Semicolon) {
         words = 0;
         isOfRoles = false;
      } else if (++words == 1) {
         first = text;
      } else if (words == 2) {
         isOfRoles = (equalsLower(first, "create") || equalsLower(first, "alter")) && namesRoles(text);
      }
   }
   if (masked.isMasked()) masked.text = out.append(sql.substr(copied));
   return masked;
}

std::string MaskedStatement::hideIn(std::string_view message) const {
   std::string shown(message);
   for (const std::string& secret : secrets)
      for (size_t at = shown.find(secret); at != std::string::npos; at = shown.find(secret, at + mask.size()))
         shown.replace(at, secret.size(), mask);
   return shown;
}

} // namespace ouzel
