#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// XMLTABLE(...) in FROM.
FromItem bindXmlTable(BindState& state, Scope& scope, const ::RangeTableFunc& node);

} // namespace ouzel::sql
