#pragma once
#include <functional>
#include <span>

#include "sql/bind/state/bind_state.hpp"

// Operands that an expansion names several times: x IN (a, b) is x = a OR x = b, (x, y) < (a, b) names x twice.

namespace ouzel::sql {

/// Whether copies would not do: the value is volatile or has a subquery, whose columns are made once.
bool isWorthSharing(const Expr& value);

/// Calls `use` to build an expression over the values, which it may copy. A value that is worth sharing is evaluated
/// once, and `use` finds a reference to it in its place. `depth`: of the scope that the values were bound in.
ExprPtr shareValues(BindState& state, uint32_t depth, std::span<ExprPtr* const> values,
                    const std::function<ExprPtr()>& use, bool isCostly = false);

} // namespace ouzel::sql
