#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/vector.hpp"

// Order keys of arrays: bytes whose order is the order of the arrays, and which are equal where the arrays are. The
// bytes of equal arrays themselves may differ: {1.0} and {1.00}, {-0} and {0}, {1 day} and {24:00:00}.
//
//   per element   1 and its key; 2 for NULL, which is the largest
//   end           0: a shorter array precedes a longer one that begins like it
//   dimensions    their number, then length and lower bound of each
//
// Integers are big-endian with the sign bit flipped. A text ends with two zeros, a zero in it is followed by 1.

namespace ouzel {

/// Appends the key of an array value.
void appendArrayKey(std::string& out, std::string_view array);

/// True for array types that key columns compare by order keys.
bool hasArrayKey(const SqlType& type);

/// The keys of the first `count` rows of a vector of arrays, as strings in the arena; NULLs stay.
Vector arrayKeys(const Vector& arrays, uint32_t count, Arena& arena);

} // namespace ouzel
