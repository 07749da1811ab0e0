#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/expression/program.hpp"
#include "executor/operator/sort/external_sort.hpp"
#include "executor/operator/sort/row_range.hpp"
#include "executor/pipeline/operator.hpp"
#include "executor/pipeline/order_bound.hpp"
#include "executor/pipeline/reclaimer.hpp"

namespace ouzel::executor {

/// How stored rows and keys are made from input batches. A stored row has columns of the input, then extra expressions,
/// then the values of inexact keys that are neither.
struct SortInput {
   SortRowLayout layout;
   std::vector<uint32_t> columnSlots;               ///< input slots of the first stored columns, in order
   std::shared_ptr<const ExpressionProgram> extras; ///< expressions of the next stored columns; null: none
   std::vector<uint32_t> computedKeys;              ///< numbers of the keys that are the last stored columns
   std::shared_ptr<const ExpressionProgram> keys;
};

/// A key to sort by: an expression over the input.
struct SortOrder {
   const sql::Expr* expr = nullptr;
   bool descending = false;
   bool nullsFirst = false;
};
std::vector<SortOrder> sortOrders(const std::vector<sql::SortKey>& keys);

/// `stored`: columns of `inputLayout` to store with each row; they become stored columns 0, 1, ... `extras`:
/// expressions that become the stored columns after them.
SortInput makeSortInput(const std::vector<sql::ColumnId>& inputLayout, const std::vector<sql::ColumnId>& stored,
                        const std::vector<SortOrder>& keys, const sql::ColumnTable& columns,
                        std::span<const sql::Expr* const> extras = {});

class GatherSpace;
class SortedSource;

/// Stores rows in an ExternalSort, one Lane for each lane of the pipeline, and sorts them. An overriding prepare() sets
/// how many first rows are wanted.
class SortSink : public Sink {
public:
   /// `source` of the sorted rows: may write them to disk before they are read. Null: they stay where they are.
   SortSink(SortInput input, ExternalSort& sort, SortedSource* source = nullptr)
      : input_(std::move(input)), sort_(sort), reader_(source) {}
   /// Tells a scan below how far rows are wanted, by the first key. REQUIRES: that key is an integer.
   void setBound(OrderBound* bound) { bound_ = bound; }
   void prepare(QueryContext& context) override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;
   uint32_t finishTasks(QueryContext& context, uint32_t round) override;
   void finishTask(QueryContext& context, uint32_t round, uint32_t task) override;
   void finish(QueryContext& context) override;
   void describe(OperatorProfile& profile) const override;

protected:
   SortInput input_;
   ExternalSort& sort_;
   SortedSource* const reader_;
   OrderBound* bound_ = nullptr; ///< null: nobody below asks
   uint64_t keepRows_ = SortRun::keepAll;
   uint64_t rowsWanted_ = SortRun::keepAll; ///< first rows that are needed, also if runs keep all rows
};

/// Gives the rows of a sort in order: those that OFFSET and LIMIT leave, with the first `columnCount` stored columns.
/// Rows in memory are read by one worker. Rows on disk are merged by several workers, by ranges of keys; LIMIT is then
/// left to an operator in order.
///
/// Rows in memory are written to disk, in order, when others need the memory: by reclaim() before the source is read,
/// by its lane in next() later.
class SortedSource final : public Source, public Reclaimer {
public:
   SortedSource(QueryContext& context, ExternalSort& sort, uint32_t columnCount)
      : context_(context), sort_(sort), columnCount_(columnCount) {}
   ~SortedSource() override { sort_.grant().claimFloor(); } // no reclaim() from now on
   /// Called before openRanges().
   void setRange(const RowRange& range) { range_ = range; }
   const RowRange& range() const { return range_; }
   /// The rows are sorted and may be reclaimed.
   void offerRows();
   void prepare(QueryContext& context) override;
   uint32_t openRanges(QueryContext& context) override;
   uint32_t workersMax() const override { return lanesMax_; }
   uint32_t rangeOf(const LocalState& local) const override;
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   void describe(OperatorProfile& profile) const override;

   size_t reclaimableBytes() const override;
   uint32_t readings() const override { return 1; }
   size_t reclaim(size_t bytes) override;

private:
   SourceStatus nextMerged(QueryContext& context, LocalState& local, Batch& out);
   SourceStatus nextStored(LocalState& local, Batch& out);
   std::vector<PhysicalType> types() const;
   void storeRest(GatherSpace& space);

   QueryContext& context_;
   ExternalSort& sort_;
   const uint32_t columnCount_;
   RowRange range_;
   uint64_t given_ = 0;                  // in memory, or in the only range; written by one worker at a time
   std::unique_ptr<MergeRanges> ranges_; // null: no rows were spilled, or all ranges were given
   uint32_t rangeCount_ = 0, lanesMax_ = 1;
   uint64_t skipFirst_ = 0; // rows of the first range that OFFSET leaves out
   std::atomic<uint32_t> nextRange_{0}, endedRanges_{0}, lanesUsed_{0};
   // Rows in memory that go to disk.
   Mutex mutex_;
   bool isRead_ GUARDED_BY(mutex_) = false; ///< a lane reads, so only it may store the rest
   std::atomic<bool> isWanted_{false};      ///< reclaim() has asked the lane for that
   std::atomic<size_t> reclaimable_{0};
   bool isStored_ = false;            // written as stored_: by the lane, or before there is one
   MemoryLedger uncounted_{SIZE_MAX}; // of what storeRest() needs: it must work when memory is short
   Reservation pageMemory_{uncounted_};
   std::vector<SpilledColumnPage> stored_; // the rest of the rows, at most `batchRows` in each
   size_t nextStored_ = 0;
};

/// Flat vectors that rows of a sorted buffer are gathered into.
class GatherSpace {
public:
   GatherSpace(const std::vector<Representation>& columns, uint32_t count, Reservation& memory);
   /// Gather stored columns [0, count) of these rows into out.columns.
   void gather(const SortBuffer& buffer, std::span<const RowAddress> rows, Batch& out);
   void gather(std::span<const RowRef> rows, const std::vector<uint8_t>& hasNulls, Batch& out);

private:
   Arena arena_;
   std::vector<PhysicalType> types_;
   std::vector<void*> data_;
   std::vector<ValidityWord*> validity_;
};

} // namespace ouzel::executor
