#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// An array expression. REQUIRES: the elements have the array's element type.
ExprPtr makeArrayExpr(std::vector<ExprPtr> elements, Oid array, uint32_t position);
/// Binds ARRAY[...]. The hints are the array and element type of a cast around the constructor; invalidOid: no cast.
ExprPtr bindArray(BindState& state, Scope& scope, const ::A_ArrayExpr& node, Oid arrayTypeHint, Oid elementHint,
                  int32_t typmod);
/// Subscripts and field selection: a[1], (row).field.
/// `endsInStar`: `(row).*`, of which the row is bound; elsewhere the star is an error.
ExprPtr bindIndirection(BindState& state, Scope& scope, const ::A_Indirection& node, bool endsInStar = false);

} // namespace ouzel::sql
