#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"
#include "common/value/vector.hpp"

// Order keys: bytes whose order is the order of the values, and which are equal where the values are. Arrays, rows,
// ranges, jsonb, citext, cube and bpchar without a length have them, since the bytes of equal values themselves may
// differ: {1.0} and {1.00}, {-0} and {0}, {1 day} and {24:00:00}, [1.0] and [1.00], 'A' and 'a', 'a' and 'a '. The key
// of a bpchar is the text without the blanks at its end, that of a citext the text in small letters, that of a row its
// fields as the elements of an array, that of an array:
//
//   per element   1 and its key; 2 for NULL, which is the largest
//   end           0: a shorter array precedes a longer one that begins like it
//   dimensions    their number, then length and lower bound of each
//
// that of an oidvector the number of its elements before that,
// and that of jsonb:
//
//   type          0 for an array without elements that is the whole value, else 1 to 6 in the order of types
//   scalar        its key
//   container     the number of elements or members, then their keys; a member's is a text and a value
//
// and that of a range:
//
//   emptiness     0 for an empty range, which has no more; else 1
//   lower bound   0: none; else 1, the key of the value, 0 if it is in the range and 1 if not
//   upper bound   1, the key of the value, 0 if it is not in the range and 1 if it is; else 2: none
//
// and that of a multirange: the keys of its ranges, then 0.
//
// and that of a cube: its lower bounds, its upper bounds, and the number of dimensions. That is cube_cmp()'s order,
// but for boxes of different numbers of dimensions whose lower bounds are equal in those that both have.
//
// Integers are big-endian with the sign bit flipped. A text ends with two zeros, a zero in it is followed by 1.

namespace ouzel {

/// Appends the key of an array value.
void appendArrayKey(std::string& out, std::string_view array);
/// Appends the key of a row value, or of its first `fields`. A row with columns that came after it lacks their keys,
/// and precedes.
void appendRowKey(std::string& out, std::string_view row, uint32_t fields = UINT32_MAX);
/// Append the key of a range and of a multirange.
void appendRangeKey(std::string& out, std::string_view range);
void appendMultirangeKey(std::string& out, std::string_view multirange);
/// Appends the key of a jsonb value.
void appendJsonbKey(std::string& out, std::string_view value);

/// Appends the key of a cube.
void appendCubeKey(std::string& out, std::string_view cube);

/// True for types whose values are compared by order keys where others are compared by their bytes.
bool hasOrderKey(const SqlType& type);

/// Appends the key of a value. REQUIRES: hasOrderKey(type).
void appendOrderKey(std::string& out, const SqlType& type, std::string_view value);

/// Appends the key of a value of any type, of which the order of keys is the order and nothing that begins like one is
/// another. REQUIRES: the value is not NULL, and no scaled number.
void appendValueKey(std::string& out, const SqlType& type, const Value& value);

/// The keys of the first `count` rows of a vector, as strings in the arena or in the vector; NULLs stay.
/// REQUIRES: hasOrderKey(type).
Vector orderKeys(const SqlType& type, const Vector& values, uint32_t count, Arena& arena);

} // namespace ouzel
