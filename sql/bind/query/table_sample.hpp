#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Keeps the rows of a table that a TABLESAMPLE clause chooses. `table`: the item that the clause is over.
FromItem bindTableSample(BindState& state, Scope& scope, const ::RangeTableSample& sample, FromItem table);

} // namespace ouzel::sql
