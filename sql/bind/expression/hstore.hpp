#pragma once
#include <vector>

#include "common/base_type/hstore.hpp"
#include "sql/bind/state/bind_state.hpp"

// Subscripts of hstore, the type of an extension.

namespace ouzel::sql {

/// hstore['key']. Throws 0A000 for slices and for more than one subscript, 42804 for one that is no text.
ExprPtr bindHstoreSubscript(BindState& state, Scope& scope, ExprPtr base,
                            const std::vector<const ::A_Indices*>& subscripts);
/// The map `base` with `value`, which is a text, at the subscript.
ExprPtr assignHstore(BindState& state, Scope& scope, ExprPtr base, ExprPtr value,
                     const std::vector<const ::A_Indices*>& subscripts, uint32_t position);

} // namespace ouzel::sql
