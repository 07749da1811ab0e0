#include "engine/definition/function/standard_body.hpp"

#include <algorithm>

#include "common/text/ascii.hpp"
#include "engine/query/source_range.hpp"

namespace ouzel::engine {

namespace {

bool isWord(std::string_view text, const Token& token, std::string_view word) {
   return token.kind == 'w' && lowerCase(text.substr(token.begin, token.end - token.begin)) == word;
}

std::string_view trimmed(std::string_view text) {
   constexpr std::string_view blanks = " \t\r\n\f\v";
   const size_t first = text.find_first_not_of(blanks);
   if (first == std::string_view::npos) return {};
   return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// A statement, with SELECT in place of RETURN.
std::string asQuery(std::string_view statement) {
   const Token first = nextToken(statement, 0);
   return isWord(statement, first, "return") ? "SELECT " + std::string(trimmed(statement.substr(first.end)))
                                             : std::string(statement);
}

} // namespace

std::string returnedQuery(std::string_view statement) {
   return "SELECT " + std::string(trimmed(statement.substr(afterKeyword(statement, 0, "return"))));
}

AtomicBody atomicStatements(std::string_view statement) {
   std::string all;
   bool returns = false;
   size_t begin = 0, end = 0; // of the statement that is read
   bool isInside = false, isBegin = false;
   const auto take = [&](size_t to) {
      const std::string_view one = trimmed(statement.substr(begin, to - begin));
      if (one.empty()) return;
      all += (all.empty() ? "" : ";\n ") + asQuery(one);
      returns = isWord(one, nextToken(one, 0), "return");
   };
   for (Token token = nextToken(statement, 0); token.begin != token.end; token = nextToken(statement, token.end)) {
      if (!isInside) {
         isInside = isBegin && isWord(statement, token, "atomic");
         isBegin = isWord(statement, token, "begin");
         begin = end = token.end;
         continue;
      }
      if (statement.substr(token.begin, token.end - token.begin) == ";") {
         take(token.begin);
         begin = token.end;
      }
      end = isWord(statement, token, "end") ? token.begin : token.end; // the last END is that of the body
   }
   take(end);
   return {std::move(all), returns};
}

uint32_t positionInBody(std::string_view statement, std::string_view body, uint32_t position) {
   constexpr std::string_view separator = ";\n ", select = "SELECT ";
   const auto bytesOf = [](std::string_view text, size_t characters) {
      size_t at = 0;
      for (; at < text.size(); ++at)
         if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && characters-- == 0) break;
      return at;
   };
   const auto charactersOf = [](std::string_view text) {
      return static_cast<uint32_t>(std::count_if(
          text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
   };
   const size_t at = bytesOf(body, position - 1);
   const size_t before = body.rfind(separator, at);
   size_t begin = before == std::string_view::npos ? 0 : before + separator.size();
   std::string_view one = body.substr(begin, body.find(separator, begin) - begin);
   size_t found = statement.find(one);
   if (found == std::string_view::npos && one.starts_with(select)) { // it was RETURN
      one.remove_prefix(select.size());
      begin += select.size();
      found = statement.rfind(one);
   }
   if (found == std::string_view::npos || at < begin) return 0;
   return charactersOf(statement.substr(0, found + at - begin)) + 1;
}

} // namespace ouzel::engine
