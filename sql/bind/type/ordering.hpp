#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// Throws 42883 if values of the type have no order.
void requireOrdering(const BindState& state, const SqlType& type, uint32_t position);
/// Throws 42883 if values of the type cannot be compared for equality.
void requireEquality(const BindState& state, const SqlType& type, uint32_t position);
/// The same for a key of ORDER BY, GROUP BY, DISTINCT or a window, which also needs a collation.
void requireSortKey(BindState& state, const Expr& key, uint32_t position);
void requireEqualKey(BindState& state, const Expr& key, uint32_t position);
/// Reads ASC, DESC, USING and NULLS FIRST or LAST of an element of ORDER BY.
void direction(const BindState& state, const ::SortBy& sort, const SqlType& type, bool& descending, bool& nullsFirst);

} // namespace ouzel::sql
