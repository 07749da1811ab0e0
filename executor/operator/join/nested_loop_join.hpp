#pragma once
#include <memory>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/pipeline/plan_builder.hpp"

namespace ouzel::executor {

/// The right side of a nested loop, materialised, and match flags of its rows. Filled by one pipeline; then read by all
/// workers, which set match flags atomically.
struct NestedLoopRows {
   BatchStore buffer;
   bool isSpilled = false;          ///< some batches are on disk: the left side is stored, then joined by blocks
   std::vector<uint64_t> firstRows; ///< by batch: number of the batch's first row
   LargeMemory flags;               ///< by row: has a match; empty unless givesBuiltRowsLast

   void setMatched(size_t batch, uint32_t row) const {
      std::atomic_ref<uint8_t> flag(flags.as<uint8_t>()[firstRows[batch] + row]);
      if (flag.load(std::memory_order_relaxed) == 0) flag.store(1, std::memory_order_relaxed);
   }
   bool isMatched(size_t batch, uint32_t row) const { return flags.as<uint8_t>()[firstRows[batch] + row] != 0; }
};

/// The plan of a nested loop as the looper needs it: kind, predicate, columns. Immutable.
struct NestedLoopShape {
   /// A column of the joined rows. The node's output columns come first, then columns that only the predicate reads.
   struct Column {
      enum class From : uint8_t { Probe, Build, Mark } from;
      uint32_t source; ///< slot of the probe batches, or column of the buffer
      PhysicalType type;
   };
   sql::JoinKind kind = sql::JoinKind::Inner;
   std::shared_ptr<const ExpressionProgram> predicate; ///< null: true
   std::vector<Column> columns;
   uint32_t outputCount = 0;
   /// Built rows get match flags while looping, and are given afterwards by these flags.
   bool givesBuiltRowsLast = false;
};

} // namespace ouzel::executor
