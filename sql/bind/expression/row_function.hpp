#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Makes a column for each OUT parameter of the called function; empty for a function without OUT parameters.
std::vector<ScopeColumn> functionColumns(BindState& state, const Scope& scope, const Expr& call);
/// Adds a call of a function with several OUT columns to the scope; gives a Row of these columns. Only in select lists.
ExprPtr registerRowFunction(BindState& state, Scope& scope, ExprPtr call);

/// The same for rows: of a function whose query takes the place of the call.
ExprPtr registerRows(BindState& state, Scope& scope, RelPtr rows, std::vector<ScopeColumn> columns, uint32_t position);

/// True for information_schema._pg_expandarray, which gives an array's elements and their numbers.
bool isExpandArray(const catalog::FunctionInfo& function);

} // namespace ouzel::sql
