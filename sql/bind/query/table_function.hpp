#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Joins `rel` with the functions of several columns that the select list calls.
RelPtr placeRowFunctions(BindState& state, RelPtr rel, Scope& scope);
/// Binds a function in FROM, with ROWS FROM and WITH ORDINALITY.
FromItem bindTableFunction(BindState& state, Scope& scope, const ::RangeFunction& node);

} // namespace ouzel::sql
