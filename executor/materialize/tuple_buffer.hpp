#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "common/sync/mutex.hpp"
#include "executor/materialize/row_layout.hpp"
#include "executor/materialize/row_packing.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "io/spill/spill.hpp"

// Umami pages (Kuschewski et al., "High-Performance Query Processing with NVMe Arrays", 4.2 and 5.3): operators store
// tuples without knowing where they land. All adaptivity lives here: growing pages and starting to partition in
// emptyPage(), once per page; spilling in relieve(), between batches, so that rows handed out stay where they are while
// a batch is worked on.

namespace ouzel::executor {

inline constexpr uint32_t partitionBitsMax = 8;
inline constexpr uint32_t partitionCountMax = 1u << partitionBitsMax;

/// Some rows of one partition (or of all) as an array, and the memory their long strings point into. Rows never move.
struct TuplePage {
   static constexpr uint32_t anyPartition = UINT32_MAX;

   LargeMemory memory;
   std::byte* begin = nullptr;
   std::byte* cursor = nullptr; ///< end of the rows
   std::byte* limit = nullptr;
   char* heap = nullptr; ///< next free byte of companion memory
   char* heapLimit = nullptr;
   struct Companion {
      LargeMemory memory;
      size_t used = 0; ///< of all but the last, whose end is `heap`
   };
   std::vector<Companion> companions;
   uint32_t partition = anyPartition;
   uint32_t settledRows = 0; ///< whose strings all lie in this page's memory

   uint32_t rowCount(uint32_t rowSize) const { return static_cast<uint32_t>((cursor - begin) / rowSize); }
   size_t bytes() const;
};

/// A page on disk.
struct SpilledTuples {
   io::SpilledPage page; ///< of packed rows
   uint32_t partition;
   uint32_t rowCount;
   uint32_t bytes; ///< of memory that it takes when it is back
};

/// What the buffers of one operator, one per worker, have in common: where they spill, and which partitions they have
/// begun to spill. Thread-safe.
class SpilledPartitions {
public:
   /// `space` null: nothing is ever spilled. `skippedBits`: of the hash, by which the rows are partitioned already.
   SpilledPartitions(io::SpillSpace* space, uint32_t bits, uint32_t skippedBits = 0)
      : space_(space), bits_(bits), skippedBits_(skippedBits) {}

   /// log2 of the number of partitions.
   uint32_t bits() const { return bits_; }
   uint32_t skippedBits() const { return skippedBits_; }
   uint32_t partitionOf(uint64_t hash) const {
      return bits_ == 0 ? 0 : static_cast<uint32_t>(hash << skippedBits_ >> (64 - bits_));
   }
   bool contains(uint32_t partition) const {
      DCHECK(partition < partitionCountMax);
      return (mask_[partition / 64].load(std::memory_order_acquire) >> (partition % 64) & 1) != 0;
   }
   bool isEmpty() const;
   /// From now on none of its rows stays in memory when a buffer is finished. REQUIRES: there is a space.
   void insert(uint32_t partition) {
      DCHECK(space_ != nullptr);
      DCHECK(partition < partitionCountMax);
      mask_[partition / 64].fetch_or(uint64_t{1} << (partition % 64), std::memory_order_acq_rel);
      insertions_.fetch_add(1, std::memory_order_release);
   }
   io::SpillSpace* space() const { return space_; }
   /// What the operator is going to need for the rows in memory besides their pages.
   size_t laterBytes() const { return laterBytes_.load(std::memory_order_relaxed); }
   /// All but a small part of `grant` must do for the open pages of so many workers: fewer partitions when it is small.
   static uint32_t bitsFor(size_t grant, uint32_t workers);
   /// And smaller pages.
   static size_t pageSizeFor(size_t grant, uint32_t workers, uint32_t bits);

private:
   friend class TupleBuffer;
   io::SpillSpace* const space_;
   const uint32_t bits_, skippedBits_;
   std::atomic<size_t> laterBytes_{0};
   std::atomic<uint32_t> buffers_{0};    ///< that there are
   std::atomic<uint32_t> insertions_{0}; ///< how often a partition was inserted
   Mutex choosing_; ///< held while a new victim is chosen, so that workers do not all choose different ones
   std::array<std::atomic<uint64_t>, partitionCountMax / 64> mask_{};
};

/// The pages several buffers of one operator have filled. Owned by the operator once its input has ended.
class TuplePages {
public:
   void add(std::unique_ptr<TuplePage> page) { pages_.push_back(std::move(page)); }
   void addSpilled(const SpilledTuples& spilled) { spilled_.push_back(spilled); }
   void merge(TuplePages&& other);
   void clear();

