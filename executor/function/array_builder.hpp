#pragma once
#include <string>

#include "common/type/array.hpp"
#include "common/value/vector.hpp"
#include "executor/function/value_builder.hpp"

namespace ouzel::executor {

/// Makes an array value in the arena that will own it, element by element. Throws what ValueBuilder throws, and 54000
/// for more than arrayElementsMax elements.
class ArrayBuilder {
public:
   ArrayBuilder(Arena& arena, Oid elementType)
      : bytes_(arena), elementType_(elementType), physical_(arrayElementPhysical(elementType)) {}

   PhysicalType physical() const { return physical_; }
   uint32_t size() const { return count_; }
   /// Makes room for elements of so many bytes, which saves copies.
   void reserve(size_t bytes) { bytes_.reserve(std::min<size_t>(bytes + headerBytes, StringView::lengthMax)); }
   void addNull();
   /// A value as it lies in a flat vector of type physical(), at any alignment.
   void add(const void* value);
   void addText(std::string_view text);
   /// The value at a row, perhaps NULL; an integer of another width than the elements' is converted. `typmod`: of the
   /// value's type; a character(n) gets its blanks.
   void add(const Vector& vector, uint32_t row, int32_t typmod = -1);
   /// A character(n) with its blanks.
   void addPadded(std::string_view text, int32_t typmod);
   void addAll(const ArrayView& array);
   /// The array with one dimension, or an empty array if there are no elements. Ends the builder.
   StringView finish(int32_t lower = 1);
   /// Throws 54000 for more than 6 dimensions. REQUIRES: the product of the lengths is size().
   StringView finish(std::span<const ArrayDimension> dimensions);

private:
   static constexpr size_t headerBytes = 64; ///< of an array of one dimension without NULLs
   void count(bool isNull);

   ValueBuilder bytes_; ///< of the elements
   std::string nulls_;  ///< the bitmap; empty as long as there is no NULL
   const Oid elementType_;
   const PhysicalType physical_;
   uint32_t count_ = 0;
};

inline constexpr uint32_t arrayElementsMax = 134217727; ///< PostgreSQL's MaxArraySize

} // namespace ouzel::executor
