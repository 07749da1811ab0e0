#pragma once
#include <functional>
#include <span>

#include "sql/bind/state/bind_state.hpp"

// Operands that an expansion names several times: x IN (a, b) is x = a OR x = b, (x, y) < (a, b) names x twice.

namespace ouzel::sql {

/// Which values shareValues() evaluates once. A shared value becomes a subquery, which CHECK constraints and joins
/// other than inner ones do not take, so that it has to be worth it.
enum class Sharing : uint8_t {
   Subqueries,  ///< values with subqueries, whose columns may be made only once
   SideEffects, ///< and volatile values
   All,
};
bool isShared(const Expr& value, Sharing sharing);

/// Calls `use` to build an expression over the values, which it may copy. A shared value is evaluated once, and `use`
/// finds a reference to it in its place. `depth`: of the scope that the values were bound in.
ExprPtr shareValues(BindState& state, uint32_t depth, std::span<ExprPtr* const> values,
                    const std::function<ExprPtr()>& use, Sharing sharing);

} // namespace ouzel::sql
