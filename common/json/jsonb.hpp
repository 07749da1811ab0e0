#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/value/string_view.hpp"

// The bytes of a jsonb value (PhysicalType::String) and how they are read in place.
//
// Every value begins with a header byte: its type in the high three bits, five bits of payload below (Durner,
// "Efficient Query Processing on Modern Hardware", JSON Tiles, section 5). All numbers are little-endian and unaligned.
//
//   type          payload                     what follows
//   0 literal     0 null, 1 false, 2 true     nothing
//   1 integer     0..31: the value            nothing; display scale 0
//   2 number      bytes of the decimal, 0..27; 28..31: they stand in the next 1..4 bytes
//                                             a decimal of common/number/decimal.hpp, finite, with its display scale
//   3 string      bytes of the text, likewise the text: valid UTF-8 without a zero byte
//   4 array       width w of the words, 1, 2 or 4 bytes
//                                             count; `count` ends of elements; the elements
//   5 object      width w, likewise           count; `count` ends of keys; `count` ends of values; the keys; the values
//
// Ends count from where the first key or element begins. Keys are sorted by length, then by bytes, as PostgreSQL sorts
// them, and differ. A value without its header's type or with ends that do not grow is damaged. The form is canonical:
// values that print alike have equal bytes; values that are equal may differ in bytes (1.0 and 1.00).

namespace ouzel::json {

enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object };

/// A jsonb value read in place; the bytes outlive it. Immutable; copies are cheap. Whatever reads the header throws
/// XX001 where the bytes end early.
class JsonbView {
public:
   /// `bytes` begin with a value and may go on after it.
   explicit JsonbView(std::string_view bytes);

   Kind kind() const { return kind_; }
   bool isScalar() const { return kind_ < Kind::Array; }
   /// The value from its header to its end.
   std::string_view bytes() const;

   bool boolean() const;      ///< REQUIRES: kind() == Kind::Boolean
   StringView number() const; ///< a decimal; REQUIRES: kind() == Kind::Number
   /// The value of a number that lies in its header: an integer of at most 31.
   std::optional<uint32_t> smallInteger() const;
   std::string_view string() const; ///< REQUIRES: kind() == Kind::String

   uint32_t size() const { return isScalar() ? 0 : size_; } ///< elements or members
   /// Element of an array or value of an object's member. REQUIRES: i < size().
   JsonbView element(uint32_t i) const;
   /// Key of an object's member. REQUIRES: kind() == Kind::Object, i < size().
   std::string_view key(uint32_t i) const;
   /// Where an object has the key; O(log size()).
   std::optional<uint32_t> indexOf(std::string_view key) const;
   /// The value of a member; nothing if there is no such key or this is no object.
   std::optional<JsonbView> find(std::string_view key) const;

private:
   bool isSmallInteger() const;
   size_t end() const;          ///< of a container
   size_t valueEnds() const;    ///< where the ends of elements or values stand
   size_t firstKey() const;     ///< where the keys begin
   size_t firstElement() const; ///< where the elements or values begin
   uint32_t endOf(size_t ends, uint32_t i) const;
   std::string_view item(size_t ends, size_t first, uint32_t i) const;

   std::string_view bytes_;
   Kind kind_ = Kind::Null;
   uint8_t width_ = 0;  ///< of an array's or object's words
   uint32_t size_ = 0;  ///< elements, members, bytes of a scalar's content, or the payload of a header without content
   uint32_t start_ = 0; ///< where ends, or a scalar's content, begin
};

/// -1, 0 or 1 by the order of jsonb's B-tree: Object > Array > Boolean > Number > String > Null, but an array without
/// elements is the smallest.
int compare(JsonbView a, JsonbView b);
bool equal(JsonbView a, JsonbView b);
/// a @> b.
bool contains(JsonbView a, JsonbView b);

} // namespace ouzel::json
