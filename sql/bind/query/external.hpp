#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// read_csv(...) and read_parquet(...): external.cpp. Null when the node is something else.
std::optional<FromItem> bindExternal(BindState& state, Scope& scope, const ::RangeFunction& node);

} // namespace ouzel::sql
