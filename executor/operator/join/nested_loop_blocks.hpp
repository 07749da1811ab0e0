#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/join/nested_loop_join.hpp"
#include "executor/policy/transfer_policy.hpp"

namespace ouzel::executor {

/// The left side of a nested loop whose right side did not fit: all of its rows, stored before any row is joined.
/// open() is thread-safe; each builder belongs to one worker.
class NestedLoopLeft {
public:
   /// Column i of the stored rows is slot slots[i] of the left side's batches.
   NestedLoopLeft(std::vector<uint32_t> slots, std::vector<Representation> columns)
      : slots_(std::move(slots)), columns_(std::move(columns)) {}

   BatchStore& rows() { return rows_; }
   void clear();
   /// A builder for one worker, valid until close().
   BatchBuilder& open(QueryContext& context);
   void add(BatchBuilder& builder, const Batch& in);
   /// The left side has ended.
   void close();

private:
   const std::vector<uint32_t> slots_;
   const std::vector<Representation> columns_;
   BatchStore rows_;
   Mutex mutex_;
   std::vector<std::unique_ptr<BatchBuilder>> builders_ GUARDED_BY(mutex_);
};

/// Blocked nested loop (REMOP, section on BNLJ). A block is as many rows of the left side as fit into memory. A worker
/// takes a block and joins it with each batch of the right side in turn, so that the right side is read once per block.
class NestedLoopBlocks final : public Source {
public:
   /// `shape`: its probe columns are columns of `left`.
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
   size_t blockBytes_ = 0, blockBatches_ = 0; ///< maximum size of one block
   size_t aheadBytes_ = 0;                    ///< of the right side, for each worker
   Transfers expected_;
   Mutex mutex_;
   size_t nextBatch_ GUARDED_BY(mutex_) = 0;
   std::atomic<uint64_t> blocks_{0};
};

} // namespace ouzel::executor
