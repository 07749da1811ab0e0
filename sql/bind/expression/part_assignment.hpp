#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// The new value of a column of which a part is set to `value`: `column['a'][0]` of jsonb, `column[1]` of an array,
/// `column.field` of a row type, and parts of parts. `base`: its old value. A domain's checks are left to the caller.
/// Throws 42804 if the value does not fit, 42703 for a field that is not there.
ExprPtr bindPartAssignment(BindState& state, Scope& scope, const catalog::Column& column, ExprPtr base, ExprPtr value,
                           const ::List* indirection, uint32_t position);
/// The type of the value that is given for the part. Throws as bindPartAssignment().
SqlType partType(BindState& state, const catalog::Column& column, const ::List* indirection, uint32_t position);

} // namespace ouzel::sql
