#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/materialize/large_memory.hpp"
#include "executor/materialize/row_layout.hpp"

// Umami pages (Kuschewski et al., "High-Performance Query Processing with NVMe Arrays", 4.2 and 5.3): operators store
// tuples without knowing where they land. All adaptivity (growing pages, starting to partition, spilling) lives in
// TupleBuffer::emptyPage, once per page.

namespace ouzel::executor {

inline constexpr uint32_t partitionBits = 8;
inline constexpr uint32_t partitionCount = 1u << partitionBits;

/// Some rows of one partition (or of all) as an array, and the memory their long strings point into. Rows never move.
struct TuplePage {
   static constexpr uint32_t anyPartition = UINT32_MAX;

   LargeMemory memory;
   std::byte* begin = nullptr;
   std::byte* cursor = nullptr; ///< end of the rows
   std::byte* limit = nullptr;
   char* heap = nullptr; ///< next free byte of companion memory
   char* heapLimit = nullptr;
   std::vector<LargeMemory> companions;
   uint32_t partition = anyPartition;

   uint32_t rowCount(uint32_t rowSize) const { return static_cast<uint32_t>((cursor - begin) / rowSize); }
};

/// The pages several buffers of one operator have filled. Owned by the operator once its input has ended.
class TuplePages {
public:
   void add(std::unique_ptr<TuplePage> page) { pages_.push_back(std::move(page)); }
   void merge(TuplePages&& other);
   void clear() { pages_.clear(); }

   const std::vector<std::unique_ptr<TuplePage>>& pages() const { return pages_; }
   uint64_t rowCount(uint32_t rowSize) const;
   size_t bytes() const;

private:
   std::vector<std::unique_ptr<TuplePage>> pages_;
};

/// Where one worker stores the rows of one operator. Starts with one growing page; once the next page would be as large
/// as a small page per partition, it stores by the top bits of the hash. Not thread-safe.
class TupleBuffer {
public:
   struct Options {
      bool mayPartition = true;
      size_t firstPageSize = 64 * 1024;
   };
   TupleBuffer(const RowLayout& layout, Reservation& reservation, Options options);
   TupleBuffer(const RowLayout& layout, Reservation& reservation) : TupleBuffer(layout, reservation, Options{}) {}
   ~TupleBuffer();

   /// Make room for `count` rows with these hashes: rows[i] becomes a zeroed row with its hash set, heap[i] its
   /// companion memory of heapSizes[i] bytes. `heapSizes` null: no long strings (then `heap` is not written).
   void store(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows, char** heap);
   /// One row; as store().
   std::byte* storeOne(uint64_t hash, uint32_t heapSize, char*& heap);

   uint64_t rowCount() const { return rowCount_; }
   bool isPartitioned() const { return shift_ != 64; }
   /// Give up all pages, the open ones included; the buffer starts anew.
   TuplePages takePages();

private:
   TuplePage* emptyPage(uint64_t hash, uint32_t heapSize);
   std::unique_ptr<TuplePage> allocatePage(size_t bytes, uint32_t partition);
   void growHeap(TuplePage& page, uint32_t heapSize);
   void startPartitioning();

   // PROPERTIES
   const RowLayout& layout_;
   Reservation& reservation_;
   const Options options_;
   const uint32_t rowSize_;
   // STATE
   std::vector<TuplePage*> out_; ///< the current page of each partition
   uint8_t shift_ = 64;          ///< 64 - log2 of how many partitions there are
   size_t pageSize_;             ///< of the next unpartitioned page
   uint64_t rowCount_ = 0;
   TuplePages pages_;
   TuplePage nowhere_; ///< full from the start: stands for a page not yet made, so that the store path has no null test
};

} // namespace ouzel::executor
