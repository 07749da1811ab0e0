#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A window definition, and all calls over it.
struct BoundWindow {
   WindowSpec spec;
   std::vector<WindowCall> calls;
};

/// Binds the definitions of the scope's window calls. Must run before placeGrouping, which rewrites the windows too.
std::vector<BoundWindow> bindWindows(BindState& state, Scope& scope);

} // namespace ouzel::sql
