#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error/sql_error.hpp"

// A body as tokens of SQL, from libpg_query's scanner. Why its parser of PL/pgSQL is not used:
// docs/decisions/015-own-plpgsql-parser.md.

namespace ouzel::sql::program {

enum class TokenKind : uint8_t {
   End,
   Identifier, ///< or a keyword, or a parameter $1
   String,     ///< '...', E'...', $$...$$
   Integer,    ///< that fits int4
   Other,      ///< operators and the rest
};

struct RawToken {
   TokenKind kind = TokenKind::End;
   uint32_t offset = 0, length = 0; ///< in the body, in bytes
};

/// The tokens of a text without its comments. What the scanner refuses is an error only for who reads as far.
class Scanner {
public:
   explicit Scanner(std::string_view text);

   /// The token at this index; End behind the last. Throws the scanner's error.
   const RawToken& at(size_t index) const;
   std::string_view text(const RawToken& token) const { return text_.substr(token.offset, token.length); }

   /// Character position, from 1, of a byte offset.
   uint32_t position(uint32_t offset) const;

private:
   std::string_view text_;
   std::vector<RawToken> tokens_;
   std::unique_ptr<SqlError> error_;
};

/// The name that an identifier's text stands for: without quotes, or in lower case; at most 63 bytes of it.
std::string identifierName(std::string_view text);

} // namespace ouzel::sql::program
