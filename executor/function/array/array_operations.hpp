#pragma once
#include "common/type/array.hpp"

// What array functions share: comparing elements, taking dimensions apart.

namespace ouzel::executor {

/// Three-way order of two values of one type, neither NULL.
int compareElements(const Value& a, const Value& b);
bool equalElements(const Value& a, const Value& b);
/// PostgreSQL's array_cmp: elements in order (NULL last), then number of elements, then dimensions.
int compareArrays(const ArrayValue& a, const ArrayValue& b);
/// Element type of an array type OID; invalidOid if it is none.
Oid elementTypeOf(Oid arrayType);

} // namespace ouzel::executor
