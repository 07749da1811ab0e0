#include "sql/program/keywords.hpp"

#include <algorithm>

namespace ouzel::sql::program {

namespace {

constexpr std::string_view reservedWords[] = {
    "all", "begin", "by",   "case", "declare", "else", "end",    "execute", "for", "foreach", "from", "if",
    "in",  "into",  "loop", "not",  "null",    "or",   "strict", "then",    "to",  "using",   "when", "while"};

constexpr std::string_view unreservedWords[] = {"absolute",
                                                "alias",
                                                "and",
                                                "array",
                                                "assert",
                                                "backward",
                                                "call",
                                                "chain",
                                                "close",
                                                "collate",
                                                "column",
                                                "column_name",
                                                "commit",
                                                "constant",
                                                "constraint",
                                                "constraint_name",
                                                "continue",
                                                "current",
                                                "cursor",
                                                "datatype",
                                                "debug",
                                                "default",
                                                "detail",
                                                "diagnostics",
                                                "do",
                                                "dump",
                                                "elseif",
                                                "elsif",
                                                "errcode",
                                                "error",
                                                "exception",
                                                "exit",
                                                "fetch",
                                                "first",
                                                "forward",
                                                "get",
                                                "hint",
                                                "import",
                                                "info",
                                                "insert",
                                                "is",
                                                "last",
                                                "log",
                                                "merge",
                                                "message",
                                                "message_text",
                                                "move",
                                                "next",
                                                "no",
                                                "notice",
                                                "open",
                                                "option",
                                                "perform",
                                                "pg_context",
                                                "pg_datatype_name",
                                                "pg_exception_context",
                                                "pg_exception_detail",
                                                "pg_exception_hint",
                                                "print_strict_params",
                                                "prior",
                                                "query",
                                                "raise",
                                                "relative",
                                                "return",
                                                "returned_sqlstate",
                                                "reverse",
                                                "rollback",
                                                "row_count",
                                                "rowtype",
                                                "schema",
                                                "schema_name",
                                                "scroll",
                                                "slice",
                                                "sqlstate",
                                                "stacked",
                                                "table",
                                                "table_name",
                                                "type",
                                                "use_column",
                                                "use_variable",
                                                "variable_conflict",
                                                "warning"};

static_assert(std::is_sorted(std::begin(reservedWords), std::end(reservedWords)));
static_assert(std::is_sorted(std::begin(unreservedWords), std::end(unreservedWords)));

} // namespace

bool isReservedWord(std::string_view lowerCase) {
   return std::binary_search(std::begin(reservedWords), std::end(reservedWords), lowerCase);
}

bool isUnreservedWord(std::string_view lowerCase) {
   return std::binary_search(std::begin(unreservedWords), std::end(unreservedWords), lowerCase);
}

} // namespace ouzel::sql::program
