#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/flow/row_buffer.hpp"
#include "executor/operator/join/nested_loop_join.hpp"

namespace ouzel::executor {

/// The left side of a nested loop whose right side did not fit: kept until all of it is there. open() is thread-safe.
class NestedLoopLeft {
public:
   /// Column i is slot slots[i] of the left side's batches.
   NestedLoopLeft(std::vector<uint32_t> slots, std::vector<Representation> columns)
      : slots_(std::move(slots)), columns_(std::move(columns)) {}

   RowBuffer& rows() { return rows_; }
   void clear();
   /// For one worker, until close().
   BatchBuilder& open(QueryContext& context);
   void add(BatchBuilder& builder, const Batch& in);
   /// The left side has ended.
   void close();

private:
   const std::vector<uint32_t> slots_;
   const std::vector<Representation> columns_;
   RowBuffer rows_;
   Mutex mutex_; // guards builders_
   std::vector<std::unique_ptr<BatchBuilder>> builders_ GUARDED_BY(mutex_);
};

/// Blocked nested loop (REMOP, section on BNLJ): as many rows of the left side as fit are joined with each batch of the
/// right side in turn, which is thus read once per block. Workers take blocks of their own.
class NestedLoopBlocks final : public Source {
public:
   /// `shape`: over batches of `left`.
   NestedLoopBlocks(const NestedLoopShape& shape, const NestedLoopRows& right, NestedLoopLeft& left)
      : shape_(shape), right_(right), left_(left) {}
   void prepare(QueryContext& context) override;
   uint32_t workersMax() const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   void describe(OperatorProfile& profile) const override;

private:
   class Worker;

   const NestedLoopShape& shape_;
   const NestedLoopRows& right_;
   NestedLoopLeft& left_;
   size_t blockBytes_ = 0, blockBatches_ = 0; ///< of one block at most
   Mutex mutex_;                              // guards nextBatch_
   size_t nextBatch_ GUARDED_BY(mutex_) = 0;
   std::atomic<uint64_t> blocks_{0};
};

} // namespace ouzel::executor
