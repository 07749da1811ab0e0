#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds ROW(...).
ExprPtr bindRow(BindState& state, Scope& scope, const ::RowExpr& node);
/// Extracts the field of this name from a Row node. Throws 42703.
ExprPtr selectField(ExprPtr row, std::string_view name);
/// A reference to a column. For a row value of a subquery: a Row of references to its fields.
ExprPtr referTo(const ScopeColumn& column, uint32_t position);
/// Makes the fields of a Row into columns, because a subquery passes on fields and not rows. Appends the columns to
/// `fields`, and the expressions to compute to `computed`.
void placeRow(BindState& state, Scope& scope, const Expr& row, std::vector<ScopeColumn>& fields,
              std::vector<ComputedColumn>& computed);
/// Replaces row values in a statement's output by their text, with type record.
void printRows(BindState& state, BoundRel& query);
/// Throws 0A000 if the query's output has row values.
void requireNoRows(const BoundRel& query);
/// The query's output as columns of a FROM item; makes `scope` their owner.
std::vector<ScopeColumn> scopeColumns(BindState& state, const Scope& scope, const BoundRel& query);

} // namespace ouzel::sql
