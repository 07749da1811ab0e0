#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/value/batch.hpp"
#include "storage/base/ids.hpp"

namespace ouzel::storage {

struct ColumnStatistics {
   /// Bounds that hold for every row of the snapshot (and perhaps for deleted ones); empty when there is no value, and
   /// for intervals and decimals. Of strings only the first 15 bytes.
   std::optional<Value> min, max;
   double nullFraction = 0;
   double distinct = 0;     ///< estimate of distinct non-NULL values, at most the row count
   double averageWidth = 0; ///< bytes of a non-NULL value
};

/// Some rows of the table, drawn evenly: dense flat vectors of all its columns.
struct SampleRows {
   Batch batch;
   Arena arena; ///< owns what `batch` points at
};

/// What planning may know of a table under one snapshot. Made without fetching blocks. Immutable, shared by plans.
struct TableStatistics {
   uint64_t rowCount = 0;   ///< delta included, deleted rows not counted; may miss what others delete now
   uint64_t rowsStored = 0; ///< the same with deleted rows: an upper bound for any snapshot as old as the statement's
   uint64_t storedBytes = 0;
   std::vector<ColumnStatistics> columns;
   std::shared_ptr<const SampleRows> sample; ///< at most 2,048 rows; all rows of a table that small
};

} // namespace ouzel::storage
