#pragma once
#include "sql/bind/state/bind_state.hpp"

struct CurrentOfExpr;

namespace ouzel::sql {

/// WHERE CURRENT OF as a condition on the target, which is the first item of the scope: the row is the one that the
/// cursor is on. Throws 0A000 for a view, 34000 and 24000 for a cursor that is not on a row of the table.
ExprPtr isCurrentRow(BindState& state, Scope& scope, const ::CurrentOfExpr& current);

/// Adds columns to the query of a cursor that tell where its rows lie, if they are rows of tables: the one table that
/// it reads without joining or sorting, or those that it locks.
void addRowPlaces(BindState& state, BoundQuery& query);

} // namespace ouzel::sql
