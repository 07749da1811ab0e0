#pragma once
#include "sql/bind/binder.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// What errors call the purpose of an expression.
Clause clauseOf(ExpressionUse use);

/// Implements bindExpression of binder.hpp, with the clause for errors.
BoundExpression bindStandalone(BindState& state, const ::Node& node, Clause clause, const catalog::Relation* table,
                               std::optional<SqlType> target, std::string_view columnName);

} // namespace ouzel::sql
