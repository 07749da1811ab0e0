#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// ROW(...).
ExprPtr bindRow(BindState& state, Scope& scope, const ::RowExpr& node);
/// The field of a Row node that has this name. Throws 42703.
ExprPtr selectField(ExprPtr row, std::string_view name);
/// A reference to a column, or to the fields of a row that a subquery passes on.
ExprPtr referTo(const ScopeColumn& column, uint32_t position);
/// Makes columns of the fields of a Row, which a subquery passes on one by one.
void placeRow(BindState& state, Scope& scope, const Expr& row, std::vector<ScopeColumn>& fields,
              std::vector<ComputedColumn>& computed);
/// Rows among the outputs of a statement become text of type record.
void printRows(BindState& state, BoundRel& query);
/// Refuses row values, which no client and no operator gets.
void requireNoRows(const BoundRel& query);
/// The output columns as a FROM item shows them; they belong to `scope` from here on.
std::vector<ScopeColumn> scopeColumns(BindState& state, const Scope& scope, const BoundRel& query);

/// Appends a name to those that a Row has for its fields.
void nameField(Expr& row, std::string_view name);

} // namespace ouzel::sql
