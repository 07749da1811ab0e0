#pragma once
#include "common/type/array.hpp"
#include "executor/kernel/compare.hpp"

namespace ouzel::executor {

/// The order of values of a type inside of arrays.
ValueOrder elementOrder(Oid type, PhysicalType physical);

/// PostgreSQL's array_cmp, the order of arrays of one element type: elements in order (NULL last), then their number,
/// then the dimensions.
int compareArrays(const ArrayView& a, const ArrayView& b);

/// The order of two values of a type with order keys (common/type/order_key.hpp).
int compareOrdered(Oid type, std::string_view a, std::string_view b);

} // namespace ouzel::executor
