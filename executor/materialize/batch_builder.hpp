#pragma once
#include <memory>
#include <vector>

#include "common/memory/ledger.hpp"
#include "executor/pipeline/owned_batch.hpp"

namespace ouzel::executor {

/// Collects live rows of many batches into owned batches of flat vectors with up to `rowsMax` rows. Used by one worker.
class BatchBuilder {
public:
   /// `stringBytesMax`: most bytes of long strings in a batch with several rows.
   BatchBuilder(std::vector<Representation> columns, Reservation& memory, uint32_t rowsMax = batchRowsMax,
                size_t stringBytesMax = SIZE_MAX);

   /// Copy rows of `in`, from live row `from` on, until the builder is full. Column i comes from in.columns[slots[i]].
   /// Returns the number of rows copied.
   uint32_t append(const Batch& in, const std::vector<uint32_t>& slots, uint32_t from);
   bool isFull() const { return current_ && (hasManyBytes_ || current_->batch.rowCount == rowsMax_); }
   bool isEmpty() const { return !current_; }
   /// Memory of the rows so far.
   size_t bytes() const { return current_ ? current_->arena.chunkBytes() : 0; }
   /// The rows so far, which stay in the builder; null when there are none.
   const Batch* current() const { return current_ ? &current_->batch : nullptr; }
   /// The rows so far; the builder starts anew. Null when there are none.
   std::unique_ptr<OwnedBatch> take();

private:
   void open();
   uint32_t fitting(const Batch& in, const std::vector<uint32_t>& slots, uint32_t from, uint32_t count);

   std::vector<Representation> columns_;
   Reservation* memory_;
   uint32_t rowsMax_;
   size_t stringBytesMax_, stringBytes_ = 0; ///< the latter of the rows so far, if there is a maximum
   bool hasManyBytes_ = false;               ///< the next row would exceed it
   std::unique_ptr<OwnedBatch> current_;
};

} // namespace ouzel::executor
