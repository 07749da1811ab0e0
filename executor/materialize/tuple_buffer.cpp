#include "executor/materialize/tuple_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t growthFactor = 2;              // alpha of the paper
constexpr size_t partitionPageSize = 64 * 1024; // quarter frames: 256 of them for rows and as many for strings
constexpr size_t heapPageSizeMin = 16 * 1024, heapPageSizeMax = 1024 * 1024;

/// hash >> shift, where shift 64 gives 0 (a plain shift by 64 is undefined and gives hash on x86).
inline uint32_t partitionOf(uint64_t hash, uint8_t shift) {
   return static_cast<uint32_t>((hash >> 1) >> (shift - 1));
}

} // namespace

void TuplePages::merge(TuplePages&& other) {
   for (auto& page : other.pages_)
      pages_.push_back(std::move(page));
   other.pages_.clear();
}

uint64_t TuplePages::rowCount(uint32_t rowSize) const {
   uint64_t rows = 0;
   for (const auto& page : pages_)
      rows += page->rowCount(rowSize);
   return rows;
}

size_t TuplePages::bytes() const {
   size_t bytes = 0;
   for (const auto& page : pages_) {
      bytes += page->memory.bytes();
      for (const LargeMemory& companion : page->companions)
         bytes += companion.bytes();
   }
   return bytes;
}

TupleBuffer::TupleBuffer(const RowLayout& layout, Reservation& reservation, Options options)
   : layout_(layout), reservation_(reservation), options_(options), rowSize_(layout.rowSize()), out_(1, &nowhere_),
     pageSize_(options.firstPageSize) {}

TupleBuffer::~TupleBuffer() = default;

void TupleBuffer::store(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows,
                        char** heap) {
   const uint32_t rowSize = rowSize_;
   for (uint32_t i = 0; i < count; ++i) {
      const uint64_t hash = hashes[i];
      const uint32_t heapSize = heapSizes ? heapSizes[i] : 0;
      TuplePage* page = out_[partitionOf(hash, shift_)];
      if (page->limit - page->cursor < rowSize || page->heapLimit - page->heap < heapSize) [[unlikely]]
         page = emptyPage(hash, heapSize);
      std::byte* row = page->cursor;
      page->cursor = row + rowSize;
      std::memcpy(row, &hash, sizeof hash);
      rows[i] = row;
      if (heapSizes) {
         heap[i] = page->heap;
         page->heap += heapSize;
      }
   }
   rowCount_ += count;
}

std::byte* TupleBuffer::storeOne(uint64_t hash, uint32_t heapSize, char*& heap) {
   std::byte* row;
   store(&hash, &heapSize, 1, &row, &heap);
   return row;
}

TuplePage* TupleBuffer::emptyPage(uint64_t hash, uint32_t heapSize) {
   TuplePage*& slot = out_[partitionOf(hash, shift_)];
   if (slot != &nowhere_ && slot->limit - slot->cursor >= rowSize_) {
      // Rows fit, only the strings do not.
      growHeap(*slot, heapSize);
      return slot;
   }
   if (!isPartitioned()) {
      const bool isFirst = slot == &nowhere_;
      const size_t next = isFirst ? pageSize_ : pageSize_ * growthFactor;
      if (!isFirst && options_.mayPartition && next >= partitionCount * partitionPageSize) {
         startPartitioning();
         return emptyPage(hash, heapSize);
      }
      // Without partitioning, pages still must not grow without end.
      pageSize_ = std::min<size_t>(next, partitionCount * partitionPageSize);
      auto page = allocatePage(pageSize_, TuplePage::anyPartition);
      slot = page.get();
      pages_.add(std::move(page));
   } else {
      const uint32_t partition = partitionOf(hash, shift_);
      auto page = allocatePage(partitionPageSize, partition);
      slot = page.get();
      pages_.add(std::move(page));
   }
   if (heapSize > 0) growHeap(*slot, heapSize);
   return slot;
}

std::unique_ptr<TuplePage> TupleBuffer::allocatePage(size_t bytes, uint32_t partition) {
   bytes = std::max<size_t>(bytes, rowSize_);
   auto page = std::make_unique<TuplePage>();
   page->partition = partition;
   // The one place where memory runs out: a page of a victim partition will be spilled here instead of giving up.
   page->memory = LargeMemory(bytes, reservation_);
   // Aggregate states with 128-bit sums want 16; calloc and mmap give it.
   page->begin = page->cursor = page->memory.as<std::byte>();
   page->limit = page->begin + bytes / rowSize_ * rowSize_;
   return page;
}

void TupleBuffer::growHeap(TuplePage& page, uint32_t heapSize) {
   size_t size = page.companions.empty() ? heapPageSizeMin
                                         : std::min(page.companions.back().bytes() * growthFactor, heapPageSizeMax);
   size = std::max<size_t>(size, heapSize);
   page.companions.push_back(LargeMemory(size, reservation_));
   page.heap = page.companions.back().as<char>();
   page.heapLimit = page.heap + size;
}

void TupleBuffer::startPartitioning() {
   shift_ = 64 - partitionBits;
   out_.assign(partitionCount, &nowhere_);
}

TuplePages TupleBuffer::takePages() {
   out_.assign(1, &nowhere_);
   shift_ = 64;
   pageSize_ = options_.firstPageSize;
   rowCount_ = 0;
   return std::exchange(pages_, {});
}

} // namespace ouzel::executor
