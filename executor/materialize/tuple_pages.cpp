#include <algorithm>
#include <bit>

#include "common/error/sql_error.hpp"
#include "executor/materialize/tuple_buffer.hpp"

// The pages that buffers have filled, and what the buffers of an operator know of spilled partitions.

namespace ouzel::executor {

size_t TuplePage::bytes() const {
   size_t bytes = memory.bytes();
   for (const Companion& companion : companions)
      bytes += companion.memory.bytes();
   return bytes;
}

size_t SpilledTuplePage::storedBytes() const {
   size_t stored = page.storedBytes();
   for (const io::SpilledPage& piece : rest)
      stored += piece.storedBytes();
   return stored;
}

bool SpilledPartitions::isEmpty() const {
   return std::all_of(mask_.begin(), mask_.end(), [](const auto& word) { return word.load() == 0; });
}

uint32_t SpilledPartitions::count() const {
   int count = 0;
   for (const auto& word : mask_)
      count += std::popcount(word.load());
   return static_cast<uint32_t>(count);
}

void SpilledPartitions::collectHashes(Reservation& memory, size_t bytes) {
   if (!space_) return;
   hashesMemory_ = &memory;
   hashesBytes_ = std::min<size_t>(std::bit_floor(bytes), HashFilter::wordsMax * sizeof(uint64_t));
   DCHECK(hashesBytes_ >= sizeof(uint64_t));
   laterBytes_.fetch_add(hashesBytes_, std::memory_order_relaxed);
}

void SpilledPartitions::collectVotes() {
   const MutexLock lock(voting_);
   votes_.assign(size_t{1} << bits_, {});
}

MajorityVote SpilledPartitions::voteOf(uint32_t partition) const {
   const MutexLock lock(voting_);
   return partition < votes_.size() ? votes_[partition] : MajorityVote();
}

/// Called with each page before it is spilled.
void SpilledPartitions::noteSpilled(const TuplePage& page, uint32_t rowSize) {
   {
      const MutexLock lock(voting_);
      if (!votes_.empty()) {
         MajorityVote vote = votes_[page.partition];
         for (const std::byte* row = page.begin; row != page.cursor; row += rowSize)
            vote.add(rowHash(row));
         votes_[page.partition] = vote;
      }
   }
   if (!hashesMemory_) return;
   std::call_once(hashesMade_, [&] {
      laterBytes_.fetch_sub(hashesBytes_, std::memory_order_relaxed);
      try {
         hashes_ = std::make_shared<HashFilter>(hashesBytes_ / sizeof(uint64_t), *hashesMemory_);
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::outOfMemory) throw;
      }
   });
   if (!hashes_) return;
   for (const std::byte* row = page.begin; row != page.cursor; row += rowSize)
      hashes_->add(rowHash(row));
}

uint32_t SpilledPartitions::bitsFor(size_t grant, uint32_t workers) {
   const size_t openPages =
       grant / 2 / (std::max(workers, 1u) * (TupleBuffer::Options{}.partitionPageSize + TupleBuffer::heapPageSizeMin));
   return std::clamp<uint32_t>(openPages < 2 ? 0 : static_cast<uint32_t>(std::bit_width(openPages) - 1), 3,
                               partitionBitsMax);
}

size_t SpilledPartitions::pageSizeFor(size_t grant, uint32_t workers, uint32_t bits) {
   // Packed, a page takes a third or less: devices read slices of 10 KiB at half the rate of larger ones.
   // The smallest size is the largest that jemalloc packs into slabs: from 16 KiB on, each allocation takes a memory
   // page more, which nobody charges.
   constexpr size_t pageSizeMin = 14 << 10, pageSizeMax = 64 << 10;
   const size_t wanted = std::bit_floor(grant / 3 / (size_t{std::max(workers, 1u)} << bits));
   return wanted < 32 << 10 ? pageSizeMin : std::min(wanted, pageSizeMax);
}

void TuplePages::merge(TuplePages&& other) {
   DCHECK(&other != this);
   for (auto& page : other.pages_)
      pages_.push_back(std::move(page));
   spilled_.insert(spilled_.end(), other.spilled_.begin(), other.spilled_.end());
   other.clear();
}

void TuplePages::clear() {
   pages_.clear();
   spilled_.clear();
}

uint64_t TuplePages::rowCount(uint32_t rowSize) const {
   uint64_t rows = 0;
   for (const auto& page : pages_)
      rows += page->rowCount(rowSize);
   for (const SpilledTuplePage& page : spilled_)
      rows += page.rowCount;
   return rows;
}

size_t TuplePages::bytes() const {
   size_t bytes = 0;
   for (const auto& page : pages_)
      bytes += page->bytes();
   return bytes;
}

} // namespace ouzel::executor
