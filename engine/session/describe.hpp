#pragma once
#include <span>

#include "engine/core/session_core.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::engine {

/// What a client may be told before a statement runs. Types parameters and result; needs a transaction.
StatementDescription describeStatement(SessionCore& core, const sql::ParsedScript& script,
                                       const sql::ParsedStatement& statement, std::span<const Oid> parameterTypes);

} // namespace ouzel::engine
