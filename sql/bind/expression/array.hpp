#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// An array expression. REQUIRES: the elements have the array's element type.
ExprPtr makeArrayExpr(std::vector<ExprPtr> elements, Oid array, uint32_t position);
/// Binds ARRAY[...]. The hints are the array and element type of a cast around the constructor; invalidOid: no cast.
ExprPtr bindArray(BindState& state, Scope& scope, const ::A_ArrayExpr& node, Oid arrayTypeHint, Oid elementHint,
                  int32_t typmod);
/// Subscripts and field selection: a[1], (row).field.
/// The bounds of a slice as the last arguments of ouzel_array_slice(array, lower[], upper[], flags). A subscript i
/// beside slices is 1:i.
std::vector<ExprPtr> bindSliceBounds(BindState& state, Scope& scope, const std::vector<const ::A_Indices*>& subscripts,
                                     uint32_t position);
/// `endsInStar`: `(row).*`, of which the row is bound; elsewhere the star is an error.
ExprPtr bindIndirection(BindState& state, Scope& scope, const ::A_Indirection& node, bool endsInStar = false);

} // namespace ouzel::sql
