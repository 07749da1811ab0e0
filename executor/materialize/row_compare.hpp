#pragma once
#include <cstdint>

#include "executor/materialize/row_layout.hpp"

namespace ouzel::executor {

/// SQL equality and order of two values of one physical type (not NULL). NaN equals NaN and is the largest float.
bool valuesEqual(PhysicalType type, const void* a, const void* b);
int compareValues(PhysicalType type, const void* a, const void* b);

/// Of live rows candidates[0..count), keep the rows whose value equals column `column` of rows[candidate], in place and
/// in order, and return their number. The other rows are appended to `rejected`, and `rejectedCount` grows by their
/// number. With `nullsEqual` NULL equals NULL, else NULL equals no value.
uint32_t keepEqual(const RowLayout& layout, uint32_t column, const LiveColumn& source, const std::byte* const* rows,
                   bool nullsEqual, RowIndex* candidates, uint32_t count, RowIndex* rejected, uint32_t& rejectedCount);

/// Whether columns 0..keyCount-1 of two rows with hashes of them are equal, NULL equal to NULL. Made for one loop over
/// rows, after the last row was written, since it keeps which columns may have NULLs. Immutable; thread-safe.
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
      bool isPlain; ///< values are equal if and only if their bytes are equal
      bool mayHaveNulls;
   };
   template <typename T>
   T load(const std::byte* row) const {
      return *reinterpret_cast<const T*>(row + columns_[0].offset);
   }
   bool compareColumns(const std::byte* a, const std::byte* b) const;

   const RowLayout& layout_;
   std::vector<Column> columns_;
   uint32_t single_ = 0; ///< size of the only key column if it is plain and has no NULL, else 0
};

} // namespace ouzel::executor
