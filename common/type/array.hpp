#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// The bytes of an array value (PhysicalType::String). int2vector and oidvector have the same form with lower bound 0.
//
//   offset  size        what
//   0       4           element type OID
//   4       1           physical type of the elements
//   5       1           1 if there is a null bitmap
//   6       2           number of dimensions, 0 for an empty array
//   8       8 each      per dimension: int32 length, int32 lower bound
//   ...     (n+7)/8     null bitmap, bit set = NULL, only if byte 5 says so
//   ...                 elements in row-major order: fixed-size ones as they lie in a flat vector, variable-size ones
//                       as uint32 length and bytes; a NULL takes no place
// All numbers are little-endian and unaligned. Equal arrays of scaled numerics may differ in bytes; elements of numeric
// arrays are always Decimal.

namespace ouzel {

struct ArrayDimension {
   int32_t length;
   int32_t lower;
   bool operator==(const ArrayDimension&) const = default;
};

/// An array taken apart. Owns copies of the elements.
struct ArrayValue {
   Oid elementType = invalidOid;
   PhysicalType physical = PhysicalType::String;
   std::vector<ArrayDimension> dimensions;
   std::vector<Value> elements;
};

/// How elements of a type lie in an array: the stored representation, but Decimal for numeric.
PhysicalType arrayElementPhysical(Oid elementType);

/// Bytes of a one-dimensional array; empty if there are no elements.
std::string makeArray(Oid elementType, std::span<const Value> elements, int32_t lower = 1);
std::string makeArray(const ArrayValue& array);
/// Throws XX000 if the bytes are not an array's.
ArrayValue readArray(std::string_view bytes);
/// Number of elements over all dimensions, without reading them.
uint32_t arraySize(std::string_view bytes);

} // namespace ouzel
