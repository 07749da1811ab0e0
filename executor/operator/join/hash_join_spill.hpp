#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/join/hash_join_prober.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

/// Both sides of a hash join where the top bits of the hash have one value, and what remains to be done with them.
struct HashJoinPartition {
   enum class Work : uint8_t {
      Whole,  ///< a table of all built rows fits
      Split,  ///< by more bits of the hash
      Chunks, ///< as many built rows at a time as fit; the probe side is read for each
      Give,   ///< built rows that nothing matches
   };

   TuplePages build, probe;
   uint32_t bits = 0;   ///< how many of the hash its rows share
   uint32_t depth = 0;  ///< how often it has been split
   size_t bytes = 0;    ///< what the table takes that is not in memory yet
   bool isLump = false; ///< splitting it does not help: one key, or one hash
   Work work = Work::Whole;
};

/// The part of a hash join that does not fit into memory: which partitions of the build side are on disk, the probe
/// side's rows that wait for them, and then the queue of partitions to join. Shared by workers; thread-safe where
/// noted.
class HashJoinSpill {
public:
   /// `probeTypes`: of the rows put aside, keys first, then the probe batches' columns `probeSlots`.
   HashJoinSpill(const HashJoinRows& rows, const std::vector<PhysicalType>& probeTypes,
                 std::vector<uint32_t> probeSlots, bool givesBuiltRowsLast, sql::JoinKind kind, QueryBudget& budget);

   MemoryGrant& buildGrant() { return buildGrant_; }

   // BUILD
   void prepare(QueryContext& context);
   TupleBuffer::Options buildOptions() const;
   TupleBuffer::Options unjoinableOptions() const;
   SpilledPartitions& buildPartitions() { return *build_; }
   const SpilledPartitions& buildPartitions() const { return *build_; }
   /// For rows with a NULL key: any hash will do.
   SpilledPartitions& unjoinablePartitions() { return *unjoinable_; }
   /// A lane's pages, by combine().
   void addBuilt(TuplePages pages, TuplePages unjoinable);
   /// After the last of them: give the table what is in memory and stays there.
   void closeBuild(HashJoinTable& table);
   /// The table is made. Unless something was spilled, this needs no more memory.
   void settle();

   // PROBE
   /// Some of the build side is on disk. Constant while the probe side runs.
   bool isActive() const { return isActive_; }
   const RowLayout& probeLayout() const { return probeLayout_; }
   const std::vector<uint32_t>& probeSlots() const { return probeSlots_; }
   /// One worker's, until the probe side has ended. Thread-safe.
   TupleBuffer& openProbeBuffer();

   // JOIN OF PARTITIONS
   /// After the probe side; the table has given its memory back.
   void closeProbe(QueryContext& context);
   bool hasPartitions() const {
      const MutexLock lock(mutex_);
      return !queue_.empty();
   }
   /// The next partition, with the work to do. Null: none now; `isEnd` says whether ever. Thread-safe.
   std::unique_ptr<HashJoinPartition> take(bool& isEnd);
   /// Its rows are in memory, all that fit: what was promised to it is charged.
   void noteLoaded(const HashJoinPartition& partition);
   /// It is done. Thread-safe, and lets others go on.
   void end(QueryContext& context, const HashJoinPartition& partition);
   /// Split it by more bits of the hash; the parts are queued. Thread-safe.
   void split(QueryContext& context, HashJoinPartition& partition);
   /// How many bytes of built rows one chunk may have, and how many it may have in any case.
   size_t chunkBytes();
   size_t chunkBytesMin() const;
   /// How much a reader may fetch ahead of time.
   size_t aheadBytes() const;
   void free(TuplePages& pages);
   io::SpillSpace& space() { return *space_; }
   void countRead(size_t bytes) { readBytes_.fetch_add(bytes, std::memory_order_relaxed); }
   void countChunk() { chunks_.fetch_add(1, std::memory_order_relaxed); }

   void describe(OperatorProfile& profile) const;

private:
   using PartitionPtr = std::unique_ptr<HashJoinPartition>;
   TupleBuffer::Options options() const;
   void plan(HashJoinPartition& partition) const;
   void enqueue(std::vector<PartitionPtr> partitions) REQUIRES(mutex_);
   bool isWanted(HashJoinPartition& partition);
   void copyRows(QueryContext& context, TuplePages& pages, const RowLayout& layout, TupleBuffer& buffer);

   // PROPERTIES
   const HashJoinRows& rows_;
   RowLayout probeLayout_;
   const std::vector<uint32_t> probeSlots_;
   const bool givesBuiltRowsLast_;
   const sql::JoinKind kind_;
   MemoryGrant buildGrant_, probeGrant_; ///< two, so that the build side leaves room for the probe side's pages
   // STATE
   io::SpillSpace* space_ = nullptr;
   uint32_t workers_ = 1;
   size_t pageSize_ = 0; ///< of partitions
   size_t partitionsFrom_ = 0;
   std::unique_ptr<SpilledPartitions> build_, unjoinable_, probe_;
   TuplePages built_, builtUnjoinable_;
   bool isActive_ = false;
   mutable Mutex mutex_; // guards what follows
   std::vector<std::unique_ptr<TupleBuffer>> probeBuffers_ GUARDED_BY(mutex_);
   std::deque<PartitionPtr> queue_ GUARDED_BY(mutex_);
   uint32_t running_ GUARDED_BY(mutex_) = 0;
   uint32_t splitting_ GUARDED_BY(mutex_) = 0;
   bool isAlone_ GUARDED_BY(mutex_) = false;     ///< the one running takes all the memory
   size_t promisedBytes_ GUARDED_BY(mutex_) = 0; ///< to those running that have not loaded yet
   // STATISTICS
   struct Side {
      uint64_t pages = 0, rows = 0, rawBytes = 0, storedBytes = 0;
      void add(const TuplePages& pages);
   };
   Side buildSpilled_, probeSpilled_;
   uint32_t partitionsSpilled_ = 0, depth_ = 0;
   std::atomic<uint64_t> readBytes_{0}, chunks_{0};
};

} // namespace ouzel::executor
