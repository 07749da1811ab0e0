#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// ARRAY[...] of elements that have its element type.
ExprPtr makeArrayExpr(std::vector<ExprPtr> elements, Oid array, uint32_t position);
/// ARRAY[...]. The hints are the types that a cast around it asks for; invalidOid: none.
ExprPtr bindArray(BindState& state, Scope& scope, const ::A_ArrayExpr& node, Oid arrayTypeHint, Oid elementHint,
                  int32_t typmod);
/// Subscripts and field selection: a[1], (row).field.
ExprPtr bindIndirection(BindState& state, Scope& scope, const ::A_Indirection& node);

} // namespace ouzel::sql
