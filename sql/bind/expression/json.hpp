#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// jsonb['a'][0]. Throws 42804 for slices and for subscripts that are neither integer nor text.
ExprPtr bindJsonbSubscripts(BindState& state, Scope& scope, ExprPtr base,
                            const std::vector<const ::A_Indices*>& subscripts);
/// The new value of a jsonb column where `column['a'][0]` is set to `value`. `base`: its old value. Throws 0A000 if the
/// column is not jsonb, 42804 if the value is not.
ExprPtr bindPartAssignment(BindState& state, Scope& scope, const catalog::Column& column, ExprPtr base, ExprPtr value,
                           const ::List* indirection, uint32_t position);

/// True for functions that make JSON of values, such as to_json and json_agg.
bool makesJson(const catalog::FunctionInfo& function);
/// A Row as an argument of such a function: the text of an object, with type record.
ExprPtr rowAsJson(BindState& state, const Expr& row);

} // namespace ouzel::sql
