#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "common/sync/mutex.hpp"
#include "executor/materialize/majority_vote.hpp"
#include "executor/materialize/row_layout.hpp"
#include "executor/materialize/row_packing.hpp"
#include "executor/pipeline/hash_filter.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "io/spill/spill.hpp"

// Umami pages (Kuschewski et al., "High-Performance Query Processing with NVMe Arrays", 4.2 and 5.3): operators store
// tuples without knowing whether the tuples are partitioned or spilled. Three classes share the work:
//
//    TupleBuffer         one per worker    stores rows in pages, partitions and spills the pages
//    SpilledPartitions   one per operator  which partitions are spilled, and where
//    TuplePages          the result of a buffer, or of all: pages in memory and on disk
//
// Life of a buffer:
//
//    one growing page at a time --> one page per partition --> pages of some partitions spilled --> finish()
//                        emptyPage()                   relieve()
//
// emptyPage() is called once per page. relieve() is called between batches, so that rows handed out stay in place while
// the operator works on a batch.
//
// Strings: a long string of a column lies in a companion of the row's page. A string of an extra part (an aggregate's
// state) may lie outside the page, in an arena. A page owns its strings when those of its extra parts lie in its
// companions, too; only then may the arena be freed.

namespace ouzel::executor {

inline constexpr uint32_t partitionBitsMax = 8;
inline constexpr uint32_t partitionCountMax = 1u << partitionBitsMax;

/// An array of rows of one partition (or of all partitions), and the companion memory of their long strings. Rows never
/// move.
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
      size_t used = 0; ///< bytes; in the last companion `heap` counts instead
   };
   std::vector<Companion> companions;
   uint32_t partition = anyPartition;
   uint32_t rowsWithOwnStrings = 0; ///< the first so many rows have no string outside the page

   uint32_t rowCount(uint32_t rowSize) const { return static_cast<uint32_t>((cursor - begin) / rowSize); }
   size_t bytes() const;
};

/// A page of tuples on disk.
struct SpilledTuplePage {
   io::SpilledPage page; ///< the packed rows (RowPacking)
   uint32_t partition;
   uint32_t rowCount;
   uint32_t bytes;                    ///< of memory that the page takes when a TupleReader has loaded it
   std::vector<io::SpilledPage> rest; ///< the packed rows after the first SpillSpace::pageBytesMax bytes

   size_t storedBytes() const;
};

/// State shared by an operator's buffers (one per worker): the spill space, and the partitions that are spilled. A
/// spilled partition stays spilled: each buffer spills all its rows of the partition, in relieve() or in finish().
/// Outlives the buffers. Thread-safe.
class SpilledPartitions {
public:
   /// `space` null: nothing is ever spilled. `skippedBits`: number of top bits of the hash by which the rows have been
   /// partitioned before.
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
   /// How many partitions are spilled.
   uint32_t count() const;
   /// Marks the partition as spilled. REQUIRES: space() is not null.
   void insert(uint32_t partition) {
      DCHECK(space_ != nullptr);
      DCHECK(partition < partitionCountMax);
      mask_[partition / 64].fetch_or(uint64_t{1} << (partition % 64), std::memory_order_acq_rel);
      insertions_.fetch_add(1, std::memory_order_release);
   }
   io::SpillSpace* space() const { return space_; }
   /// From now on, the hashes of rows that are spilled go to a filter of at most `bytes` bytes. It is made when the
   /// first page is spilled, and memory is kept free for it until then. Called before the first row.
   void collectHashes(Reservation& memory, size_t bytes);
   /// After the last row: the filter with the hashes of all spilled rows. Null: nothing was spilled, or there was no
   /// room for a filter.
   std::shared_ptr<HashFilter> takeHashes() { return std::move(hashes_); }
   /// From now on, each partition's spilled rows vote for the most frequent hash. Called before the first row.
   void collectVotes();
   /// After the last row: the vote of a partition's spilled rows. Empty if votes are not collected.
   MajorityVote voteOf(uint32_t partition) const;
   /// Bytes that the operator will need later for the rows in memory, in addition to their pages. Kept free.
   size_t laterBytes() const { return laterBytes_.load(std::memory_order_relaxed); }
   /// log2 of the number of partitions for which half of `grant` bytes can hold the open pages of `workers` buffers; at
   /// least 3.
   static uint32_t bitsFor(size_t grant, uint32_t workers);
   /// The size of pages for which a third of `grant` bytes can hold the open pages: 14 to 64 KiB.
   static size_t pageSizeFor(size_t grant, uint32_t workers, uint32_t bits);

private:
   friend class TupleBuffer;
   void noteSpilled(const TuplePage& page, uint32_t rowSize);

