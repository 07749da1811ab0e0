#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/value/form_oids.hpp"
#include "common/value/sql_type.hpp"

// Base types that have a file of their own: bit strings, network addresses, money, ... A type's file gives one
// TypeForm, and type_form.cpp lists them all. Texts, wire formats, casts to a length, comparisons and the binder look
// the type up here. Nothing but its functions (executor/function/base_type) then knows it by name.
//
// The values of such a type lie as integers or as strings whose order is the order of the values, and which are equal
// where the values are: so sorts, joins, groups, zone maps and indexes need to know nothing of the type. Types without
// an order (isOrdered) are not sorted, joined or grouped by.

namespace ouzel {

/// What is known of a type, for all rooms. The functions take the place of one value (not NULL), an int64_t or a
/// StringView as storedRepresentation() says.
struct TypeForm {
   Oid oid;
   int16_t wireSize;   ///< typlen: bytes of the binary form, -1: they differ
   uint8_t textGrowth; ///< an upper guess of the bytes of text for each byte of a value
   void (*appendText)(std::string& out, const void* value);
   /// The input function. Throws 22P02, ... with PostgreSQL's words.
   void (*parseText)(void* target, std::string_view text, int32_t typmod, Arena& arena);
   void (*appendBinary)(std::string& out, const void* value);
   /// The receive function. Throws 22P03, 08P01, ...
   void (*parseBinary)(void* target, std::string_view bytes, int32_t typmod, Arena& arena);
   /// The cast of a string value to a modifier; null: the type has no modifier. Allocates from the arena.
   StringView (*applyTypmod)(StringView value, int32_t typmod, bool isExplicit, Arena& arena) = nullptr;
   /// The modifier of what stands in parentheses behind the type's name. Throws 22023.
   int32_t (*typmodOf)(std::span<const int32_t> values) = nullptr;
   /// appendText() where the text has floats, which the session may round; null: it has none.
   void (*appendRounded)(std::string& out, const void* value, int32_t extraFloatDigits) = nullptr;
   /// The order of values, and their equality, are those of what they lie as. False: they have no order, and their
   /// operators are functions.
   bool isOrdered = true;
};

/// Between the elements of an array's text.
constexpr char arrayDelimiter(Oid element) {
   return element == oid::box ? ';' : ',';
}

/// Null: the type has no form here.
const TypeForm* findTypeForm(Oid type);

template <typename T>
T valueAt(const void* place) {
   T value;
   std::memcpy(static_cast<void*>(&value), place, sizeof value);
   return value;
}
template <typename T>
void putValue(void* target, T value) {
   std::memcpy(target, &value, sizeof value);
}

/// Order-preserving signed form of an unsigned 64-bit number, and back.
constexpr int64_t orderedUnsigned(uint64_t value) {
   return static_cast<int64_t>(value ^ (uint64_t{1} << 63));
}
constexpr uint64_t unsignedOf(int64_t ordered) {
   return static_cast<uint64_t>(ordered) ^ (uint64_t{1} << 63);
}

} // namespace ouzel
