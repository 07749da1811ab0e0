#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/value/batch.hpp"
#include "storage/base/ids.hpp"
#include "storage/json/document_summary.hpp"

namespace ouzel::storage {

struct ColumnStatistics {
   /// Bounds of the values of every row of the snapshot, and perhaps of deleted rows. Empty when there is no value, and
   /// for intervals and decimals. Only the first 15 bytes of strings.
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

/// Statistics of a table under one snapshot, for planning. Made without fetching blocks. Immutable, shared by plans.
struct TableStatistics {
   uint64_t rowCount = 0;   ///< with delta rows, without deleted rows; may miss deletes of concurrent commits
   uint64_t rowsStored = 0; ///< with deleted rows: an upper bound for any snapshot as old as the statement's
   uint64_t storedBytes = 0;
   std::vector<ColumnStatistics> columns;
   std::shared_ptr<const SampleRows> sample; ///< at most 2,048 rows; of a smaller table all rows
};

} // namespace ouzel::storage
