#pragma once
#include "sql/bind/dml/view_target.hpp"

// The views between a statement that writes a view and the table behind it: WITH CHECK OPTION and the defaults of their
// columns.

namespace ouzel::sql {

/// What the check options of the views ask of a new row of the table, as checks over `row`, innermost view first. What
/// they need is computed above `rel`.
std::vector<Dml::Check> viewChecks(BindState& state, const Scope& scope, const ViewTarget& target,
                                   const std::vector<GetColumn>& row, RelPtr& rel);
/// Whether the views show a stored row of the table, as checks over `row`, innermost view first.
std::vector<Dml::Check> visibilityChecks(BindState& state, const Scope& scope, const ViewTarget& target,
                                         const std::vector<GetColumn>& row, RelPtr& rel);
inline void append(std::vector<Dml::Check>& checks, std::vector<Dml::Check> more) {
   for (Dml::Check& check : more)
      checks.push_back(std::move(check));
}

/// The default that a view gives a column of the table, cast to the column's type; null: it has the table's own. That
/// of an outer view goes before that of an inner one.
ExprPtr viewDefault(BindState& state, const Scope& scope, const ViewTarget& target, int16_t attribute);

} // namespace ouzel::sql
