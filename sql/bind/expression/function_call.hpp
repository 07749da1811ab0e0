#pragma once
#include "sql/bind/state/bind_state.hpp"
#include "sql/bind/state/routine_call.hpp"

namespace ouzel::sql {

/// Casts each argument to the type in `declared`, which has the parameter types after resolution.
void coerceArguments(BindState& state, std::vector<ExprPtr>& args, std::span<const Oid> declared);
/// Calls a built-in function by name with bound arguments.
ExprPtr callFunction(BindState& state, Scope& scope, std::string_view name, std::vector<ExprPtr> args,
                     uint32_t position);
/// Binds a call of a function, an aggregate or a window function, or a cast that is written as a call.
ExprPtr bindFunctionCall(BindState& state, Scope& scope, const ::FuncCall& call);
/// A call that is a FROM item; the function may return a set or several columns.
struct FromCall {
   ExprPtr call;                      ///< null: `rows`
   std::optional<RoutineRows> rows{}; ///< of a function whose query takes the place of the call
   std::string outName{};             ///< of the only OUT parameter, which names the only column; empty: none
};
/// `definitions`: the column definition list, or null.
FromCall bindFromCall(BindState& state, Scope& scope, const ::FuncCall& call, const ::List* definitions);

} // namespace ouzel::sql
