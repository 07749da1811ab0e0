#pragma once
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/state/bind_state.hpp"

// Expressions that the catalog has of a table's rows, in queries.

namespace ouzel::sql {

/// Binds an expression from the catalog over the row in `target`.
ExprPtr bindOverTarget(BindState& state, const catalog::Relation& table, const std::vector<GetColumn>& target,
                       std::string_view text, Clause clause);
/// partsOf(), with the expressions of partition keys bound.
std::shared_ptr<const TableParts> boundParts(BindState& state, const catalog::RelationPtr& table, bool withExtra);

} // namespace ouzel::sql
