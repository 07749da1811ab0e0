#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// jsonb['a'][0]. Throws 42804 for slices and for subscripts that are neither integer nor text.
ExprPtr bindJsonbSubscripts(BindState& state, Scope& scope, ExprPtr base,
                            const std::vector<const ::A_Indices*>& subscripts);
/// The new value of a column of which a part is set to `value`: `column['a'][0]` of jsonb, `column.field` of a row
/// type. `base`: its old value. Throws 0A000 for columns of other types, 42804 if the value does not fit.
ExprPtr bindPartAssignment(BindState& state, Scope& scope, const catalog::Column& column, ExprPtr base, ExprPtr value,
                           const ::List* indirection, uint32_t position);

} // namespace ouzel::sql
