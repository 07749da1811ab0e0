#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "executor/operator/operator.hpp"

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
   /// The rows so far; the builder starts anew. Null when there are none.
   std::unique_ptr<OwnedBatch> take();

private:
   void open();

   std::vector<Representation> columns_;
   Reservation* memory_;
   uint32_t rowsMax_;
   std::unique_ptr<OwnedBatch> current_;
};

/// Rows kept as batches: a CTE, a recursion's working table, RETURNING. Filled by a BufferSink, then read by
/// BufferSources; not both at once.
class RowBuffer {
public:
   void add(std::unique_ptr<OwnedBatch> batch) {
      const std::lock_guard lock(mutex_);
      rows_ += batch->batch.rowCount;
      batches_.push_back(std::move(batch));
   }
   void clear() {
      batches_.clear();
      rows_ = 0;
   }
   void swap(RowBuffer& other) {
      batches_.swap(other.batches_);
      std::swap(rows_, other.rows_);
   }
   const std::vector<std::unique_ptr<OwnedBatch>>& batches() const { return batches_; }
   uint64_t rowCount() const { return rows_; }

private:
   std::mutex mutex_; // guards adding
   std::vector<std::unique_ptr<OwnedBatch>> batches_;
   uint64_t rows_ = 0;
};

/// Copies rows into a RowBuffer: buffer column i is input slot slots[i].
class BufferSink final : public Sink {
public:
   BufferSink(RowBuffer& buffer, std::vector<uint32_t> slots, std::vector<Representation> columns)
      : buffer_(buffer), slots_(std::move(slots)), columns_(std::move(columns)) {}
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;

private:
   RowBuffer& buffer_;
   const std::vector<uint32_t> slots_;
   const std::vector<Representation> columns_;
};

/// Reads a RowBuffer: output column i is buffer column slots[i].
class BufferSource final : public Source {
public:
   /// `ordered`: one worker, in the order the rows came.
   BufferSource(const RowBuffer& buffer, std::vector<uint32_t> slots, bool ordered = false)
      : buffer_(buffer), slots_(std::move(slots)), ordered_(ordered) {}
   void prepare(QueryContext&) override { next_.store(0); }
   uint32_t workersMax() const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;

private:
   const RowBuffer& buffer_;
   const std::vector<uint32_t> slots_;
   const bool ordered_;
   std::atomic<size_t> next_{0};
};

} // namespace ouzel::executor
