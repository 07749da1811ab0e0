#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/string_view.hpp"
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
// An array does not keep the n of character(n), so each such element lies in it with its blanks.
// All numbers are little-endian and unaligned. Equal arrays of scaled numerics may differ in bytes; elements of numeric
// arrays are always Decimal.

namespace ouzel {

struct ArrayDimension {
   int32_t length;
   int32_t lower;
   bool operator==(const ArrayDimension&) const = default;
};

/// An array read in place; the bytes outlive it. Immutable; copies are cheap. The constructor throws XX000 if the bytes
/// are not an array's.
class ArrayView {
public:
   static constexpr uint32_t dimensionsMax = 6; ///< PostgreSQL's MAXDIM

   explicit ArrayView(std::string_view bytes);

   Oid elementType() const { return elementType_; }
   PhysicalType physical() const { return physical_; }
   uint32_t size() const { return size_; } ///< elements over all dimensions
   bool hasNulls() const { return nulls_ != nullptr; }
   uint32_t dimensionCount() const { return dimensionCount_; }
   /// REQUIRES: i < dimensionCount().
   ArrayDimension dimension(uint32_t i) const;
   std::vector<ArrayDimension> dimensions() const;
   bool isNull(uint32_t i) const { return nulls_ && ((nulls_[i / 8] >> (i % 8)) & 1) != 0; }
   /// The bytes of all elements, as they lie in the array.
   std::string_view elementBytes() const { return elements_; }

   /// Goes over the elements: `for (ArrayView::Cursor element(array); element.next();)`.
   class Cursor {
   public:
      explicit Cursor(const ArrayView& array) : array_(array), at_(array.elements_.data()) {}
      /// Moves to the next element; false: there is none. Throws XX000 where the bytes end early.
      bool next();
      /// The next call of next() gives element i. Takes constant time where all elements are as wide.
      void moveTo(uint32_t i);
      bool isNull() const { return isNull_; }
      uint32_t index() const { return next_ - 1; }
      /// The element as it lies in a flat vector, aligned for 16 bytes; a String or Decimal as a StringView into the
      /// array. Zeros for NULL. A bpchar has no blanks at its end, as comparisons want it.
      const void* value() const { return place_; }
      /// The same, but a bpchar with its blanks: for copies, and where an element leaves the array.
      const void* stored() const { return array_.elementType_ == oid::bpchar ? &padded_ : value(); }
      template <typename T>
      const T& as() const {
         return *reinterpret_cast<const T*>(place_);
      }

   private:
      const ArrayView& array_;
      const char* at_;
      uint32_t next_ = 0;
      bool isNull_ = false;
      alignas(16) std::byte place_[16] = {};
      StringView padded_; ///< of a bpchar
   };

private:
   Oid elementType_ = invalidOid;
   PhysicalType physical_ = PhysicalType::String;
   uint32_t dimensionCount_ = 0, size_ = 0;
   const char* dimensions_ = nullptr;
   const uint8_t* nulls_ = nullptr;
   std::string_view elements_;
};

/// Appends what precedes the elements of an array: header, dimensions and, if `nulls` is not null, the bitmap of that
/// many bytes.
void appendArrayHeader(std::string& out, Oid elementType, PhysicalType physical,
                       std::span<const ArrayDimension> dimensions, const std::string* nulls);

/// An array taken apart. Owns copies of the elements; for catalogs, plans and text, not for many rows.
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
