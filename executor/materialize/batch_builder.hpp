#pragma once
#include <memory>
#include <vector>

#include "common/memory/ledger.hpp"
#include "executor/pipeline/owned_batch.hpp"

namespace ouzel::executor {

/// Collects live rows of many batches into owned flat ones of up to batchRowsMax rows. One worker's own.
class BatchBuilder {
public:
   BatchBuilder(std::vector<Representation> columns, Reservation& memory, uint32_t rowsMax = batchRowsMax);

   /// Take rows of `in` from live row `from` on until full; columns[i] is in.columns[slots[i]]. Returns how many were
   /// taken.
   uint32_t append(const Batch& in, const std::vector<uint32_t>& slots, uint32_t from);
   bool isFull() const { return current_ && current_->batch.rowCount == rowsMax_; }
   bool isEmpty() const { return !current_; }
   /// Memory of the rows so far.
   size_t bytes() const { return current_ ? current_->arena.chunkBytes() : 0; }
   /// The rows so far, which stay; null when there are none.
   const Batch* current() const { return current_ ? &current_->batch : nullptr; }
   /// The rows so far; the builder starts anew. Null when there are none.
   std::unique_ptr<OwnedBatch> take();

private:
   void open();

   std::vector<Representation> columns_;
   Reservation* memory_;
   uint32_t rowsMax_;
   std::unique_ptr<OwnedBatch> current_;
};

} // namespace ouzel::executor
