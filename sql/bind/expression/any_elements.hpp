#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// `left op ANY (array)`, or ALL, with an operator of a user, as a subquery over the elements; null: the operator is
/// another one, or the array is written as ARRAY[...]. Throws 0A000 where no subquery may stand.
ExprPtr anyOfElements(BindState& state, const Scope& scope, std::string_view name, ExprPtr& left, ExprPtr& right,
                      bool isAll, uint32_t position);

} // namespace ouzel::sql
