#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "executor/operator/sort/sort_spill.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/operator.hpp"

namespace ouzel::executor {

/// A sort's rows wherever they are. While they fit, they are SortRuns of a SortBuffer. A lane that may not grow sorts
/// some of its runs and writes them as one: at first little, then twice as much each time, so that a sort that almost
/// fits spills almost nothing and one that is much too large has few runs. At the end runs are merged until the rest
/// can be merged while it is read, with what has stayed in memory as one more input.
///
/// A lane is one thread's; combine() and finishTasks() are called by one thread at a time, finishTask() by any.
class ExternalSort {
public:
   ExternalSort(SortRowLayout layout, QueryBudget& budget) : grant_(budget), buffer_(std::move(layout)) {}

   /// What is done with the sorted rows needs so much memory for each, if they stay in memory.
   void setBytesPerRow(size_t bytes) { bytesPerRow_ = SortBuffer::sortBytesPerRow + bytes; }

   const SortBuffer& buffer() const { return buffer_; }
   SortBuffer& buffer() { return buffer_; }
   MemoryGrant& grant() { return grant_; }
   Reservation& memory() { return grant_.memory(); }

   /// The rows of one worker on their way.
   class Lane {
   public:
      Lane(ExternalSort& sort, QueryContext& context, uint64_t keepRows);
      ~Lane() { release(); }
      /// As SortRun::append; spills first when it must.
      void append(QueryContext& context, const Batch& rows, std::span<const Vector> keys);

   private:
      friend class ExternalSort;
      void makeRoom(QueryContext& context);
      void spillSome(QueryContext& context);
      void seal();
      void reserve();
      void release();

      ExternalSort& sort_;
      const uint64_t keepRows_;
      std::unique_ptr<SortRun> run_; ///< being filled
      std::vector<std::unique_ptr<SortRun>> sealed_;
      std::vector<SpilledRun> spilled_;
      size_t sealedBytes_ = 0;
      uint64_t sealedRows_ = 0;
      size_t allowedBytes_ = 0;  ///< ask again beyond
      size_t reservedBytes_ = 0; ///< charged for sorting
      uint32_t spillRuns_ = 1;   ///< how many to write next time
   };

   /// Before the input. `rowsWanted`: only the first ones in order.
   void prepare(QueryContext& context, uint64_t rowsWanted);
   void combine(Lane& lane);
   /// Rounds of tasks as a Sink's; 0 when all is sorted.
   uint32_t finishTasks(QueryContext& context);
   void finishTask(QueryContext& context, uint32_t task);
   void finish();

   uint32_t workers() const { return workers_; }
   size_t pageBytes() const { return pageBytes_; }
   bool spillsAlways() const { return spillAlways_; }
   /// Whether the rows are to be had from merge() only.
   bool hasSpilled() const { return !spilled_.empty(); }
   uint64_t rowCount() const;
   /// All rows in order; once.
   std::unique_ptr<SortMerge> merge(QueryContext& context);
   /// Runs, passes, bytes and memory.
   void describe(OperatorProfile& profile) const;

private:
   enum class Phase : uint8_t { Input, SpillRest, Merge, Sort };
   struct Task {
      std::vector<std::unique_ptr<SortRun>> runs; ///< to be spilled
      MergeGroup group{};                         ///< or to be merged
      SpilledRun result;
   };
   size_t mergeBytes(size_t runs) const;
   bool planRest(QueryContext& context);
   bool planPass();
   void collectTasks();
   void count(const SpilledRun& run);

   // PROPERTIES
   MemoryGrant grant_; // first, since all others charge it
   SortBuffer buffer_;
   bool canSpill_ = false, spillAlways_ = false;
   uint64_t rowsWanted_ = SortRun::keepAll;
   uint32_t workers_ = 1;
   size_t bytesPerRow_ = SortBuffer::sortBytesPerRow;
   size_t rowBytes_ = 0; ///< in memory, with the key
   size_t pageBytes_ = 0, runBytesMin_ = 0, segmentBytes_ = 0, stepBytes_ = 0;
   // STATE
   std::vector<SpilledRun> spilled_;
   std::atomic<uint32_t> spilledCount_{0}; ///< of all lanes
   Phase phase_ = Phase::Input;
   uint32_t sortRound_ = 0;
   std::vector<Task> tasks_;
   size_t taskAheadBytes_ = 0;
   // for describe()
   uint32_t runsWritten_ = 0, passes_ = 0;
   uint64_t bytesWritten_ = 0, storedBytesWritten_ = 0;
};

} // namespace ouzel::executor
