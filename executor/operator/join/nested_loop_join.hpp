#pragma once
#include <memory>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/flow/row_buffer.hpp"
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

/// The right side of a nested loop, materialised, and what its rows have met. Filled by one pipeline; then read by all
/// workers, which set match flags atomically.
struct NestedLoopRows {
   RowBuffer buffer;
   bool isSpilled = false;          ///< some of it is on disk: the left side is joined by blocks, once it is there
   std::vector<uint64_t> firstRows; ///< by batch: number of its first row
   LargeMemory flags;               ///< by row, if wanted

   void setMatched(size_t batch, uint32_t row) const {
      std::atomic_ref<uint8_t> flag(flags.as<uint8_t>()[firstRows[batch] + row]);
      if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
   }
   bool isMatched(size_t batch, uint32_t row) const { return flags.as<uint8_t>()[firstRows[batch] + row] != 0; }
};

/// What looping needs to know of a join. Immutable.
struct NestedLoopShape {
   /// A column of the joined rows. The node's output comes first, then what only the predicate reads.
   struct Column {
      enum class From : uint8_t { Probe, Build, Mark } from;
      uint32_t source; ///< slot of the probe batches, or column of the buffer
      PhysicalType type;
   };
   sql::JoinKind kind = sql::JoinKind::Inner;
   bool nullAware = false;
   std::shared_ptr<const ExpressionProgram> predicate; ///< null: true
   std::vector<Column> columns;
   uint32_t outputCount = 0;
   /// Built rows are flagged while looping and given afterwards.
   bool givesBuiltRowsLast = false;
};

} // namespace ouzel::executor
