#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Cast arguments to what the function wants, spread variadics into arrays, add defaults. `declared` as resolved.
void coerceArguments(BindState& state, std::vector<ExprPtr>& args, std::span<const Oid> declared);
/// Call a built-in function by name with bound arguments.
ExprPtr callFunction(BindState& state, Scope& scope, std::string_view name, std::vector<ExprPtr> args,
                     uint32_t position);
/// A call of a function, an aggregate or a window function; also a cast written as a call.
ExprPtr bindFunctionCall(BindState& state, Scope& scope, const ::FuncCall& call);
/// The same of a FROM item, which may return a set or several columns.
ExprPtr bindFromCall(BindState& state, Scope& scope, const ::FuncCall& call);

} // namespace ouzel::sql
