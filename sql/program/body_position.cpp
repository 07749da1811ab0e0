#include <optional>

#include "common/text/utf8.hpp"
#include "sql/program/parse_program.hpp"

namespace ouzel::sql::program {

namespace {

/// Where the byte `offset` of the body stands in a literal '...' that begins, behind its quote, with `literal`;
/// nullopt: the literal is another text.
std::optional<size_t> offsetInLiteral(std::string_view literal, std::string_view body, size_t offset) {
   size_t at = 0, found = 0;
   for (size_t i = 0; i < body.size(); ++i) {
      if (i == offset) found = at;
      if (at < literal.size() && (literal[at] == '\\' || literal.substr(at, 2) == "''")) ++at;
      if (at >= literal.size() || literal[at] != body[i]) return std::nullopt;
      ++at;
   }
   if (offset >= body.size()) found = at;
   if (at >= literal.size() || literal[at] != '\'' || literal.substr(at, 2) == "''") return std::nullopt;
   return found;
}

size_t byteOffset(std::string_view text, uint32_t position) {
   size_t offset = 0;
   for (uint32_t seen = 0; offset < text.size(); ++offset) {
      seen += (static_cast<unsigned char>(text[offset]) & 0xc0) != 0x80;
      if (seen == position) break;
   }
   return offset;
}

} // namespace

uint32_t positionInStatement(std::string_view statement, std::string_view body, uint32_t position) {
   const size_t offset = byteOffset(body, position);
   std::optional<size_t> found;
   for (size_t quote = 0; quote + body.size() + 1 < statement.size(); ++quote) {
      const std::string_view behind = statement.substr(quote + 1);
      std::optional<size_t> here;
      if (statement[quote] == '$' && behind.starts_with(body) && behind.substr(body.size()).starts_with('$'))
         here = offset;
      else if (statement[quote] == '\'')
         here = offsetInLiteral(behind, body, offset);
      if (!here) continue;
      if (found) return 0;
      found = quote + 1 + *here;
   }
   return found ? characterCount(statement.substr(0, *found)) + 1 : 0;
}

} // namespace ouzel::sql::program
