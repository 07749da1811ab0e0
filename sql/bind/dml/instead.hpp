#pragma once
#include "sql/bind/state/bind_state.hpp"

// INSERT, UPDATE and DELETE of a view with INSTEAD OF triggers: a query makes the view's rows, the triggers get each of
// them, and the rows that they return count as written.

namespace ouzel::sql {

/// `view`: the statement's target, which has INSTEAD OF triggers for the event.
BoundRel bindInstead(BindState& state, Scope& scope, const ::Node& statement, const catalog::RelationPtr& view);

} // namespace ouzel::sql
