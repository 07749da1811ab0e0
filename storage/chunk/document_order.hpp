#pragma once
#include <span>
#include <vector>

#include "storage/base/column_slice.hpp"

// Durner ("Efficient Query Processing on Modern Hardware", JSON Tiles) sorts the documents of neighbouring tiles by
// what they have, when they are loaded, so that each tile has documents of one kind. Here the rows of some row groups
// that follow each other are sorted, a partition.

namespace ouzel::storage {

inline constexpr uint32_t partitionGroupsMax = 8; ///< row groups of a partition

/// The rows of a partition, sorted by the keys that their documents have on top; else as they were. Empty if documents
/// of different keys are rare, or lie apart already. `documents`: those of each row group, of which all but the last
/// are full; their rows are counted through.
std::vector<uint32_t> orderByKeys(std::span<const ColumnSlice> documents);

/// Copies of columns in another order of rows. Owned by one worker, which uses the same memory again.
class SortedColumns {
public:
   /// The rows `order` of a partition. `groups`: the columns of each of its row groups. Valid until the next call.
   /// Strings stay where they are.
   std::vector<ColumnSlice> sort(std::span<const std::vector<ColumnSlice>> groups, std::span<const uint32_t> order);

private:
   struct Column {
      std::vector<int128> values; ///< aligned memory for any type
      std::vector<ValidityWord> validity;
   };
   std::vector<Column> columns_;
};

} // namespace ouzel::storage
