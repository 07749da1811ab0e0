#include "engine/query/source_range.hpp"

#include <algorithm>

namespace ouzel::engine {

namespace {

bool isWordStart(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}
bool isWordPart(char c) {
   return isWordStart(c) || (c >= '0' && c <= '9') || c == '$';
}
bool isBlank(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

size_t skipBlanks(std::string_view text, size_t i) {
   while (i < text.size()) {
      if (isBlank(text[i])) {
         ++i;
      } else if (text.substr(i, 2) == "--") {
         i = std::min(text.find('\n', i), text.size());
      } else if (text.substr(i, 2) == "/*") {
         int depth = 1;
         for (i += 2; i < text.size() && depth; ++i) {
            if (text.substr(i, 2) == "/*") {
               ++depth;
               ++i;
            } else if (text.substr(i, 2) == "*/") {
               --depth;
               ++i;
            }
         }
      } else {
         break;
      }
   }
   return i;
}

size_t quotedEnd(std::string_view text, size_t i, char quote, bool backslashes) {
   for (++i; i < text.size(); ++i) {
      if (backslashes && text[i] == '\\')
         ++i;
      else if (text[i] == quote && i + 1 < text.size() && text[i + 1] == quote)
         ++i;
      else if (text[i] == quote)
         return i + 1;
   }
   return text.size();
}

size_t dollarQuotedEnd(std::string_view text, size_t i) {
   size_t tagEnd = i + 1;
   while (tagEnd < text.size() && isWordPart(text[tagEnd]) && text[tagEnd] != '$')
      ++tagEnd;
   if (tagEnd >= text.size() || text[tagEnd] != '$') return i;
   const std::string_view tag = text.substr(i, tagEnd - i + 1);
   const size_t close = text.find(tag, tagEnd + 1);
   return close == std::string_view::npos ? text.size() : close + tag.size();
}

bool equalsWord(std::string_view word, std::string_view keyword) {
   return word.size() == keyword.size() && std::equal(word.begin(), word.end(), keyword.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
          });
}

} // namespace

Token nextToken(std::string_view text, size_t from) {
   const size_t begin = skipBlanks(text, from);
   if (begin >= text.size()) return {text.size(), text.size(), 0};
   const char c = text[begin];
   if (c == '\'' || c == '"') return {begin, quotedEnd(text, begin, c, false), 's'};
   if (c == '$') {
      const size_t end = dollarQuotedEnd(text, begin);
      return end == begin ? Token{begin, begin + 1, 'o'} : Token{begin, end, 's'};
   }
   if (isWordStart(c)) {
      size_t end = begin + 1;
      while (end < text.size() && isWordPart(text[end]))
         ++end;
      if (end == begin + 1 && end < text.size() && text[end] == '\'' && (c == 'e' || c == 'E'))
         return {begin, quotedEnd(text, end, '\'', true), 's'};
      return {begin, end, 'w'};
   }
   return {begin, begin + 1, 'o'};
}

std::string_view expressionText(std::string_view text, size_t from, size_t limit) {
   const size_t begin = skipBlanks(text, from);
   size_t end = begin;
   int depth = 0;
   for (Token token = nextToken(text, begin); token.end > token.begin && token.begin < limit;
        token = nextToken(text, token.end)) {
      if (token.kind == 'o') {
         const char c = text[token.begin];
         if (c == '(' || c == '[') ++depth;
         if (c == ')' || c == ']') {
            if (depth == 0) break;
            --depth;
         }
         if ((c == ',' || c == ';') && depth == 0) break;
      }
      end = token.end;
   }
   return text.substr(begin, end - begin);
}

std::string_view parenthesized(std::string_view text, size_t from) {
   Token token = nextToken(text, from);
   while (token.end > token.begin && !(token.kind == 'o' && text[token.begin] == '('))
      token = nextToken(text, token.end);
   const size_t begin = token.end;
   int depth = 1;
   while (token.end > token.begin && depth) {
      token = nextToken(text, token.end);
      if (token.kind == 'o' && text[token.begin] == '(') ++depth;
      if (token.kind == 'o' && text[token.begin] == ')') --depth;
   }
   return text.substr(begin, token.begin - begin);
}

size_t endOfConstraint(std::string_view text, const sql::ListOf<::Constraint>& constraints, uint32_t i) {
   const bool isLast = i + 1 >= constraints.size() || constraints[i + 1]->location <= constraints[i]->location;
   return isLast ? text.size() : static_cast<size_t>(constraints[i + 1]->location);
}

size_t afterKeyword(std::string_view text, size_t from, std::string_view keyword) {
   int depth = 0;
   for (Token token = nextToken(text, from); token.end > token.begin; token = nextToken(text, token.end)) {
      if (token.kind == 'o' && text[token.begin] == '(') ++depth;
      if (token.kind == 'o' && text[token.begin] == ')') --depth;
      if (token.kind == 'w' && depth == 0 && equalsWord(text.substr(token.begin, token.end - token.begin), keyword))
         return token.end;
   }
   return std::string_view::npos;
}

size_t afterSetDefault(std::string_view text, size_t from, size_t number) {
   int depth = 0;
   std::string_view previous, beforePrevious; // words
   for (Token token = nextToken(text, from); token.end > token.begin; token = nextToken(text, token.end)) {
      const std::string_view part = text.substr(token.begin, token.end - token.begin);
      if (token.kind == 'o' && part == "(") ++depth;
      if (token.kind == 'o' && part == ")") --depth;
      const bool isSetDefault =
          token.kind == 'w' && depth == 0 && equalsWord(part, "default") && equalsWord(previous, "set");
      const bool isAction = equalsWord(beforePrevious, "delete") || equalsWord(beforePrevious, "update");
      if (isSetDefault && !isAction && number-- == 0) return token.end;
      beforePrevious = previous;
      previous = token.kind == 'w' && depth == 0 ? part : std::string_view();
   }
   return std::string_view::npos;
}

} // namespace ouzel::engine
