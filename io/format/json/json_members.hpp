#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/json/json_lexer.hpp"
#include "io/format/csv/row_splitter.hpp"

// A chunk of JSON rows taken apart: into rows, and a row into the members of its object.

namespace ouzel::io {

/// Gives the rows of a chunk that JsonSplitter has cut. Blank lines are no rows. Owns nothing.
class JsonLines {
public:
   explicit JsonLines(const CopyChunk& chunk) : left_(chunk.bytes()), line_(chunk.firstLine) {}

   /// Moves to the next row, without its line break; false: there is none.
   bool next(std::string_view& row);
   /// The line, or element, of the row that next() gave last.
   uint64_t line() const { return line_ - 1; }

private:
   std::string_view left_;
   uint64_t line_; ///< of what is left
};

/// How errors name a row: "line 3", "element 3".
std::string rowName(bool countsElements, uint64_t line);

/// The text that a string of JSON stands for. `decoded` holds it if it has escapes. Throws 22P05 for \u0000, 22P02 for
/// half a surrogate pair.
inline std::string_view textOfString(std::string_view lexeme, std::string& decoded) {
   const std::string_view inner = lexeme.substr(1, lexeme.size() - 2);
   if (inner.find('\\') == std::string_view::npos) return inner;
   json::Lexer lexer(lexeme, true);
   lexer.next();
   return decoded = lexer.string();
}

[[noreturn]] void throwNoObject(json::Lexer& lexer);

/// Calls member(key, index, lexer) for each member of the object that the row has to be. `key` is as it stands in the
/// row, in its quotes. The callback finds the lexer at the colon and leaves it behind the value, not decoding strings.
/// Throws 22P02 for what is no JSON, 22P04 for a value that is no object.
template <typename Member>
void forEachMember(std::string_view row, Member&& member) {
   using json::Token;
   json::Lexer lexer(row, false);
   lexer.next();
   if (lexer.token() != Token::ObjectStart) throwNoObject(lexer);
   lexer.next();
   for (uint32_t index = 0; index > 0 || lexer.token() != Token::ObjectEnd; ++index) {
      if (lexer.token() != Token::String) lexer.failExpected(index == 0 ? "string or \"}\"" : "string");
      const std::string_view key = lexer.lexeme();
      lexer.next();
      if (lexer.token() != Token::Colon) lexer.failExpected("\":\"");
      member(key, index, lexer);
      if (lexer.token() == Token::ObjectEnd) break;
      if (lexer.token() != Token::Comma) lexer.failExpected("\",\" or \"}\"");
      lexer.next();
   }
   lexer.next();
   if (lexer.token() != Token::End) lexer.failExpected("end of input");
}

} // namespace ouzel::io
