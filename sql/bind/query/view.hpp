#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds a view in FROM: binds the view's definition as a subquery.
FromItem bindView(BindState& state, Scope& scope, const catalog::RelationPtr& view, const ::Alias* alias,
                  uint32_t position);

} // namespace ouzel::sql
