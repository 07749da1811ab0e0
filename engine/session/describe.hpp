#pragma once
#include <span>

#include "engine/core/session_core.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::engine {

/// The description of a statement for Describe, before it runs: types of parameters and of result columns. REQUIRES: a
/// transaction.
StatementDescription describeStatement(SessionCore& core, const sql::ParsedScript& script,
                                       const sql::ParsedStatement& statement, std::span<const Oid> parameterTypes);

} // namespace ouzel::engine
