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
constexpr size_t heapPageSizeMax = 1024 * 1024;
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

// ---- storing ----

TupleBuffer::TupleBuffer(const RowLayout& layout, MemoryGrant& grant, SpilledPartitions& partitions, Options options)
   : layout_(layout), grant_(grant), partitions_(partitions), options_(options), rowSize_(layout.rowSize()),
     packing_(layout), partitionsFrom_(options.partitionsFrom), out_(1, &nowhere_), cursors_(1),
     pageSize_(options.firstPageSize) {
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

/// Rows of so many 8-byte words are zeroed by a few instructions, longer ones by a call.
constexpr uint32_t rowWordsMax = 8;
/// How far ahead of a partition's cursor store() fetches memory to write to. Rows of one partition are written long
/// after each other, so that the processor does not see what comes next.
constexpr size_t writeAhead = 128;

template <uint32_t rowWords, bool hasHeap>
void TupleBuffer::storeRows(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows,
                            char** heap) {
   const uint32_t rowSize = rowWords > 0 ? rowWords * 8 : rowSize_, skipped = partitions_.skippedBits();
   const auto begin = [&](std::byte* row, uint64_t hash) {
      std::memcpy(row, &hash, sizeof hash);
      std::memset(row + sizeof hash, 0, rowSize - sizeof hash);
   };
   uint32_t i = 0;
   if (!hasHeap && !isPartitioned()) {
      // As many rows as fit into the page, in one loop.
      std::byte* row = cursors_[0].row;
      const uint32_t fits = std::min(count, static_cast<uint32_t>((cursors_[0].limit - row) / rowSize));
      for (; i < fits; ++i, row += rowSize) {
         begin(row, hashes[i]);
         rows[i] = row;
      }
      cursors_[0].row = row;
   }
   for (; i < count; ++i) {
      const uint64_t hash = hashes[i];
      Cursors* at = &cursors_[slotOf(hash << skipped, shift_)];
      if (at->limit - at->row < rowSize || (hasHeap && at->heapLimit - at->heap < heapSizes[i])) [[unlikely]] {
         emptyPage(hash, hasHeap ? heapSizes[i] : 0);
         at = &cursors_[slotOf(hash << skipped, shift_)];
      }
      std::byte* row = at->row;
      at->row = row + rowSize;
      __builtin_prefetch(row + writeAhead, 1);
      begin(row, hash);
      rows[i] = row;
      if constexpr (hasHeap) {
         heap[i] = at->heap;
         at->heap += heapSizes[i];
      }
   }
}

void TupleBuffer::store(const uint64_t* hashes, const uint32_t* heapSizes, uint32_t count, std::byte** rows,
                        char** heap) {
   const auto run = [&]<uint32_t rowWords>(std::integral_constant<uint32_t, rowWords>) {
      return heapSizes ? storeRows<rowWords, true>(hashes, heapSizes, count, rows, heap)
                       : storeRows<rowWords, false>(hashes, heapSizes, count, rows, heap);
   };
   switch (rowSize_ / 8) {
   case 2: run(std::integral_constant<uint32_t, 2>()); break;
   case 3: run(std::integral_constant<uint32_t, 3>()); break;
   case 4: run(std::integral_constant<uint32_t, 4>()); break;
   case 5: run(std::integral_constant<uint32_t, 5>()); break;
   case 6: run(std::integral_constant<uint32_t, 6>()); break;
   case 7: run(std::integral_constant<uint32_t, 7>()); break;
   case rowWordsMax: run(std::integral_constant<uint32_t, rowWordsMax>()); break;
   default: run(std::integral_constant<uint32_t, 0>());
   }
   rowCount_ += count;
}

/// Bring the cursors in the open page up to date.
void TupleBuffer::writeBack(uint32_t slot) {
   if (out_[slot] == &nowhere_) return;
   out_[slot]->cursor = cursors_[slot].row;
   out_[slot]->heap = cursors_[slot].heap;
}

void TupleBuffer::writeBackAll() {
   for (uint32_t slot = 0; slot < out_.size(); ++slot)
      writeBack(slot);
}

/// Take the cursors from the open page, after the page was changed or replaced.
void TupleBuffer::readCursors(uint32_t slot) {
   const TuplePage& page = *out_[slot];
   cursors_[slot] = {page.cursor, page.limit, page.heap, page.heapLimit};
}

void TupleBuffer::readAllCursors() {
   cursors_.resize(out_.size());
   for (uint32_t slot = 0; slot < out_.size(); ++slot)
      readCursors(slot);
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
      const uint32_t slot = slotOf(rowHash(row) << skipped, shift_);
      writeBack(slot);
      TuplePage& target = *out_[slot];
      const uint32_t rows = target.rowCount(rowSize_);
      if (target.rowsWithOwnStrings + 1 == rows)
         target.rowsWithOwnStrings = rows;
      else
         foreignStringBytes_ += extraSize; // adoptStrings() copies it together with the rows before
   }
}

