#include "executor/materialize/tuple_buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t growthFactor = 2;         // alpha of the paper
constexpr size_t largePageSize = 16 << 20; // consists of huge pages
constexpr size_t heapPageSizeMin = 16 * 1024, heapPageSizeMax = 1024 * 1024;
/// A page of a partition whose companions have so many bytes gets no further companion: a new page is begun.
constexpr size_t pageHeapMax = 256 * 1024;
/// The companions have at most so many times the bytes of the page's rows; matters for small pages.
constexpr size_t pageHeapFactor = 4;
/// relieve() frees the operator's floor divided by this, but at least reliefMin.
constexpr size_t reliefDivisor = 64;
constexpr size_t reliefMin = 256 * 1024;
/// Bytes of rows that are copied by partition before the copies may be spilled.
constexpr size_t copiedAtOnce = 512 * 1024;

/// hash >> shift, where shift 64 gives 0 (a plain shift by 64 is undefined and gives hash on x86).
inline uint32_t slotOf(uint64_t hash, uint8_t shift) {
   return static_cast<uint32_t>((hash >> 1) >> (shift - 1));
}

/// Memory for the packed bytes of one page. Each thread keeps memory for pages of usual size.
class PackedPage {
public:
   explicit PackedPage(size_t bytes) {
      thread_local Bytes usual;
      if (bytes > usualBytes) {
         large_ = Bytes(new std::byte[bytes]);
         data_ = large_.get();
         return;
      }
      if (!usual) usual = Bytes(new std::byte[usualBytes]);
      data_ = usual.get();
   }
   std::byte* data() const { return data_; }

private:
   using Bytes = std::unique_ptr<std::byte[]>;
   static constexpr size_t usualBytes = size_t{512} << 10;
   Bytes large_;
   std::byte* data_;
};

template <typename Body>
void forEachString(const std::vector<uint32_t>& offsets, std::byte* begin, std::byte* end, uint32_t rowSize,
                   Body&& body) {
   if (offsets.empty()) return;
   for (std::byte* row = begin; row != end; row += rowSize)
      for (const uint32_t offset : offsets) {
         auto* string = reinterpret_cast<StringView*>(row + offset);
         if (!string->isInline()) body(row, *string);
      }
}

void moveTo(StringView& string, char*& heap) {
   const uint32_t size = string.size();
   std::memcpy(heap, string.data(), size);
   string.rebase(heap, StringView::Storage::Transient);
   heap += size;
}

} // namespace

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
       grant / 2 / (std::max(workers, 1u) * (TupleBuffer::Options{}.partitionPageSize + heapPageSizeMin));
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

// ---- storing ----

TupleBuffer::TupleBuffer(const RowLayout& layout, MemoryGrant& grant, SpilledPartitions& partitions, Options options)
   : layout_(layout), grant_(grant), partitions_(partitions), options_(options), rowSize_(layout.rowSize()),
     packing_(layout), partitionsFrom_(options.partitionsFrom), out_(1, &nowhere_), pageSize_(options.firstPageSize) {
   DCHECK(partitions.bits() > 0);
   DCHECK(partitions.bits() <= partitionBitsMax);
   DCHECK(partitions.bits() + partitions.skippedBits() <= 64);
   DCHECK(rowSize_ > 0); // the layout is sealed
   DCHECK(rowSize_ % 8 == 0);
   partitions_.buffers_.fetch_add(1, std::memory_order_relaxed);
   insertionsSeen_ = partitions_.insertions_.load(std::memory_order_acquire); // of which a new buffer has no rows
   const Partitioning partitioning = grant.policy().partitioning;
   if (options_.startsPartitioned || partitioning == Partitioning::Always) startPartitioning();
   if (partitioning == Partitioning::Never) partitionsFrom_ = SIZE_MAX;
   expectLater();
}

TupleBuffer::~TupleBuffer() {
   [[maybe_unused]] const uint32_t buffers = partitions_.buffers_.fetch_sub(1, std::memory_order_relaxed);
   DCHECK(buffers > 0);
   partitions_.laterBytes_.fetch_sub(expected_, std::memory_order_relaxed);
}

void TupleBuffer::expectOutside(size_t bytes) {
   outsideBytes_ = bytes;
   expectLater();
}