   // PROPERTIES
   io::SpillSpace* const space_;
   const uint32_t bits_, skippedBits_;
   Reservation* hashesMemory_ = nullptr; ///< null: hashes are not collected
   size_t hashesBytes_ = 0;
   // STATE
   std::once_flag hashesMade_;
   std::shared_ptr<HashFilter> hashes_; ///< written once, when hashesMade_ is set
   mutable Mutex voting_;
   std::vector<MajorityVote> votes_ GUARDED_BY(voting_); ///< by partition; empty: not collected
   std::atomic<size_t> laterBytes_{0};
   std::atomic<uint32_t> buffers_{0};    ///< number of buffers
   std::atomic<uint32_t> insertions_{0}; ///< number of insert() calls
   Mutex choosing_;                      ///< held while a victim is chosen, so that workers choose the same one
   std::array<std::atomic<uint64_t>, partitionCountMax / 64> mask_{};
};

/// The pages that one or several buffers of an operator have filled. Owned by the operator once its input has ended.
/// Not thread-safe.
class TuplePages {
public:
   void add(std::unique_ptr<TuplePage> page) { pages_.push_back(std::move(page)); }
   void addSpilled(SpilledTuplePage spilled) { spilled_.push_back(std::move(spilled)); }
   void merge(TuplePages&& other);
   void clear();

   /// The pages in memory.
   const std::vector<std::unique_ptr<TuplePage>>& pages() const { return pages_; }
   std::vector<std::unique_ptr<TuplePage>> takePages() { return std::move(pages_); }
   const std::vector<SpilledTuplePage>& spilled() const { return spilled_; }
   uint64_t rowCount(uint32_t rowSize) const; ///< in memory and spilled
   size_t bytes() const;                      ///< in memory

private:
   std::vector<std::unique_ptr<TuplePage>> pages_;
   std::vector<SpilledTuplePage> spilled_;
};

/// Stores the rows of one worker of an operator. Starts with one growing page. Once the next page would be as large as
/// a small page per partition, rows are stored by the top bits of their hash. Charges its pages to the operator's
/// grant. Not thread-safe.
class TupleBuffer {
public:
   static constexpr size_t heapPageSizeMin = 16 * 1024; ///< bytes of a page's first companion
   struct Options {
      size_t firstPageSize = 64 * 1024;
      size_t partitionPageSize = 64 * 1024; ///< a quarter of a frame: 256 such pages for rows, 256 for strings
      bool startsPartitioned = false;
      /// Unless 0, rows are stored by partition only once the operator has so many bytes. For operators that read rows
      /// at random when all fit: these profit from few large pages with rows in order of arrival.
      size_t partitionsFrom = 0;
      /// Bytes per row in memory of the table that is made after the input; kept free until then.
      uint32_t laterBytesPerRow = 0;
   };
   TupleBuffer(const RowLayout& layout, MemoryGrant& grant, SpilledPartitions& partitions, Options options);
   TupleBuffer(const RowLayout& layout, MemoryGrant& grant, SpilledPartitions& partitions)
      : TupleBuffer(layout, grant, partitions, Options{}) {}
   ~TupleBuffer();

   /// Make room for `count` rows with these hashes: rows[i] becomes a zeroed row with its hash set, heap[i] becomes
   /// heapSizes[i] bytes of companion memory. `heapSizes` null: no long strings (then `heap` is not written).
   void store(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows, char** heap);
   /// One row; as store().
   std::byte* storeOne(uint64_t hash, uint32_t heapSize, char*& heap);

