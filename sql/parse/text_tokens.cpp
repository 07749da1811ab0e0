#include "sql/parse/text_tokens.hpp"

#include <algorithm>

namespace ouzel::sql {

namespace {

bool isDigit(char c) {
   return c >= '0' && c <= '9';
}

bool isWordStart(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

bool isWordPart(char c) {
   return isWordStart(c) || isDigit(c) || c == '$';
}

bool isBlank(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}

} // namespace

bool TextTokens::next(TextToken& token) {
   skipBlanks();
   if (at_ >= text_.size()) return false;
   token.begin = at_;
   token.kind = cut();
   at_ = std::min(at_, static_cast<uint32_t>(text_.size()));
   token.end = at_;
   return true;
}

void TextTokens::skipBlanks() {
   while (at_ < text_.size()) {
      if (isBlank(text_[at_]))
         ++at_;
      else if (text_[at_] == '-' && isAt(at_ + 1, '-'))
         at_ = static_cast<uint32_t>(std::min(text_.find_first_of("\r\n", at_), text_.size()));
      else if (text_[at_] == '/' && isAt(at_ + 1, '*'))
         skipComment();
      else
         return;
   }
}

/// Comments nest.
void TextTokens::skipComment() {
   uint32_t depth = 0;
   while (at_ < text_.size()) {
      if (text_[at_] == '/' && isAt(at_ + 1, '*')) {
         ++depth;
         at_ += 2;
      } else if (text_[at_] == '*' && isAt(at_ + 1, '/')) {
         at_ += 2;
         if (--depth == 0) return;
      } else {
         ++at_;
      }
   }
}

TextToken::Kind TextTokens::cut() {
   using enum TextToken::Kind;
   const char first = text_[at_];
   const char lower = static_cast<char>(first | 0x20);
   if (first == '\'') return cutQuoted('\'', false), String;
   if (first == '"') return cutQuoted('"', false), QuotedName;
   if ((lower == 'e' || lower == 'b' || lower == 'x' || lower == 'n') && isAt(at_ + 1, '\'')) {
      ++at_;
      return cutQuoted('\'', lower == 'e'), String;
   }
   if (lower == 'u' && isAt(at_ + 1, '&') && (isAt(at_ + 2, '\'') || isAt(at_ + 2, '"'))) {
      at_ += 2;
      const char quote = text_[at_];
      cutQuoted(quote, false);
      return quote == '"' ? QuotedName : String;
   }
   if (isDigit(first) || (first == '.' && at_ + 1 < text_.size() && isDigit(text_[at_ + 1])))
      return cutNumber(), Number;
   if (first == '$' && at_ + 1 < text_.size() && isDigit(text_[at_ + 1])) {
      do
         ++at_;
      while (at_ < text_.size() && isDigit(text_[at_]));
      return Parameter;
   }
   if (first == '$' && cutDollarQuoted()) return String;
   if (!isWordStart(first)) return ++at_, Sign;
   while (at_ < text_.size() && isWordPart(text_[at_]))
      ++at_;
   return Word;
}

/// From the opening quote to behind the closing one. Two quotes in a row stand for one. A string goes on behind a line
/// break: 'a' and, in the next line, 'b' are one.
void TextTokens::cutQuoted(char quote, bool hasEscapes) {
   for (++at_; at_ < text_.size(); ++at_) {
      if (hasEscapes && text_[at_] == '\\') {
         ++at_;
      } else if (text_[at_] == quote) {
         ++at_;
         if (isAt(at_, quote)) continue;
         const size_t next = std::min(text_.find_first_not_of(" \t\n\v\f\r", at_), text_.size());
         const bool goesOn = quote == '\'' && isAt(static_cast<uint32_t>(next), quote) &&
                             text_.substr(at_, next - at_).find_first_of("\r\n") != std::string_view::npos;
         if (!goesOn) return;
         at_ = static_cast<uint32_t>(next);
      }
   }
}

/// $tag$...$tag$. False: none begins here.
bool TextTokens::cutDollarQuoted() {
   uint32_t tagEnd = at_ + 1;
   while (tagEnd < text_.size() && isWordPart(text_[tagEnd]) && text_[tagEnd] != '$')
      ++tagEnd;
   if (!isAt(tagEnd, '$')) return false;
   const std::string_view tag = text_.substr(at_, tagEnd + 1 - at_);
   const size_t close = text_.find(tag, tagEnd + 1);
   at_ = static_cast<uint32_t>(close == std::string_view::npos ? text_.size() : close + tag.size());
   return true;
}

void TextTokens::cutNumber() {
   while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool isExponent =
          (c == 'e' || c == 'E') && at_ + 1 < text_.size() && (text_[at_ + 1] == '+' || text_[at_ + 1] == '-');
      if (isExponent)
         at_ += 2;
      else if (isDigit(c) || c == '.' || isWordStart(c))
         ++at_;
      else
         return;
   }
}

} // namespace ouzel::sql
