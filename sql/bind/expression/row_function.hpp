#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// New columns for the OUT columns of a call; empty if it gives one value of its type.
std::vector<ScopeColumn> functionColumns(BindState& state, const Scope& scope, const Expr& call);
/// A function of several OUT columns in a select list: a Row of the columns it gives.
ExprPtr registerRowFunction(BindState& state, Scope& scope, ExprPtr call);

/// Whether it is information_schema's helper: the elements of an array and their numbers.
bool isExpandArray(const catalog::FunctionInfo& function);

} // namespace ouzel::sql
