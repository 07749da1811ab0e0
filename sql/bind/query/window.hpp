#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A window and all calls over it.
struct BoundWindow {
   WindowSpec spec;
   std::vector<WindowCall> calls;
};

/// Bind the definitions of all window calls collected; must run while the targets still are in input terms.
std::vector<BoundWindow> bindWindows(BindState& state, Scope& scope);

} // namespace ouzel::sql
