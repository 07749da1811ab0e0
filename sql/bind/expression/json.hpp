#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// jsonb['a'][0]. Throws 42804 for slices and for subscripts that are neither integer nor text.
ExprPtr bindJsonbSubscripts(BindState& state, Scope& scope, ExprPtr base,
                            const std::vector<const ::A_Indices*>& subscripts);
/// The jsonb value `base` with `value`, which is jsonb too, at the subscripts.
ExprPtr assignJsonb(BindState& state, Scope& scope, ExprPtr base, ExprPtr value,
                    const std::vector<const ::A_Indices*>& subscripts, uint32_t position);

} // namespace ouzel::sql
