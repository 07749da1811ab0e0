#pragma once
#include "sql/bind/binder.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// What bindExpression of binder.hpp does, under a clause.
BoundExpression bindStandalone(BindState& state, const ::Node& node, Clause clause, const catalog::Relation* table,
                               std::optional<SqlType> target, std::string_view columnName);

} // namespace ouzel::sql
