#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds read_csv(...), read_json(...) and read_parquet(...) as a FROM item; empty for any other function.
std::optional<FromItem> bindExternal(BindState& state, Scope& scope, const ::RangeFunction& node);

} // namespace ouzel::sql
