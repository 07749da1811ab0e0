#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/join/hash_join_matcher.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

/// A partition of both sides of a hash join (all rows whose hash has the same top bits), and the work to do with it.
struct HashJoinPartition {
   enum class Work : uint8_t {
      Whole,  ///< join with a table of all built rows, which fits
      Split,  ///< split by more bits of the hash
      Chunks, ///< join with as many built rows at a time as fit; read the probe side for each chunk
      Give,   ///< give the built rows: the partition has no probe rows
   };

   TuplePages build, probe;
   uint32_t bits = 0;   ///< number of top bits of the hash that all rows share
   uint32_t depth = 0;  ///< number of splits that led to this partition
   size_t bytes = 0;    ///< memory that the join needs in addition to pages in memory
   bool isLump = false; ///< splitting does not help: most rows have one key or one hash
   Work work = Work::Whole;
};

/// The part of a hash join that does not fit into memory: the spilled partitions of the build side, the probe rows put
/// aside for these partitions, and then the queue of partitions to join.
///
///    build   buffers of the lanes fill pages; addBuilt() per lane; closeBuild() gives the pages in memory to the table
///    probe   isActive() if a partition was spilled; each worker stores rows of spilled partitions in a probe buffer
///    join    closeProbe() fills the queue, largest partition first; workers call take() and end(), between them:
///
///            Whole    load, noteLoaded(), probe           Split    split(), which queues the parts
///            Chunks   per chunk: load, probe              Give     give built rows
///
/// A partition that does not fit (Split or Chunks) is taken only when no other partition is being joined, and no other
/// one is taken before its end. Shared by workers; thread-safe where noted.
class HashJoinSpill {
public:
   /// `probeTypes`: columns of the rows put aside: the keys, then columns `probeSlots` of the probe batches.
   HashJoinSpill(const HashJoinRows& rows, const std::vector<PhysicalType>& probeTypes,
                 std::vector<uint32_t> probeSlots, bool givesBuiltRowsLast, sql::JoinKind kind, QueryBudget& budget);

   MemoryGrant& buildGrant() { return buildGrant_; }

   // BUILD
   void prepare(QueryContext& context);
   TupleBuffer::Options buildOptions() const;
   TupleBuffer::Options unjoinableOptions() const;
   SpilledPartitions& buildPartitions() { return *build_; }
   const SpilledPartitions& buildPartitions() const { return *build_; }
   /// For rows with a NULL key; they are never looked up, so their hashes do not matter.
   SpilledPartitions& unjoinablePartitions() { return *unjoinable_; }
   /// Add a lane's pages; called by combine().
   void addBuilt(TuplePages pages, TuplePages unjoinable);
   /// After the last addBuilt(): give the table the pages that are in memory and stay there.
   void closeBuild(HashJoinTable& table);
   /// The table is made: unless a partition was spilled, the join needs no more memory, and its grants waive their
   /// floors.
   void waiveFloors();

   // PROBE
   /// Some partitions of the build side are on disk. Constant while the probe side runs.
   bool isActive() const { return isActive_; }
   /// The hashes of the spilled built rows; a probe row with another hash has no partner on disk. Null: not known.
   const HashFilter* spilledHashes() const { return spilledHashes_.get(); }
   void countPassed(uint64_t tested, uint64_t passed) {
      tested_.fetch_add(tested, std::memory_order_relaxed);
      passed_.fetch_add(passed, std::memory_order_relaxed);
   }
   const RowLayout& probeLayout() const { return probeLayout_; }
   const std::vector<uint32_t>& probeSlots() const { return probeSlots_; }
   /// A buffer for one worker, valid until the probe side has ended. Thread-safe.
   TupleBuffer& openProbeBuffer();

   // JOIN OF PARTITIONS
   /// Make the queue of partitions. Called after the probe side has ended and the table has released its memory.
   void closeProbe(QueryContext& context);
   bool hasPartitions() const {
      const MutexLock lock(mutex_);
      return !queue_.empty();
   }
   /// The next partition, with the work to do. Null: none can be taken now; `isEnd`: none will come. Thread-safe.
   std::unique_ptr<HashJoinPartition> take(bool& isEnd);
   /// The partition's table is loaded, so the bytes promised to it are charged. Thread-safe.
   void noteLoaded(const HashJoinPartition& partition);
   /// The partition is done; wakes waiting workers. Thread-safe.
   void end(QueryContext& context, const HashJoinPartition& partition);
   /// Split the partition by more bits of the hash and queue the parts. Thread-safe.
   void split(QueryContext& context, HashJoinPartition& partition);
   /// How many bytes of built rows one chunk may have now, and how many it may have even without room in the grant.
   size_t chunkBytes();
   size_t chunkBytesMin() const;
   /// How many bytes a reader may read ahead.
   size_t aheadBytes() const;
   void free(TuplePages& pages);
   io::SpillSpace& space() { return *space_; }
   void countRead(size_t bytes) { readBytes_.fetch_add(bytes, std::memory_order_relaxed); }
   void countChunk() { chunks_.fetch_add(1, std::memory_order_relaxed); }

   void describe(OperatorProfile& profile) const;

private:
   using PartitionPtr = std::unique_ptr<HashJoinPartition>;
   TupleBuffer::Options options() const;
   void takeHashes(const HashJoinTable& table);
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
   MemoryGrant buildGrant_, probeGrant_; ///< two grants, so that the build side leaves the probe side's floor free
   // STATE
   io::SpillSpace* space_ = nullptr;
   uint32_t workers_ = 1;
   size_t pageSize_ = 0; ///< of partitions
   size_t partitionsFrom_ = 0;
   std::unique_ptr<SpilledPartitions> build_, unjoinable_, probe_;
   TuplePages built_, builtUnjoinable_;
   std::shared_ptr<HashFilter> spilledHashes_;
   bool isActive_ = false;
   mutable Mutex mutex_;
   std::vector<std::unique_ptr<TupleBuffer>> probeBuffers_ GUARDED_BY(mutex_);
   std::deque<PartitionPtr> queue_ GUARDED_BY(mutex_);
   uint32_t running_ GUARDED_BY(mutex_) = 0;     ///< partitions taken and not ended
   uint32_t splitting_ GUARDED_BY(mutex_) = 0;   ///< of these, partitions being split
   bool isAlone_ GUARDED_BY(mutex_) = false;     ///< the partition being joined takes all the memory
   size_t promisedBytes_ GUARDED_BY(mutex_) = 0; ///< to partitions taken and not loaded
   // STATISTICS
   struct Side {
      uint64_t pages = 0, rows = 0, rawBytes = 0, storedBytes = 0;
      void add(const TuplePages& pages);
   };
   Side buildSpilled_, probeSpilled_;
   uint32_t partitionsSpilled_ = 0, depth_ = 0;
   std::atomic<uint64_t> readBytes_{0}, chunks_{0};
   std::atomic<uint64_t> tested_{0}, passed_{0}; ///< probe rows of spilled partitions, by spilledHashes_
};

} // namespace ouzel::executor
