#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/parse/parser.hpp"

// The query id of a statement, and its text without constants, as pg_stat_statements shows them. A query's id is a hash
// of its words and signs, in which each constant counts by its kind only: queries that differ in constants, blanks,
// comments or the case of words have one id. PostgreSQL hashes the analysed query instead, so it also ignores aliases,
// and tells tables of one name in several schemas apart. Any other statement's id is a hash of its text.

namespace ouzel::sql {

/// Never 0. The same in all versions and on all machines of one byte order.
uint64_t fingerprint(const ParsedStatement& statement);
/// Of the first statement of the text; 0 for a text that is no SQL. Thread-safe.
uint64_t fingerprintOfText(std::string_view sql);

/// The statement with $1, $2, ... in the place of the constants of a query, also of one that PREPARE names. The numbers
/// go on behind those of the query's parameters. Other statements are shown as they are.
std::string normalizedText(const ParsedStatement& statement);

/// Whether it is no query, or one that makes a table of its rows.
bool isCommand(const ParsedStatement& statement);

} // namespace ouzel::sql
