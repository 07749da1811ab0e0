#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Binds EXISTS, IN (SELECT ...), scalar and ARRAY subqueries, op ANY and op ALL.
ExprPtr bindSubLink(BindState& state, Scope& scope, const ::SubLink& node);
/// Binds ROW(...) op (SELECT ...).
ExprPtr bindRowSubquery(BindState& state, Scope& scope, std::string_view name, ExprPtr row, const ::SubLink& node,
                        uint32_t position);

} // namespace ouzel::sql
