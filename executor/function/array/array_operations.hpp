#pragma once
#include "common/type/array.hpp"

// Helpers of array functions: comparing elements and arrays.

namespace ouzel::executor {

/// Three-way comparison of two values of one type, neither NULL.
int compareElements(const Value& a, const Value& b);
bool equalElements(const Value& a, const Value& b);
/// PostgreSQL's array_cmp: elements in order (NULL last), then number of elements, then dimensions.
int compareArrays(const ArrayValue& a, const ArrayValue& b);
/// The element type of an array type; invalidOid if the type is no array type.
Oid elementTypeOf(Oid arrayType);

} // namespace ouzel::executor
