#include "executor/operator/join_rows.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace ouzel::executor {

namespace {
constexpr size_t pageBytesFirst = 8 << 10;
constexpr size_t pageBytesMax = 256 << 10;
/// Past this many ordinary pages the rows are read at random by a large join: huge pages spare it TLB misses.
constexpr size_t ordinaryPagesMax = 32;
constexpr size_t pageBytesHuge = 4 << 20;
} // namespace

void JoinRows::openPage() {
   size_t bytes = std::min(pageBytesMax, pageBytesFirst << std::min<size_t>(2 * pages_.size(), 10));
   if (pages_.size() >= ordinaryPagesMax) bytes = pageBytesHuge;
   bytes = std::max<size_t>(bytes, layout_->rowSize());
   Page page;
   page.memory = LargeMemory(bytes, *memory_);
   page.capacity = static_cast<uint32_t>(bytes / layout_->rowSize());
   pages_.push_back(std::move(page));
}

void JoinRows::allocate(uint32_t count, std::byte** rows) {
   const uint32_t rowSize = layout_->rowSize();
   rowCount_ += count;
   for (uint32_t done = 0; done < count;) {
      if (pages_.empty() || pages_.back().rowCount == pages_.back().capacity) openPage();
      Page& page = pages_.back();
      const uint32_t take = std::min(count - done, page.capacity - page.rowCount);
      std::byte* at = page.memory.as<std::byte>() + size_t{page.rowCount} * rowSize;
      for (uint32_t i = 0; i < take; ++i, at += rowSize)
         rows[done + i] = at;
      page.rowCount += take;
      done += take;
   }
}

char* JoinRows::allocateHeap(size_t bytes) {
   if (heaps_.empty() || heapUsed_ + bytes > heaps_.back().bytes()) {
      const size_t usual = std::min(pageBytesMax, pageBytesFirst << std::min<size_t>(2 * heaps_.size(), 10));
      heaps_.emplace_back(std::max(bytes, usual), *memory_);
      heapUsed_ = 0;
   }
   char* at = heaps_.back().as<char>() + heapUsed_;
   heapUsed_ += bytes;
   return at;
}

void JoinRows::write(const LiveColumn* columns, uint32_t count, std::byte* const* rows) {
   uint32_t sizes[batchRowsMax];
   char* heap[batchRowsMax];
   bool hasLong = false;
   if (layout_->hasVariableSize()) {
      std::memset(sizes, 0, count * sizeof(uint32_t));
      for (uint32_t c = 0; c < layout_->columnCount(); ++c)
         if (isVariableSize(layout_->type(c))) hasLong |= addVariableSizes(columns[c], count, sizes);
      if (hasLong) {
         size_t total = 0;
         for (uint32_t i = 0; i < count; ++i)
            total += sizes[i];
         char* at = allocateHeap(total);
         for (uint32_t i = 0; i < count; ++i) {
            heap[i] = at;
            at += sizes[i];
         }
      }
   }
   for (uint32_t c = 0; c < layout_->columnCount(); ++c)
      scatterColumn(*layout_, c, columns[c], count, rows, hasLong ? heap : nullptr);
}

void JoinRows::absorb(JoinRows& other) {
   std::move(other.pages_.begin(), other.pages_.end(), std::back_inserter(pages_));
   std::move(other.heaps_.begin(), other.heaps_.end(), std::back_inserter(heaps_));
   rowCount_ += other.rowCount_;
   other.clear();
}

void JoinRows::clear() {
   pages_.clear();
   heaps_.clear();
   rowCount_ = 0;
   heapUsed_ = 0;
}

} // namespace ouzel::executor
