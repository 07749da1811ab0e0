#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/operator/join/hash_join_matcher.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/policy/transfer_policy.hpp"

namespace ouzel::executor {

class PartitionJob;

/// A partition of both sides of a hash join (all rows whose hash has the same top bits), and the work to do with it.
struct HashJoinPartition {
   enum class Work : uint8_t {
      Whole,  ///< join with a table of all built rows, which fits
      Split,  ///< split by more bits of the hash
      Chunks, ///< join with as many built rows at a time as fit; read the probe side for each chunk
      Give,   ///< give the built rows: the partition has no probe rows
   };

   TuplePages build, probe;
   uint64_t buildRows = 0;
   uint32_t bits = 0;   ///< number of top bits of the hash that all rows share
   uint32_t depth = 0;  ///< number of splits that led to this partition
   size_t bytes = 0;    ///< memory that the join needs in addition to pages in memory
   bool isLump = false; ///< splitting does not help: most rows have one key or one hash
   /// So many built rows have the same hash, perhaps more, and so many probe rows have that hash, too.
   uint64_t heavyBuilt = 0, heavyProbe = 0;
   Work work = Work::Whole;
};

/// The part of a hash join that does not fit into memory: the spilled partitions of the build side, the probe rows put
/// aside for these partitions, and then the queue of partitions to join.
///
///    build   buffers of the lanes fill pages; addBuilt() per lane; closeBuild() gives the pages in memory to the table
///    probe   isActive() if a partition was spilled; each worker stores rows of spilled partitions in a probe buffer
///    join    closeProbe(), then workers finish the buffers with closeBuffer(). The last one fills the queue, largest
///            partition first. Workers take() jobs: a partition of their own, or part in one that others work on
///
/// A partition that does not fit (Split or Chunks) is begun only when no other partition is being joined, and no other
/// one is begun before its end. Shared by workers; thread-safe where noted.
class HashJoinSpill {
public:
   /// `probeTypes`: columns of the rows put aside: the keys, then columns `probeSlots` of the probe batches.
   HashJoinSpill(const HashJoinRows& rows, const std::vector<PhysicalType>& probeTypes,
                 std::vector<uint32_t> probeSlots, bool givesBuiltRowsLast, sql::JoinKind kind, QueryBudget& budget);

   MemoryGrant& buildGrant() { return buildGrant_; }
   uint32_t workers() const { return workers_; }

   // BUILD
   void prepare(QueryContext& context);
   TupleBuffer::Options buildOptions() const;
   TupleBuffer::Options unjoinableOptions() const;
   SpilledPartitions& buildPartitions() { return *build_; }
   const SpilledPartitions& buildPartitions() const { return *build_; }
   /// For rows with a NULL key; they are never looked up, so their hashes do not matter.
   SpilledPartitions& unjoinablePartitions() { return *unjoinable_; }
   bool hasSpilledBuilt() const { return !build_->isEmpty() || !unjoinable_->isEmpty(); }
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
   /// Called after the probe side has ended and the table has released its memory.
   void closeProbe();
   bool hasPartitions() const {
      const MutexLock lock(mutex_);
      return closing_ > 0 || !queue_.empty();
   }
   /// Finish one of the buffers of probe rows; the last one makes the queue of partitions. False: no buffer is left.
   /// Thread-safe.
   bool closeBuffer(QueryContext& context);
   /// Work for one more worker; call start() before the first unit. Null: there is none now; `isEnd`: none will come.
   /// `all`: the table of the whole build side. Thread-safe.
   std::shared_ptr<PartitionJob> take(const HashJoinTable& all, bool& isEnd);
   /// There is no partition to begin, so that further workers help with those that were begun. Thread-safe.
   bool sharesJobs() const { return sharesJobs_.load(std::memory_order_relaxed); }
   /// The partition's table is loaded, so the bytes promised to it are charged. Thread-safe.
   void noteLoaded(const HashJoinPartition& partition);
   /// The job has ended: queue the parts of a partition that was split, and wake waiting workers. Thread-safe.
   void end(QueryContext& context, PartitionJob& job);
   /// The number of bits by which the partition should be split. Thread-safe.
   uint32_t splitBits(const HashJoinPartition& partition);
   /// A worker's rows of the parts. Thread-safe.
   TuplePages finishParts(TupleBuffer& buffer, SpilledPartitions& parts);
   TupleBuffer::Options partOptions() const;
   /// How many bytes of built rows one chunk may have now, and how many it may have even without room in the grant.
   size_t chunkBytes();
   size_t chunkBytesMin() const;
   /// Most bytes of the directory per row: its size is a power of two, so it may be hardly more than half full.
   static constexpr uint32_t directoryBytesPerRow = 16;
   /// How far a reader may read ahead.
   size_t aheadBytes() const;
   static constexpr size_t pagesAhead = io::SpillReader::pagesAheadMax;
   void free(TuplePages& pages);
   io::SpillSpace& space() { return *space_; }
   void countRead(size_t bytes) { readBytes_.fetch_add(bytes, std::memory_order_relaxed); }
   void countChunk() { chunks_.fetch_add(1, std::memory_order_relaxed); }

   void describe(OperatorProfile& profile) const;

private:
   using PartitionPtr = std::unique_ptr<HashJoinPartition>;
   using JobPtr = std::shared_ptr<PartitionJob>;
   TupleBuffer::Options options() const;
   void takeHashes();
   void plan(HashJoinPartition& partition) const;
   void enqueue(std::vector<PartitionPtr> partitions) REQUIRES(mutex_);
   bool isWanted(HashJoinPartition& partition);
   bool splitPays(const HashJoinPartition& partition);
   void fillQueue() REQUIRES(mutex_);
   void queueParts(PartitionJob& job) REQUIRES(mutex_);
   JobPtr begin(const HashJoinTable& all) REQUIRES(mutex_);
   size_t readingBytes() const;

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
   size_t nextBuffer_ GUARDED_BY(mutex_) = 0, closing_ GUARDED_BY(mutex_) = 0; ///< of probeBuffers_; 0: none
   bool probeSpills_ = false;                                ///< probe rows in memory are stored by closeBuffer()
   std::vector<PartitionPtr> partitions_ GUARDED_BY(mutex_); ///< by number, until the queue is made; null: not spilled
   std::deque<PartitionPtr> queue_ GUARDED_BY(mutex_);
   std::vector<JobPtr> running_ GUARDED_BY(mutex_);
   std::atomic<bool> sharesJobs_{false};
   bool isAlone_ GUARDED_BY(mutex_) = false;     ///< the partition being joined takes all the memory
   size_t promisedBytes_ GUARDED_BY(mutex_) = 0; ///< to partitions taken and not loaded
   // STATISTICS
   Transfers expected_ GUARDED_BY(mutex_); ///< of the queued partitions
   struct Side {
      uint64_t pages = 0, rows = 0, rawBytes = 0, storedBytes = 0;
      void add(const TuplePages& pages);
   };
   Side buildSpilled_, probeSpilled_;
   uint32_t partitionsSpilled_ = 0, partitionsSplit_ = 0; // the second one under mutex_
   std::atomic<uint64_t> readBytes_{0}, chunks_{0};
   std::atomic<uint64_t> tested_{0}, passed_{0}; ///< probe rows of spilled partitions, by spilledHashes_
};

} // namespace ouzel::executor
