#pragma once
#include <cstdint>

#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// SQL equality and order of two values of one physical type (not NULL). NaN equals NaN and is the largest float.
bool valuesEqual(PhysicalType type, const void* a, const void* b);
int compareValues(PhysicalType type, const void* a, const void* b);

/// Of live rows candidates[0..count), keep those whose value equals column `column` of rows[candidate]; the others are
/// appended to `rejected` and `rejectedCount` raised. Returns how many were kept, in place and in order. NULL equals
/// NULL when `nullsEqual`, else nothing.
uint32_t keepEqual(const RowLayout& layout, uint32_t column, const LiveColumn& source, const std::byte* const* rows,
                   bool nullsEqual, RowIndex* candidates, uint32_t count, RowIndex* rejected, uint32_t& rejectedCount);

/// Whether columns 0..keyCount-1 of two rows are equal, NULL equal to NULL. Made once per loop over rows, after the
/// last row was written.
class RowEquality {
public:
   RowEquality(const RowLayout& layout, uint32_t keyCount);
   bool operator()(const std::byte* a, const std::byte* b) const {
      if (single_ == 4) return load<uint32_t>(a) == load<uint32_t>(b);
      if (single_ == 8) return load<uint64_t>(a) == load<uint64_t>(b);
      return compareColumns(a, b);
   }

private:
   struct Column {
      uint32_t number, offset, size;
      PhysicalType type;
      bool isPlain; ///< equal bytes and only those are equal values
      bool mayHaveNulls;
   };
   template <typename T>
   T load(const std::byte* row) const {
      return *reinterpret_cast<const T*>(row + columns_[0].offset);
   }
   bool compareColumns(const std::byte* a, const std::byte* b) const;

   const RowLayout& layout_;
   std::vector<Column> columns_;
   uint32_t single_ = 0; ///< size of the only key, when it is plain and never NULL
};

} // namespace ouzel::executor
