#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds a view in FROM: binds the view's definition as a subquery.
/// In whose name a view uses its relations, as in RelationAccess: its owner, or with security_invoker who uses the
/// view.
Oid roleBehind(const catalog::Relation& view);
FromItem bindView(BindState& state, Scope& scope, const catalog::RelationPtr& view, const ::Alias* alias);

} // namespace ouzel::sql
