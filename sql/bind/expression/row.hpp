#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds ROW(...).
ExprPtr bindRow(BindState& state, Scope& scope, const ::RowExpr& node);
/// A reference to a column. For a row value of a subquery: a Row of references to its fields.
ExprPtr referTo(const ScopeColumn& column, uint32_t position);
/// A table's row of the nullable side of an outer join: its fields do not say whether it is there, so it is made a
/// value early. Not so a record, whose fields nobody would know afterwards.
bool mayBeMissing(const Expr& expr);
/// Makes the fields of a Row into columns, because a subquery passes on fields and not rows. Appends the columns to
/// `fields`, and the expressions to compute to `computed`.
void placeRow(BindState& state, Scope& scope, const Expr& row, std::vector<ScopeColumn>& fields,
              std::vector<ComputedColumn>& computed);
/// Makes the rows in a query's output values, as columns of the query level of that depth.
void makeRowsValues(BindState& state, uint32_t depth, BoundRel& query);
/// The query's output as columns of a FROM item; makes `scope` their owner.
std::vector<ScopeColumn> scopeColumns(BindState& state, const Scope& scope, const BoundRel& query);

} // namespace ouzel::sql