   /// Store copies of the page's rows with all their strings.
   void storeCopies(const TuplePage& page);

   uint64_t rowCount() const { return rowCount_; } ///< spilled rows included
   bool isPartitioned() const { return shift_ != 64; }
   /// The buffer holds more than the grant allows: call relieve() as soon as no row is in use.
   bool wantsRelief() const { return wantsRelief_; }
   /// Strings of extra parts take `bytes` bytes outside the pages now.
   void expectOutside(size_t bytes);
   /// Spill full pages until the grant has room again, or no full page is left. Invalidates all rows: they may have
   /// moved or been spilled. All remaining pages own their strings then, so that the arenas of the rows' states may be
   /// freed.
   void relieve();
   /// Give up all pages, the open ones included; the buffer starts anew. The pages may have rows of partitions that
   /// other buffers have spilled.
   TuplePages takePages();
   /// As takePages(), but if any partition is spilled, all pages are partitioned, and those of spilled partitions are
   /// on disk.
   TuplePages finish();

private:
   /// Where a partition's next row goes: the cursors of its open page. Kept apart from the page, so that the cursors of
   /// all partitions stay in the first cache.
   struct Cursors {
      std::byte* row = nullptr;
      std::byte* limit = nullptr;
      char* heap = nullptr;
      char* heapLimit = nullptr;
   };
   template <uint32_t rowWords, bool hasHeap>
   void storeRows(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows, char** heap);
   void writeBack(uint32_t slot);
   void writeBackAll();
   void readCursors(uint32_t slot);
   void readAllCursors();
   void close();
   void emptyPage(uint64_t hash, uint32_t heapSize);
   std::unique_ptr<TuplePage> allocatePage(size_t bytes, uint32_t partition);
   void growHeap(TuplePage& page, uint32_t heapSize);
   void expectLater();
   bool mayGrow(size_t bytes) { return grant_.mayGrow(bytes + partitions_.laterBytes()); }
   size_t laterBytesOf(const TuplePage& page) const;
   void startPartitioning();
   void partitionPages();
   size_t foreignStringBytes(const TuplePage& page) const;
   void countForeignStringBytes();
   void adoptStrings(TuplePage& page);
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
   size_t partitionsFrom_; ///< the option, or SIZE_MAX if Partitioning::Never
   // STATE
   std::vector<TuplePage*> out_;  ///< the current page of each partition
   std::vector<Cursors> cursors_; ///< of out_; those in the pages are older until writeBack()
   uint8_t shift_ = 64;           ///< 64 - log2 of the number of partitions in use
   size_t pageSize_;              ///< of the next unpartitioned page
   bool wantsRelief_ = false;
   uint32_t insertionsSeen_ = 0; ///< insertions_ when this buffer last spilled pages
   size_t outsideBytes_ = 0;
   size_t foreignStringBytes_ = 0; ///< bytes of strings outside the pages, while relieve() runs
   size_t expected_ = 0;           ///< this buffer's part of partitions_.laterBytes_, see expectLater()
   uint64_t rowCount_ = 0;
   TuplePages pages_;
   TuplePage nowhere_; ///< a full page in place of one not yet made: spares store() a null test
};

/// Loads spilled pages in the order in which they were added, and reads ahead `aheadBytes`. Used by one worker.
class TupleReader {
public:
   TupleReader(const RowLayout& layout, Reservation& memory, io::SpillSpace& space,
               size_t aheadBytes = size_t{2} << 20);
   /// The bytes that a page with `bytes` bytes of rows and strings allocates.
   static size_t memoryFor(size_t bytes);
   /// `isLastUse`: the page's space on disk is freed once the page has been read.
   void add(const SpilledTuplePage& spilled, bool isLastUse = true);
   /// The next page; null at the end.
   std::unique_ptr<TuplePage> next();

private:
   const RowLayout& layout_;
   const RowPacking packing_;
   Reservation& memory_;
   io::SpillReader reader_;
   LargeMemory packed_; ///< the packed rows of the page being loaded
   std::vector<SpilledTuplePage> queue_;
   size_t at_ = 0;
};

} // namespace ouzel::executor
