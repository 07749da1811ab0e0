#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "executor/operator/sort/sort_merge.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/operator.hpp"
#include "executor/policy/transfer_policy.hpp"

namespace ouzel::executor {

/// The rows of a sort, in memory or on disk. Rows in memory are SortRuns of a SortBuffer.
///
///    Input       lanes append rows. A lane without room sorts some of its runs and writes them as one run: first one
///                run, then twice as many each time. So a sort that almost fits spills little, and a sort that is much
///                too large has few runs.
///    SpillRest   if rows were spilled and there is no room for merging: spill runs that are still in memory
///    Merge       passes that merge runs on disk, until one merge can read all remaining runs at once
///    Sort        sort the rows in memory
///
/// The result is the order of buffer(), or, after spilling, merge(), with the rows in memory as one more input. Ranges
/// of the last merge are read by several lanes at once.
///
/// A Lane belongs to one thread. combine() and finishTasks() are called by one thread at a time, finishTask() by any.
class ExternalSort {
public:
   ExternalSort(SortRowLayout layout, QueryBudget& budget) : grant_(budget), buffer_(std::move(layout)) {}

   /// The reader of the sorted rows needs `bytes` more per row if the rows stay in memory; lanes reserve them as well.
   void setBytesPerRow(size_t bytes) { bytesPerRow_ = SortBuffer::sortBytesPerRow + bytes; }

   /// Of each partition only the first rows are needed; lanes drop others. Called before the input.
   void limitPartitions(const PartitionLimit& limit) { partitionLimit_ = limit; }

   /// Bytes that a row takes in memory on average, its strings and what its reader needs included. Known once rows were
   /// spilled.
   size_t bytesPerRow() const;

   const SortBuffer& buffer() const { return buffer_; }
   SortBuffer& buffer() { return buffer_; }
   MemoryGrant& grant() { return grant_; }
   Reservation& memory() { return grant_.memory(); }

   /// The runs that one worker fills and spills, until combine().
   class Lane {
   public:
      Lane(ExternalSort& sort, QueryContext& context, uint64_t keepRows);
      ~Lane() { release(); }
      /// As SortRun::append; spills before, if memory is short.
      void append(QueryContext& context, const Batch& rows, std::span<const Vector> keys);
      /// The key of the last row that is wanted of this lane; null: not known.
      const std::byte* threshold() const { return run_ ? run_->threshold() : nullptr; }

   private:
      friend class ExternalSort;
      void makeRoom(QueryContext& context);
      void spillSome(QueryContext& context);
      void openRun();
      void seal();
      void reserve();
      void release();

      ExternalSort& sort_;
      const uint64_t keepRows_;
      std::optional<PartitionBounds> bounds_; ///< none: partitions have no limit
      std::unique_ptr<SortRun> run_;          ///< the run being filled
      std::vector<std::unique_ptr<SortRun>> sealed_;
      std::vector<SpilledRun> spilled_;
      size_t sealedBytes_ = 0;
      uint64_t sealedRows_ = 0;
      size_t allowedBytes_ = 0;  ///< with more bytes held, makeRoom() is called
      size_t reservedBytes_ = 0; ///< charged for sorting
      uint32_t spillRuns_ = 1;   ///< number of sealed runs to spill next time
   };

   /// Called before the input. `rowsWanted`: only so many first rows in sort order are needed.
   void prepare(QueryContext& context, uint64_t rowsWanted);
   void combine(Lane& lane);
   /// Rounds of tasks, as Sink::finishTasks(); 0 when all rows are sorted.
   uint32_t finishTasks(QueryContext& context);
   void finishTask(QueryContext& context, uint32_t task);
   /// `reclaimer`: can write the sorted rows to disk, if they are in memory.
   void finish(Reclaimer* reclaimer = nullptr);

   uint32_t workers() const { return workers_; }
   size_t pageBytes() const { return pageBytes_; }
   bool spillsAlways() const { return spillAlways_; }
   /// Whether rows are on disk, so that all rows must be read through merge().
   bool hasSpilled() const { return !spilled_.empty(); }
   uint64_t rowCount() const;
   /// The last merge. Called once; the caller may cut it, and starts it.
   std::unique_ptr<MergeRanges> merge(QueryContext& context);
   /// After merge(): how many lanes may read its ranges at once, each with pages of all runs in memory.
   uint32_t mergeLanes() const { return mergeLanes_; }
   /// After the last cut(): lowers mergeLanes() until the ranges that lanes have open fit into memory. If no two do,
   /// takes the cuts back.
   void fitLanes(MergeRanges& ranges);
   /// Rows of a range, so that its rows fill some pages.
   uint64_t rowsPerRange() const;
   /// Notes about runs, passes, bytes and memory.
   void describe(OperatorProfile& profile) const;
   /// What reading runs was expected to cost: before merge() of the passes, then of the last merge, too.
   void describeReading(OperatorProfile& profile) const;

private:
   enum class Phase : uint8_t { Input, SpillRest, Merge, Sort };
   struct Task {
      std::vector<std::unique_ptr<SortRun>> runs; ///< SpillRest: runs to spill
      MergeGroup group{};                         ///< Merge: runs of spilled_ to merge
      SpilledRun result;
   };
   size_t mergeBytes(size_t runs) const;
   bool planRest(QueryContext& context);
   bool planPass(QueryContext& context);
   void expectReading(const SpilledRun& run, size_t aheadBytes);
   void collectTasks();
   void count(const SpilledRun& run);

   // PROPERTIES
   MemoryGrant grant_; // declared first: the other members charge the grant
   SortBuffer buffer_;
   bool canSpill_ = false, spillAlways_ = false;
   uint64_t rowsWanted_ = SortRun::keepAll;
   uint32_t workers_ = 1;
   size_t bytesPerRow_ = SortBuffer::sortBytesPerRow;
   PartitionLimit partitionLimit_;
   size_t rowBytes_ = 0; ///< bytes of a row in memory, with its key
   size_t pageBytes_ = 0, runBytesMin_ = 0, segmentBytes_ = 0, stepBytes_ = 0;
   // STATE
   std::vector<SpilledRun> spilled_;
   std::atomic<uint32_t> spilledCount_{0}; ///< runs that all lanes have spilled
   Phase phase_ = Phase::Input;
   std::vector<Task> tasks_;
   size_t taskAheadBytes_ = 0;
   uint32_t mergeLanes_ = 1;
   // for describe()
   uint32_t runsWritten_ = 0, passes_ = 0;
   uint64_t bytesWritten_ = 0, storedBytesWritten_ = 0;
   Transfers expected_; ///< of all merges
};

} // namespace ouzel::executor
