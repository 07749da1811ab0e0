#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A built-in function that gives one value of a system view's row, such as pg_stat_get_live_tuples(oid), as a subquery
/// over the view; null for any other function.
ExprPtr bindViewValue(BindState& state, const catalog::FunctionInfo& function, const std::vector<ExprPtr>& args);

} // namespace ouzel::sql