/// Make the open page of the row's partition take the row and its strings, or open a new one.
void TupleBuffer::emptyPage(uint64_t hash, uint32_t heapSize) {
   const uint32_t index = slotOf(hash << partitions_.skippedBits(), shift_);
   writeBack(index);
   TuplePage*& slot = out_[index];
   if (slot != &nowhere_ && slot->limit - slot->cursor >= rowSize_ &&
       (!isPartitioned() || slot->companions.empty() ||
        slot->bytes() <
            options_.partitionPageSize + std::min(pageHeapMax, pageHeapFactor * options_.partitionPageSize))) {
      // The row fits, only its strings do not.
      growHeap(*slot, heapSize);
      readCursors(index);
      return;
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
   readCursors(index);
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
   page->memory = LargeMemory(bytes, grant_.memory(), LargeMemory::Fill::Anything); // store() zeroes the rows
   // Aggregate states with 128-bit sums need 16-byte alignment; malloc and mmap provide it.
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
   readAllCursors();
}

// ---- spilling ----

/// Store the rows of pages without a partition again, by partition.
void TupleBuffer::partitionPages() {
   writeBackAll();
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
   writeBackAll();
   if (!isPartitioned() || (!pages_.pages().empty() && pages_.pages().front()->partition == TuplePage::anyPartition))
      partitionPages();
   else
      countForeignStringBytes();
   spillVictims(std::max(grant_.floor() / reliefDivisor, reliefMin));
   if (!layout_.extraStringOffsets().empty())
      for (const auto& page : pages_.pages())
         adoptStrings(*page);
   readAllCursors();
   expectOutside(0); // not earlier: other operators would take the room
   wantsRelief_ = false;
}

/// Spill the pages of spilled partitions, which cannot stay anyway. Then spill further partitions until the grant has
/// room for `wanted` bytes and for the strings that the remaining pages adopt. Other buffers will spill their pages of
/// these partitions at their next relieve(); an estimate of those bytes counts as freed at once. Without the estimate
/// this buffer would spill everything, since other buffers fill the room again.
void TupleBuffer::spillVictims(size_t wanted) {
   writeBackAll();
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
   readAllCursors();
}

/// From now on no page is open.
void TupleBuffer::close() {
   writeBackAll();
   out_.assign(1, &nowhere_);
   shift_ = 64;
   readAllCursors();
}

TuplePages TupleBuffer::takePages() {
   close();
   pageSize_ = options_.firstPageSize;
   rowCount_ = 0;
   wantsRelief_ = false;
   expectOutside(0);
   return std::exchange(pages_, {});
}

TuplePages TupleBuffer::finish() {
   writeBackAll();
   if (!partitions_.isEmpty()) {
      const bool hasUnpartitioned = std::any_of(pages_.pages().begin(), pages_.pages().end(), [](const auto& page) {
         return page->partition == TuplePage::anyPartition;
      });
      if (hasUnpartitioned) partitionPages();
      close();
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
