#pragma once
#include "common/type/array.hpp"

namespace ouzel::executor {

/// PostgreSQL's array_cmp, the order of arrays of one element type: elements in order (NULL last), then their number,
/// then the dimensions.
int compareArrays(const ArrayView& a, const ArrayView& b);

} // namespace ouzel::executor
