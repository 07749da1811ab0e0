#pragma once
#include <cstddef>
#include <string_view>

#include "sql/parse/node_access.hpp"

// The text of pieces of a statement. The raw parse tree has only start positions, and the catalog keeps defaults,
// checks and views as the user wrote them.

namespace ouzel::engine {

struct Token {
   size_t begin = 0, end = 0; ///< byte offsets; begin == end: the end of the text
   char kind = 0;             ///< 'w' word, 's' string or quoted name, 'o' one character of anything else
};

/// The token at or after `from`, blanks and comments skipped. Strings, dollar quotes and quoted names are one token.
Token nextToken(std::string_view text, size_t from);

/// The expression that starts at or after `from` and ends before a comma or closing parenthesis of its own level,
/// before `limit`, or with the text. Blanks at both ends are cut.
std::string_view expressionText(std::string_view text, size_t from, size_t limit);
/// The text between the first parenthesis at or after `from` and the one that closes it.
std::string_view parenthesized(std::string_view text, size_t from);
/// Offset where the i-th constraint of a column's definition ends at the latest: where the next begins.
size_t endOfConstraint(std::string_view text, const sql::ListOf<::Constraint>& constraints, uint32_t i);
/// Offset behind the first word `keyword` (lower case) outside parentheses at or after `from`; npos if there is none.
size_t afterKeyword(std::string_view text, size_t from, std::string_view keyword);
/// Offset behind the SET DEFAULT number `number`, from 0, of an ALTER TABLE that begins at `from`. The SET DEFAULT of a
/// foreign key's ON DELETE or ON UPDATE does not count.
size_t afterSetDefault(std::string_view text, size_t from, size_t number);

} // namespace ouzel::engine