/// Keeps memory free for allocations before and during relieve(): one page for each partition, since one batch may fill
/// all open pages, and copies of the strings outside the pages, which are made before their arena is freed.
void TupleBuffer::expectLater() {
   size_t bytes = 0;
   if (partitions_.space()) {
      const bool hasStrings = !layout_.stringOffsets().empty() || !layout_.extraStringOffsets().empty();
      bytes = outsideBytes_ + ((options_.partitionPageSize + (hasStrings ? heapPageSizeMin : 0)) << partitions_.bits());
   }
   partitions_.laterBytes_.fetch_add(bytes - expected_, std::memory_order_relaxed); // wraps around when `bytes` is less
   expected_ = bytes;
}

void TupleBuffer::store(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows,
                        char** heap) {
   const uint32_t rowSize = rowSize_, skipped = partitions_.skippedBits();
   uint32_t i = 0;
   if (!isPartitioned() && !heapSizes) {
      // As many rows as fit into the page, in one loop.
      TuplePage& page = *out_[0];
      std::byte* row = page.cursor;
      const uint32_t fits = std::min(count, static_cast<uint32_t>((page.limit - row) / rowSize));
      for (; i < fits; ++i, row += rowSize) {
         std::memcpy(row, &hashes[i], sizeof hashes[i]);
         rows[i] = row;
      }
      page.cursor = row;
   }
   for (; i < count; ++i) {
      const uint64_t hash = hashes[i];
      const uint32_t heapSize = heapSizes ? heapSizes[i] : 0;
      TuplePage* page = out_[slotOf(hash << skipped, shift_)];
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

void TupleBuffer::storeCopies(const TuplePage& page) {
   storeCopies(page.begin, page.cursor);
}

void TupleBuffer::storeCopies(std::byte* begin, std::byte* end) {
   const uint32_t skipped = partitions_.skippedBits();
   for (std::byte* row = begin; row != end; row += rowSize_) {
      uint32_t heapSize = 0, extraSize = 0;
      forEachString(layout_.stringOffsets(), row, row + rowSize_, rowSize_,
                    [&](std::byte*, const StringView& string) { heapSize += string.size(); });
      forEachString(layout_.extraStringOffsets(), row, row + rowSize_, rowSize_,
                    [&](std::byte*, const StringView& string) { extraSize += string.size(); });
      char* heap = nullptr;
      std::byte* copy = storeOne(rowHash(row), heapSize + extraSize, heap);
      std::memcpy(copy, row, rowSize_);
      const auto copyString = [&](std::byte*, StringView& string) { moveTo(string, heap); };
      forEachString(layout_.stringOffsets(), copy, copy + rowSize_, rowSize_, copyString);
      forEachString(layout_.extraStringOffsets(), copy, copy + rowSize_, rowSize_, copyString);
      TuplePage& target = *out_[slotOf(rowHash(row) << skipped, shift_)];
      const uint32_t rows = target.rowCount(rowSize_);
      if (target.rowsWithOwnStrings + 1 == rows)
         target.rowsWithOwnStrings = rows;
      else
         foreignStringBytes_ += extraSize; // adoptStrings() copies it together with the rows before
   }
}

TuplePage* TupleBuffer::emptyPage(uint64_t hash, uint32_t heapSize) {
   const uint32_t index = slotOf(hash << partitions_.skippedBits(), shift_);
   TuplePage*& slot = out_[index];
   if (slot != &nowhere_ && slot->limit - slot->cursor >= rowSize_ &&
       (!isPartitioned() || slot->companions.empty() ||
        slot->bytes() <
            options_.partitionPageSize + std::min(pageHeapMax, pageHeapFactor * options_.partitionPageSize))) {
      // The row fits, only its strings do not.
      growHeap(*slot, heapSize);
      return slot;
   }
   std::unique_ptr<TuplePage> page;
   if (isPartitioned()) {
      page = allocatePage(options_.partitionPageSize, index);
   } else {
      const bool isFirst = slot == &nowhere_;
      const size_t allPages = options_.partitionPageSize << partitions_.bits();
      size_t next = isFirst ? pageSize_ : pageSize_ * growthFactor;
      bool isDue = !isFirst && next >= allPages;
      if (partitionsFrom_ > 0) {
         next = std::min(next, std::clamp(partitionsFrom_ / 8, options_.firstPageSize, largePageSize));
         isDue = grant_.memory().used() + next > partitionsFrom_;
      }
      if (isDue) {
         startPartitioning();
         expectLater();
         return emptyPage(hash, heapSize);
      }
      // Without room in the grant, a small page for the remaining rows of the batch.
      if (mayGrow(next)) {
         pageSize_ = next;
      } else {
         wantsRelief_ = true;
         next = options_.firstPageSize;
      }
      page = allocatePage(next, TuplePage::anyPartition);
   }
   slot = page.get();
   pages_.add(std::move(page));
   if (heapSize > 0) growHeap(*slot, heapSize);
   return slot;
}

std::unique_ptr<TuplePage> TupleBuffer::allocatePage(size_t bytes, uint32_t partition) {
   DCHECK(partition == TuplePage::anyPartition || partition < out_.size());
   bytes = std::max<size_t>(bytes, rowSize_);
   // This buffer must also spill partitions that other buffers have begun to spill. Otherwise those buffers would
   // spill all their pages to make room for this buffer's pages.
   if (!mayGrow(bytes) || partitions_.insertions_.load(std::memory_order_acquire) != insertionsSeen_)
      wantsRelief_ = true;
   auto page = std::make_unique<TuplePage>();
   page->partition = partition;
   page->memory = LargeMemory(bytes, grant_.memory());
   // Aggregate states with 128-bit sums need 16-byte alignment; calloc and mmap provide it.
   page->begin = page->cursor = page->memory.as<std::byte>();
   page->limit = page->begin + bytes / rowSize_ * rowSize_;
   DCHECK(reinterpret_cast<uintptr_t>(page->begin) % 16 == 0);
   DCHECK(page->limit > page->begin);
   partitions_.laterBytes_.fetch_add(laterBytesOf(*page), std::memory_order_relaxed);
   return page;
}

size_t TupleBuffer::laterBytesOf(const TuplePage& page) const {
   return static_cast<size_t>(page.limit - page.begin) / rowSize_ * options_.laterBytesPerRow;
}

void TupleBuffer::growHeap(TuplePage& page, uint32_t heapSize) {
   size_t size = heapPageSizeMin;
   if (!page.companions.empty()) {
      TuplePage::Companion& last = page.companions.back();
      last.used = static_cast<size_t>(page.heap - last.memory.as<char>());
      size = std::min(last.memory.bytes() * growthFactor, heapPageSizeMax);
      if (const size_t rows = page.rowCount(rowSize_); isPartitioned() && rows > 0) {
         // A page of a partition gets no more strings once its rows are full; doubling would leave a third of the
         // companion memory unused.
         size_t used = 0;
         for (const TuplePage::Companion& companion : page.companions)
            used += companion.used;
         const size_t rowsLeft = static_cast<size_t>(page.limit - page.cursor) / rowSize_;
         const size_t expected = used * rowsLeft / rows, step = LargeMemory::usualStep;
         size = std::min(size, std::max(heapPageSizeMin, (expected + expected / 16 + step - 1) / step * step));
      }
   }
   size = std::max<size_t>(size, heapSize);
   if (!mayGrow(size)) wantsRelief_ = true;
   page.companions.push_back({LargeMemory(size, grant_.memory(), LargeMemory::Fill::Anything), 0});
   page.heap = page.companions.back().memory.as<char>();
   page.heapLimit = page.heap + size;
   DCHECK(page.heapLimit - page.heap >= static_cast<ptrdiff_t>(heapSize));
}

void TupleBuffer::startPartitioning() {
   if (partitions_.bits() == 0) return;
   shift_ = static_cast<uint8_t>(64 - partitions_.bits());
   out_.assign(size_t{1} << partitions_.bits(), &nowhere_);
}

// ---- spilling ----

/// Store the rows of pages without a partition again, by partition.
void TupleBuffer::partitionPages() {
   // Pages that have a partition stay in pages_, where spillVictims() finds them. If it could choose only among the
   // copies, it would spill some pages of every partition.
   std::vector<std::unique_ptr<TuplePage>> old = pages_.takePages();
   const auto middle = std::stable_partition(
       old.begin(), old.end(), [](const auto& page) { return page->partition == TuplePage::anyPartition; });
   std::for_each(middle, old.end(), [&](auto& page) { pages_.add(std::move(page)); });
   old.erase(middle, old.end());
   if (!isPartitioned()) startPartitioning();
   countForeignStringBytes(); // copies own their strings, so only other pages count
   const uint64_t rowsBefore = rowCount_;
   for (auto& page : old) {
      // Copies take memory before the page gives its memory back, so copies may have to be spilled at once.
      const size_t rowBytes = page->bytes() / std::max(page->rowCount(rowSize_), 1u);
      const size_t rowsAtOnce = std::clamp<size_t>(copiedAtOnce / std::max<size_t>(rowBytes, 1), 1, 256);
      for (std::byte* row = page->begin; row != page->cursor;) {
         const auto left = static_cast<size_t>(page->cursor - row);
         std::byte* end = row + std::min(left, rowsAtOnce * rowSize_);
         storeCopies(row, end);
         row = end;
         if (std::exchange(wantsRelief_, false)) spillVictims(reliefMin);
      }
      partitions_.laterBytes_.fetch_sub(laterBytesOf(*page), std::memory_order_relaxed);
      page.reset();
   }
   DCHECK(rowCount_ >= rowsBefore);
   rowCount_ = rowsBefore;
   expectLater(); // the pages for which room was kept exist now
}

/// Bytes of the strings that adoptStrings() would copy.
size_t TupleBuffer::foreignStringBytes(const TuplePage& page) const {
   size_t bytes = 0;
   forEachString(layout_.extraStringOffsets(), page.begin + size_t{page.rowsWithOwnStrings} * rowSize_, page.cursor,
                 rowSize_, [&](std::byte*, const StringView& string) { bytes += string.size(); });
   return bytes;
}

/// Sets foreignStringBytes_ for all pages: so much memory is needed for copies before the arena of the strings is
/// freed.
void TupleBuffer::countForeignStringBytes() {
   foreignStringBytes_ = 0;
   if (layout_.extraStringOffsets().empty()) return;
   for (const auto& page : pages_.pages())
      foreignStringBytes_ += foreignStringBytes(*page);
}

/// Copy the strings of extra parts into the page's companions.
void TupleBuffer::adoptStrings(TuplePage& page) {
   if (const size_t bytes = foreignStringBytes(page); bytes > 0) {
      CHECK(bytes <= UINT32_MAX);
      if (page.heapLimit - page.heap < static_cast<ptrdiff_t>(bytes)) growHeap(page, static_cast<uint32_t>(bytes));
      forEachString(layout_.extraStringOffsets(), page.begin + size_t{page.rowsWithOwnStrings} * rowSize_, page.cursor,
                    rowSize_, [&](std::byte*, StringView& string) { moveTo(string, page.heap); });
   }
   page.rowsWithOwnStrings = page.rowCount(rowSize_);
   DCHECK(page.heap <= page.heapLimit);
}

/// Write the page to disk. False: the page is too large and stays. If true, its rows are not usable afterwards.
bool TupleBuffer::spill(TuplePage& page) {
   DCHECK(partitions_.space() != nullptr);
   DCHECK(page.partition != TuplePage::anyPartition);
   size_t heapBytesMax = foreignStringBytes(page);
   for (const TuplePage::Companion& companion : page.companions)
      heapBytesMax += companion.memory.bytes();
   const uint32_t rowCount = page.rowCount(rowSize_);
   const size_t bound = packing_.bound(rowCount, heapBytesMax);
   if (TupleReader::memoryFor(std::max(bound, size_t{rowCount} * rowSize_ + heapBytesMax)) > UINT32_MAX) return false;
   partitions_.noteSpilled(page, rowSize_);
   const PackedPage memory(bound);
   const RowPacking::Packed packed = packing_.pack(page.begin, page.cursor, memory.data());
   CHECK(packed.end <= memory.data() + bound); // pack() has overwritten foreign memory
   const size_t bytes = TupleReader::memoryFor(size_t{rowCount} * rowSize_ + packed.heapBytes);
   std::span<const std::byte> left(memory.data(), packed.end);
   const auto writeNext = [&] {
      const auto part = left.first(std::min(left.size(), io::SpillSpace::pageBytesMax));
      left = left.subspan(part.size());
      return partitions_.space()->write({&part, 1});
   };
   SpilledTuplePage spilled{writeNext(), page.partition, rowCount, static_cast<uint32_t>(bytes), {}};
   while (!left.empty())
      spilled.rest.push_back(writeNext());
   partitions_.laterBytes_.fetch_sub(laterBytesOf(page), std::memory_order_relaxed);
   pages_.addSpilled(std::move(spilled));
   return true;
}

/// The largest partition of this buffer among those already spilled by any worker. If there is none, the largest of the
/// buffer, which counts as spilled from now on.
uint32_t TupleBuffer::chooseVictim(const std::vector<size_t>& sizes) {
   const auto largest = [&](bool isSpilled) {
      uint32_t best = TuplePage::anyPartition;
      for (uint32_t p = 0; p < sizes.size(); ++p)
         if (sizes[p] > 0 && partitions_.contains(p) == isSpilled &&
             (best == TuplePage::anyPartition || sizes[p] > sizes[best]))
            best = p;
      return best;
   };
   uint32_t victim = largest(true);
   if (victim != TuplePage::anyPartition) return victim;
   const MutexLock lock(partitions_.choosing_);
   victim = largest(true); // another worker may have chosen meanwhile
   if (victim == TuplePage::anyPartition) victim = largest(false);
   if (victim != TuplePage::anyPartition && grant_.policy().spillsEverything) {
      for (uint32_t p = 0; p < sizes.size(); ++p)
         partitions_.insert(p);
   } else if (victim != TuplePage::anyPartition) {
      partitions_.insert(victim);
   }
   return victim;
}

void TupleBuffer::relieve() {
   wantsRelief_ = false;
   if (!partitions_.space()) return;
   if (!isPartitioned() || (!pages_.pages().empty() && pages_.pages().front()->partition == TuplePage::anyPartition))
      partitionPages();
   else
      countForeignStringBytes();
   spillVictims(std::max(grant_.floor() / reliefDivisor, reliefMin));
   if (!layout_.extraStringOffsets().empty())
      for (const auto& page : pages_.pages())
         adoptStrings(*page);
   expectOutside(0); // not earlier: other operators would take the room
   wantsRelief_ = false;
}

/// Spill the pages of spilled partitions, which cannot stay anyway. Then spill further partitions until the grant has
/// room for `wanted` bytes and for the strings that the remaining pages adopt. Other buffers will spill their pages of
/// these partitions at their next relieve(); an estimate of those bytes counts as freed at once. Without the estimate
/// this buffer would spill everything, since other buffers fill the room again.
void TupleBuffer::spillVictims(size_t wanted) {
   insertionsSeen_ = partitions_.insertions_.load(std::memory_order_acquire);
   std::vector<std::unique_ptr<TuplePage>> pages = pages_.takePages();
   size_t foreseen = 0; // bytes that all buffers together will have spilled, as an estimate
   // Full pages first. If these are not enough, also open pages that are at least half full
   // or have several companions.
   for (const bool openOnes : {false, true}) {
      const auto isVictim = [&](const std::unique_ptr<TuplePage>& page) {
         if (!page || (out_[page->partition] == page.get()) != openOnes) return false;
         return !openOnes || page->cursor - page->begin >= (page->limit - page->begin) / 2 ||
                page->companions.size() > 1;
      };
      std::vector<size_t> sizes(out_.size());
      for (const auto& page : pages)
         if (isVictim(page)) sizes[page->partition] += page->bytes();
      const auto isShort = [&] {
         return (foreseen < wanted || foreignStringBytes_ > 0) &&
                !grant_.mayGrow(wanted + foreignStringBytes_ + partitions_.laterBytes() - outsideBytes_);
      };
      const auto spillPages = [&](auto&& isOf) {
         for (auto& page : pages) {
            if (!isVictim(page) || !isOf(page->partition)) continue;
            const uint32_t partition = page->partition;
            const size_t ofPage = foreignStringBytes(*page);
            sizes[partition] = 0;
            if (!spill(*page)) continue;
            DCHECK(foreignStringBytes_ >= ofPage);
            foreignStringBytes_ -= ofPage;
            if (openOnes) out_[partition] = &nowhere_;
            page.reset();
         }
      };
      if (!openOnes || isShort()) spillPages([&](uint32_t partition) { return partitions_.contains(partition); });
      while (isShort()) {
         const uint32_t victim = chooseVictim(sizes);
         if (victim == TuplePage::anyPartition) break;
         foreseen += sizes[victim] * partitions_.buffers_.load(std::memory_order_relaxed);
         spillPages([victim](uint32_t partition) { return partition == victim; });
      }
   }
   for (auto& page : pages)
      if (page) pages_.add(std::move(page));
}

TuplePages TupleBuffer::takePages() {
   out_.assign(1, &nowhere_);
   shift_ = 64;
   pageSize_ = options_.firstPageSize;
   rowCount_ = 0;
   wantsRelief_ = false;
   expectOutside(0);
   return std::exchange(pages_, {});
}

TuplePages TupleBuffer::finish() {
   if (!partitions_.isEmpty()) {
      const bool hasUnpartitioned = std::any_of(pages_.pages().begin(), pages_.pages().end(), [](const auto& page) {
         return page->partition == TuplePage::anyPartition;
      });
      if (hasUnpartitioned) partitionPages();
      std::vector<std::unique_ptr<TuplePage>> pages = pages_.takePages();
      for (auto& page : pages) {
         if (page->rowCount(rowSize_) == 0) continue;
         if (partitions_.contains(page->partition) && spill(*page)) {
            page.reset();
            continue;
         }
         adoptStrings(*page);
         pages_.add(std::move(page));
      }
   }
   return takePages();
}

} // namespace ouzel::executor
