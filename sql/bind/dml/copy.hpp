#pragma once
#include "sql/bind/binder.hpp"
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The INSERT that a COPY FROM is: `copy.input`'s rows, WHERE, defaults and generated columns, into the table.
BoundRel bindCopy(BindState& state, const CopyRows& copy);

} // namespace ouzel::sql