   /// In memory.
   const std::vector<std::unique_ptr<TuplePage>>& pages() const { return pages_; }
   std::vector<std::unique_ptr<TuplePage>> takePages() { return std::move(pages_); }
   const std::vector<SpilledTuples>& spilled() const { return spilled_; }
   uint64_t rowCount(uint32_t rowSize) const; ///< in memory and spilled
   size_t bytes() const;                      ///< in memory

private:
   std::vector<std::unique_ptr<TuplePage>> pages_;
   std::vector<SpilledTuples> spilled_;
};

/// Where one worker stores the rows of one operator. Starts with one growing page; once the next page would be as large
/// as a small page per partition, it stores by the top bits of the hash. Not thread-safe.
class TupleBuffer {
public:
   struct Options {
      size_t firstPageSize = 64 * 1024;
      size_t partitionPageSize = 64 * 1024; ///< quarter frames: 256 of them for rows and as many for strings
      bool startsPartitioned = false;
      /// Unless 0, rows are stored by partition only once the operator has so many bytes: for who reads rows at random
      /// when all fit, and is then better off with few large pages in the order the rows came.
      size_t partitionsFrom = 0;
      /// For the table over a row in memory once all input is there; kept free for it.
      uint32_t laterBytesPerRow = 0;
   };
   TupleBuffer(const RowLayout& layout, MemoryGrant& grant, SpilledPartitions& partitions, Options options);
   TupleBuffer(const RowLayout& layout, MemoryGrant& grant, SpilledPartitions& partitions)
      : TupleBuffer(layout, grant, partitions, Options{}) {}
   ~TupleBuffer();

   /// Make room for `count` rows with these hashes: rows[i] becomes a zeroed row with its hash set, heap[i] its
   /// companion memory of heapSizes[i] bytes. `heapSizes` null: no long strings (then `heap` is not written).
   void store(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows, char** heap);
   /// One row; as store().
   std::byte* storeOne(uint64_t hash, uint32_t heapSize, char*& heap);

   /// Copies of the page's rows with all their strings.
   void storeCopies(const TuplePage& page);

   uint64_t rowCount() const { return rowCount_; } ///< spilled ones included
   bool isPartitioned() const { return shift_ != 64; }
   /// More was taken than the grant allows: relieve() is due at the next moment when no row is in use.
   bool wantsRelief() const { return wantsRelief_; }
   /// Strings of extra parts take so many bytes outside the pages now.
   void expectOutside(size_t bytes);
   /// Spill full pages until the grant has room again, or none is left. Rows may be somewhere else, or gone,
   /// afterwards. What remains points nowhere but into its own pages: arenas of the rows' states may be freed.
   void relieve();
   /// Give up all pages, the open ones included; the buffer starts anew. Rows of partitions that others have spilled
   /// may still be here.
   TuplePages takePages();
   /// As takePages(), with the pages of spilled partitions spilled and the others partitioned, if anything was spilled.
   TuplePages finish();

private:
   TuplePage* emptyPage(uint64_t hash, uint32_t heapSize);
   std::unique_ptr<TuplePage> allocatePage(size_t bytes, uint32_t partition);
   void growHeap(TuplePage& page, uint32_t heapSize);
   void expectLater();
   bool mayGrow(size_t bytes) { return grant_.mayGrow(bytes + partitions_.laterBytes()); }
   size_t laterBytesOf(const TuplePage& page) const;
   void startPartitioning();
   void partitionPages();
   size_t unsettledBytes(const TuplePage& page) const;
   void countUnsettled();
   void settle(TuplePage& page);
   bool spill(TuplePage& page);
   void spillVictims(size_t wanted);
   void storeCopies(std::byte* begin, std::byte* end);
   uint32_t chooseVictim(const std::vector<size_t>& sizes);

   // PROPERTIES
   const RowLayout& layout_;
   MemoryGrant& grant_;
   SpilledPartitions& partitions_;
   const Options options_;
   const uint32_t rowSize_;
   const RowPacking packing_;
   size_t partitionsFrom_; ///< the option, but as ouzel.partition wants it
   // STATE
   std::vector<TuplePage*> out_; ///< the current page of each partition
   uint8_t shift_ = 64;          ///< 64 - log2 of how many partitions there are
   size_t pageSize_;             ///< of the next unpartitioned page
   bool wantsRelief_ = false;
   uint32_t insertionsSeen_ = 0; ///< when pages of spilled partitions were last spilled here
   size_t outsideBytes_ = 0;
   size_t unsettled_ = 0; ///< while pages are partitioned and spilled: of the pages there are
   size_t expected_ = 0;  ///< of it and of pages to come, in partitions_.laterBytes_
   uint64_t rowCount_ = 0;
   TuplePages pages_;
   TuplePage nowhere_; ///< full from the start: stands for a page not yet made, so that the store path has no null test
};

/// Brings spilled pages back, some ahead of time. One worker's.
class TupleReader {
public:
   TupleReader(const RowLayout& layout, Reservation& memory, io::SpillSpace& space,
               size_t aheadBytes = size_t{2} << 20);
   /// What is allocated for a page that is to hold so many bytes.
   static size_t memoryFor(size_t bytes);
   /// `isLastUse`: its space on disk is freed once it has been read.
   void add(const SpilledTuples& spilled, bool isLastUse = true);
   /// The next page in the order they were added; null at the end.
   std::unique_ptr<TuplePage> next();

private:
   const RowLayout& layout_;
   const RowPacking packing_;
   Reservation& memory_;
   io::SpillReader reader_;
   LargeMemory packed_; ///< the page being brought back
   std::vector<SpilledTuples> queue_;
   size_t at_ = 0;
};

} // namespace ouzel::executor
