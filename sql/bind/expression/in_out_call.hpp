#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A call of a type's output or input function, int4out(1) or int4in('1'), as the cast that it is. Null if the function
/// is none, and `args` are as they were.
ExprPtr bindInOutCall(const catalog::FunctionInfo& function, std::vector<ExprPtr>& args, uint32_t position);

} // namespace ouzel::sql
