#include "common/log/sql_scanner.hpp"

#include <algorithm>

namespace ouzel {

namespace {

char lower(char c) noexcept {
   return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isWordStart(char c) {
   return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool isWordPart(char c) {
   return isWordStart(c) || (c >= '0' && c <= '9') || c == '$';
}

} // namespace

bool equalsLower(std::string_view text, std::string_view word) noexcept {
   if (text.size() != word.size()) return false;
   for (size_t i = 0; i < text.size(); ++i)
      if (lower(text[i]) != word[i]) return false;
   return true;
}

SqlScanner::Token SqlScanner::next() {
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

void SqlScanner::skipBlanks() {
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

void SqlScanner::skipComment() {
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

SqlScanner::Token SqlScanner::literal(bool hasEscapes) {
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

bool SqlScanner::dollarQuoted() {
   size_t tagEnd = end + 1;
   while (tagEnd < sql_.size() && isWordPart(sql_[tagEnd]) && sql_[tagEnd] != '$')
      ++tagEnd;
   if (tagEnd >= sql_.size() || sql_[tagEnd] != '$') return false;
   const std::string_view tag = sql_.substr(end, tagEnd + 1 - end);
   const size_t close = sql_.find(tag, tagEnd + 1);
   end = close == std::string_view::npos ? sql_.size() : close + tag.size();
   return true;
}

SqlScanner::Token SqlScanner::word() {
   while (end < sql_.size() && isWordPart(sql_[end]))
      ++end;
   const std::string_view text = sql_.substr(begin, end - begin);
   if (end >= sql_.size()) return Token::Word;
   // E'...', N'...', U&'...'
   if (sql_[end] == '\'' && (equalsLower(text, "e") || equalsLower(text, "n"))) return literal(lower(text[0]) == 'e');
   if (equalsLower(text, "u") && sql_.substr(end, 2) == "&'") {
      ++end;
      return literal(false);
   }
   return Token::Word;
}

} // namespace ouzel
