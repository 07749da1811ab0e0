#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// 42883 when values of the type have no order.
void requireOrdering(const SqlType& type, uint32_t position);
/// 42883 when values of the type cannot be compared.
void requireEquality(const SqlType& type, uint32_t position);
/// What ASC, DESC, USING and NULLS of an element of ORDER BY say.
void direction(const BindState& state, const ::SortBy& sort, const SqlType& type, bool& descending, bool& nullsFirst);

} // namespace ouzel::sql
