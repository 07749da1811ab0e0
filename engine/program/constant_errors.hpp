#pragma once
#include "engine/core/session_core.hpp"
#include "sql/algebra/rel.hpp"

namespace ouzel::engine {

/// Raises the errors of constants in a query that is not planned as a statement of its own, as its planning would;
/// leaves the query as it is. `columns`: those of the query.
void raiseConstantErrors(SessionCore& core, sql::Rel& root, const std::vector<sql::OutputColumn>& output,
                         sql::ColumnTable& columns);

} // namespace ouzel::engine
