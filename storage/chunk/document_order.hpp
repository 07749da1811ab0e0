#pragma once
#include <span>
#include <vector>

#include "storage/base/column_slice.hpp"

// Durner ("Efficient Query Processing on Modern Hardware", JSON Tiles) sorts the documents of neighbouring tiles by
// what they have, when they are loaded, so that each tile has documents of one kind. Here the rows of a row group are
// sorted.

namespace ouzel::storage {

/// The rows of a row group, sorted by the keys that their documents have on top; else as they were. Empty if documents
/// of different keys are rare, or lie apart already.
std::vector<uint32_t> orderByKeys(const ColumnSlice& documents);

/// Copies of columns in another order of rows. Owned by one worker, which uses the same memory again.
class SortedColumns {
public:
   /// Valid until the next call. Strings stay where they are.
   std::vector<ColumnSlice> sort(std::span<const ColumnSlice> columns, const std::vector<uint32_t>& order);

private:
   struct Column {
      std::vector<int128> values; ///< aligned memory for any type
      std::vector<ValidityWord> validity;
   };
   std::vector<Column> columns_;
};

} // namespace ouzel::storage
