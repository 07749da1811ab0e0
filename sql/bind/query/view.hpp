#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// A view in FROM.
FromItem bindView(BindState& state, Scope& scope, const catalog::RelationPtr& view, const ::Alias* alias,
                  uint32_t position);

} // namespace ouzel::sql
