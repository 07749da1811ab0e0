#include "executor/operator/aggregate/group_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/hash/hash.hpp"
#include "executor/materialize/row_compare.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

namespace {

/// At least two slots per row of a batch, since a full table is emptied between batches.
constexpr size_t slotsMin = size_t{batchRowsMax} * 2;
constexpr size_t slotsFirst = 64;
constexpr size_t firstPageSizeMax = 64 * 1024;
constexpr uint64_t pointerMask = (uint64_t{1} << 48) - 1;

uint64_t makeEntry(uint64_t hash, const std::byte* row) {
   DCHECK((reinterpret_cast<uint64_t>(row) & ~pointerMask) == 0);
   return static_cast<uint64_t>(hashSalt(hash)) << 48 | reinterpret_cast<uint64_t>(row);
}
std::byte* rowOf(uint64_t entry) {
   return reinterpret_cast<std::byte*>(entry & pointerMask);
}
bool saltMatches(uint64_t entry, uint64_t hash) {
   return (entry >> 48) == hashSalt(hash);
}
/// Bits 47..30 of the hash (common/hash/hash.hpp): those above may be the same for all rows of a table, which has 2^18
/// slots at most.
static_assert(GroupTable::tableBytesUsual / sizeof(uint64_t) <= size_t{1} << 18);
uint32_t slotOf(uint64_t hash, uint32_t mask) {
   return static_cast<uint32_t>(hash >> 30) & mask;
}

} // namespace

GroupTable::GroupTable(const RowLayout& layout, uint32_t keyCount, const GroupInitializer& initializer,
                       MemoryGrant& grant, SpilledPartitions& partitions, Scratch& scratch, const Options& options)
   : layout_(layout), keyCount_(keyCount), initializer_(initializer),
     slotsMax_(std::max(std::bit_floor(options.tableBytesMax / sizeof(uint64_t)), slotsMin)), scratch_(scratch),
     memory_(grant.memory()), buffer_(layout, grant, partitions,
                                      {.firstPageSize = std::min(firstPageSizeMax, options.pageSize),
                                       .partitionPageSize = options.pageSize,
                                       .laterBytesPerRow = GroupSet::bytesPerRow}) {
   DCHECK(keyCount <= layout.columnCount());
}

void GroupTable::createRows(const LiveColumn* keys, const uint64_t* hashes, const RowIndex* live, uint32_t count,
                            std::byte** rows) {
   const bool hasStrings = layout_.hasVariableSize();
   if (hasStrings) {
      std::fill_n(scratch_.heapSizes.begin(), count, 0);
      for (uint32_t k = 0; k < layout_.columnCount(); ++k)
         if (isVariableSize(keys[k].type)) addVariableSizes(keys[k], live, count, scratch_.heapSizes.data());
   }
   for (uint32_t i = 0; i < count; ++i)
      scratch_.hashesOfFresh[i] = hashes[live[i]];
   buffer_.store(scratch_.hashesOfFresh.data(), hasStrings ? scratch_.heapSizes.data() : nullptr, count,
                 scratch_.rowsOfFresh.data(), hasStrings ? scratch_.heaps.data() : nullptr);
   // scatterColumn() takes targets by live row.
   if (hasStrings) {
      for (uint32_t i = 0; i < count; ++i)
         scratch_.heapByLive[live[i]] = scratch_.heaps[i];
   }
   for (uint32_t i = 0; i < count; ++i)
      rows[live[i]] = scratch_.rowsOfFresh[i];
   for (uint32_t k = 0; k < layout_.columnCount(); ++k)
      scatterColumn(layout_, k, keys[k], live, count, rows, hasStrings ? scratch_.heapByLive.data() : nullptr);
   initializer_.initialize(scratch_.rowsOfFresh.data(), count);
}

/// REQUIRES: the new slots are charged.
void GroupTable::resize(size_t slots) {
   DCHECK(std::has_single_bit(slots)); // a mask selects the slot
   std::vector<uint64_t> old = std::exchange(entries_, std::vector<uint64_t>(slots));
   const uint32_t mask = static_cast<uint32_t>(slots - 1);
   for (const uint64_t entry : old) {
      if (!entry) continue;
      uint32_t slot = slotOf(rowHash(rowOf(entry)), mask);
      while (entries_[slot])
         slot = (slot + 1) & mask;
      entries_[slot] = entry;
   }
   memory_.shrink(old.size() * sizeof(uint64_t));
}

/// Make room for `coming` groups: at most two thirds of the slots may be taken. Grows or empties the table.
void GroupTable::makeRoom(uint32_t coming) {
   const auto fits = [](size_t slots, size_t groups) { return groups * 3 <= slots * 2; };
   if (fits(entries_.size(), groups_ + coming)) return;
   const size_t factor = entries_.empty() ? 2 : 4;
   size_t slots = std::max(entries_.size(), slotsFirst);
   while (!fits(slots, groups_ + coming) && slots < slotsMax_)
      slots = std::min(slots * factor, slotsMax_);
   if (slots > entries_.size() && memory_.tryGrow(slots * sizeof(uint64_t))) resize(slots);
   if (fits(entries_.size(), groups_ + coming)) return;
   if (groups_ > rowsSeen_ - rowsSeen_ / 4) passThrough_ = rowsSeen_ * 8;
   forget();
   if (fits(entries_.size(), coming)) return;
   memory_.grow(slotsMin * sizeof(uint64_t));
   resize(slotsMin);
}

void GroupTable::forget() {
   std::fill(entries_.begin(), entries_.end(), 0);
   groups_ = 0;
   rowsSeen_ = 0;
   isUnique_ = false;
}

void GroupTable::relieve() {
   forget();
   buffer_.relieve();
}

void GroupTable::findOrCreate(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) {
   DCHECK(count <= batchRowsMax);
   if (passThrough_ > 0) {
      passThrough_ -= std::min<uint64_t>(passThrough_, count);
      for (uint32_t i = 0; i < count; ++i)
         scratch_.fresh[i] = static_cast<RowIndex>(i);
      createRows(keys, hashes, scratch_.fresh.data(), count, rows);
      return;
   }
   makeRoom(count);
   DCHECK(groups_ + count <= entries_.size()); // otherwise the search for a free slot would not end
   rowsSeen_ += count;
   const uint32_t mask = static_cast<uint32_t>(entries_.size() - 1);
   uint64_t* const entries = entries_.data();
   for (uint32_t i = 0; i < count; ++i) {
      scratch_.slots[i] = slotOf(hashes[i], mask);
      scratch_.pending[i] = static_cast<RowIndex>(i);
   }
   uint32_t pendingCount = count;
   constexpr uint64_t claimed = 1; // entry of a group of this pass whose row is not made yet
   while (pendingCount > 0) {
      uint32_t freshCount = 0, candidateCount = 0, waiting = 0;
      for (uint32_t k = 0; k < pendingCount; ++k) {
         const RowIndex i = scratch_.pending[k];
         uint32_t slot = scratch_.slots[i];
         uint64_t entry = entries[slot];
         while (entry != 0 && entry != claimed && !saltMatches(entry, hashes[i])) {
            slot = (slot + 1) & mask;
            entry = entries[slot];
         }
         scratch_.slots[i] = slot;
         if (entry == 0) {
            entries[slot] = claimed;
            scratch_.fresh[freshCount++] = i;
         } else if (entry == claimed) {
            scratch_.rejected[waiting++] = i; // compared in the next pass, when the row is made
         } else {
            rows[i] = rowOf(entry);
            scratch_.candidates[candidateCount++] = i;
         }
      }
      if (freshCount > 0) {
         createRows(keys, hashes, scratch_.fresh.data(), freshCount, rows);
         for (uint32_t k = 0; k < freshCount; ++k)
            entries[scratch_.slots[scratch_.fresh[k]]] = makeEntry(hashes[scratch_.fresh[k]], rows[scratch_.fresh[k]]);
         groups_ += freshCount;
      }
      uint32_t rejectedCount = waiting;
      for (uint32_t k = 0; k < keyCount_ && candidateCount > 0; ++k)
         candidateCount = keepEqual(layout_, k, keys[k], rows, true, scratch_.candidates.data(), candidateCount,
                                    scratch_.rejected.data(), rejectedCount);
      for (uint32_t k = waiting; k < rejectedCount; ++k)
         scratch_.slots[scratch_.rejected[k]] = (scratch_.slots[scratch_.rejected[k]] + 1) & mask;
      std::swap(scratch_.pending, scratch_.rejected);
      pendingCount = rejectedCount;
   }
}

// ---- GroupSet ----

namespace {
/// Slots for so many groups, at most half of them taken.
uint64_t slotsFor(uint64_t groups) {
   return std::bit_ceil(std::max<uint64_t>(groups * 2, 16));
}
/// Sets of fewer rows have a table for all of them from the beginning.
constexpr uint64_t rowsOfSmallSet = 1024;
/// A larger set's table begins with room for one group per so many rows.
constexpr uint64_t rowsPerGroupFirst = 16;
/// A table that grows gets at least so many times its slots.
constexpr uint64_t slotsFactor = 4;
constexpr size_t prefetchDistance = 8;
} // namespace

GroupSet::GroupSet(uint64_t rowsMax, Reservation& memory)
   : memory_(&memory),
     groups_(std::max<uint64_t>(rowsMax, 1) * sizeof(std::byte*), memory, LargeMemory::Fill::Anything),
     slots_(slotsFor(rowsMax <= rowsOfSmallSet ? rowsMax : std::max(rowsMax / rowsPerGroupFirst, rowsOfSmallSet))),
     rowsMax_(rowsMax) {
   entries_ = LargeMemory(slots_ * sizeof(uint64_t), memory);
}

/// Make the table larger, since half of its slots are taken.
void GroupSet::grow() {
   // The coming rows are taken to have as many new groups as those before.
   const uint64_t expected = std::min<uint64_t>(rowsMax_, count_ * rowsMax_ / std::max<uint64_t>(rowsSeen_, 1));
   slots_ = std::min(slotsFor(rowsMax_), std::max(slots_ * slotsFactor, slotsFor(expected)));
   entries_ = LargeMemory();
   fillTable();
}

GroupSet GroupSet::listOnly(uint64_t rows, Reservation& memory) {
   GroupSet set;
   set.memory_ = &memory;
   set.groups_ = LargeMemory(std::max<uint64_t>(rows, 1) * sizeof(std::byte*), memory, LargeMemory::Fill::Anything);
   return set;
}

void GroupSet::makeTable() {
   slots_ = slotsFor(count_);
   fillTable();
}

void GroupSet::fillTable() {
   entries_ = LargeMemory(slots_ * sizeof(uint64_t), *memory_);
   auto* const entries = entries_.as<uint64_t>();
   const uint64_t mask = slots_ - 1;
   for (uint64_t i = 0; i < count_; ++i) {
      if (i + prefetchDistance < count_) __builtin_prefetch(groups()[i + prefetchDistance]);
      std::byte* const row = groups()[i];
      uint64_t slot = (rowHash(row) >> 16) & mask;
      while (entries[slot])
         slot = (slot + 1) & mask;
      entries[slot] = makeEntry(rowHash(row), row);
   }
}

void GroupSet::dropTable() {
   entries_.release();
   slots_ = 0;
}

uint32_t GroupSet::add(const RowLayout& layout, uint32_t keyCount, std::byte* const* rows, size_t count,
                       const Combine* combine) {
   DCHECK(std::has_single_bit(slots_));
   DCHECK((count_ + count) <= groups_.bytes() / sizeof(std::byte*)); // rowsMax of the constructor
   const uint64_t before = count_, seenBefore = rowsSeen_;
   auto* entries = entries_.as<uint64_t>();
   uint64_t mask = slots_ - 1;
   auto* const groups = groups_.as<std::byte*>();
   std::byte* into[batchRowsMax];
   const std::byte* from[batchRowsMax];
   uint32_t found = 0;
   const RowEquality equal(layout, keyCount);
   const auto entryAt = [&](size_t i) -> uint64_t& { return entries[(rowHash(rows[i]) >> 16) & mask]; };
   const uint32_t string = layout.stringOffsets().empty() ? 0 : layout.stringOffsets().front();
   for (size_t i = 0; i < count; ++i) {
      if (i + 4 * prefetchDistance < count) __builtin_prefetch(rows[i + 4 * prefetchDistance]);
      if (i + 3 * prefetchDistance < count) __builtin_prefetch(&entryAt(i + 3 * prefetchDistance));
      if (string != 0) {
         // The group that is likely to be the row's, and its first string.
         if (i + 2 * prefetchDistance < count)
            if (const std::byte* group = rowOf(entryAt(i + 2 * prefetchDistance))) __builtin_prefetch(group + string);
         if (i + prefetchDistance < count)
            if (const std::byte* group = rowOf(entryAt(i + prefetchDistance)))
               __builtin_prefetch(reinterpret_cast<const StringView*>(group + string)->data());
      }
      std::byte* row = rows[i];
      const uint64_t hash = rowHash(row);
      uint64_t slot = (hash >> 16) & mask;
      while (true) {
         const uint64_t entry = entries[slot];
         if (entry == 0) {
            entries[slot] = makeEntry(hash, row);
            groups[count_++] = row;
            if (count_ * 2 > slots_) [[unlikely]] {
               rowsSeen_ = seenBefore + i + 1;
               grow();
               entries = entries_.as<uint64_t>();
               mask = slots_ - 1;
            }
            break;
         }
         if (saltMatches(entry, hash) && equal(rowOf(entry), row)) {
            if (combine) {
               into[found] = rowOf(entry);
               from[found++] = row;
               if (found == batchRowsMax) (*combine)(into, from, std::exchange(found, 0));
            }
            break;
         }
         slot = (slot + 1) & mask;
      }
   }
   if (found > 0) (*combine)(into, from, found);
   rowsSeen_ = seenBefore + count;
   return static_cast<uint32_t>(count_ - before);
}

uint32_t GroupSet::addPage(const RowLayout& layout, uint32_t keyCount, const TuplePage& page, const Combine* combine) {
   std::byte* rows[batchRowsMax];
   uint32_t added = 0;
   for (std::byte* row = page.begin; row != page.cursor;) {
      uint32_t count = 0;
      for (; count < batchRowsMax && row != page.cursor; row += layout.rowSize())
         rows[count++] = row;
      added += add(layout, keyCount, rows, count, combine);
   }
   return added;
}

void GroupSet::find(const RowLayout& layout, uint32_t keyCount, const LiveColumn* keys, const uint64_t* hashes,
                    const RowIndex* live, uint32_t count, std::byte** rows) const {
   DCHECK(slots_ != 0); // the set has a table
   DCHECK(count <= batchRowsMax);
   uint64_t slots[batchRowsMax];
   RowIndex pending[batchRowsMax], candidates[batchRowsMax], rejected[batchRowsMax];
   const auto* const entries = entries_.as<const uint64_t>();
   const uint64_t mask = slots_ - 1;
   for (uint32_t k = 0; k < count; ++k) {
      slots[live[k]] = hashes[live[k]] >> 16;
      __builtin_prefetch(&entries[slots[live[k]] & mask]);
      pending[k] = live[k];
   }
   for (uint32_t pendingCount = count; pendingCount > 0;) {
      uint32_t candidateCount = 0;
      for (uint32_t k = 0; k < pendingCount; ++k) {
         const RowIndex i = pending[k];
         uint64_t slot = slots[i] & mask;
         while (entries[slot] != 0 && !saltMatches(entries[slot], hashes[i]))
            slot = (slot + 1) & mask;
         slots[i] = slot;
         rows[i] = entries[slot] == 0 ? nullptr : rowOf(entries[slot]);
         candidates[candidateCount] = i;
         candidateCount += rows[i] != nullptr;
      }
      uint32_t rejectedCount = 0;
      for (uint32_t c = 0; c < keyCount && candidateCount > 0; ++c)
         candidateCount =
             keepEqual(layout, c, keys[c], rows, true, candidates, candidateCount, rejected, rejectedCount);
      for (uint32_t k = 0; k < rejectedCount; ++k) {
         ++slots[rejected[k]];
         pending[k] = rejected[k];
      }
      pendingCount = rejectedCount;
   }
}

// ---- MergedGroups ----

void MergedGroups::add(TuplePages&& pages, bool isUnique) {
   if (pages.pages().empty() && pages.spilled().empty()) return;
   ++sources_;
   needsMerge_ = needsMerge_ || !isUnique || sources_ > 1;
   pages_.merge(std::move(pages));
}

void MergedGroups::start(Reservation& memory, uint32_t pageBits) {
   memory_ = &memory;
   if (isSpilled()) return;
   const uint64_t rows = pages_.rowCount(layout_->rowSize());
   if (!needsMerge_) {
      // The rows come from one table that was never emptied: each row is a group.
      partitions_.push_back(GroupSet::listOnly(rows, memory));
      const uint32_t rowSize = layout_->rowSize();
      for (const auto& page : pages_.pages())
         for (std::byte* row = page->begin; row != page->cursor; row += rowSize)
            partitions_[0].append(row);
      return;
   }
   pageBits_ = pageBits;
   // A partition should fit into a cache; few rows need only one partition.
   while (bits_ < partitionBitsMax && (rows >> bits_) > 16'384)
      ++bits_;
   partitions_.resize(size_t{1} << bits_);
   wholePages_.resize(partitions_.size());
   scattered_.resize(pages_.pages().size());
   if (bits_ > pageBits_) return;
   for (const auto& page : pages_.pages())
      if (page->partition != TuplePage::anyPartition)
         wholePages_[page->partition >> (pageBits_ - bits_)].push_back(page.get());
}

void MergedGroups::addOnly(TuplePages&& pages) {
   DCHECK(pages.pages().size() == 1);
   DCHECK(partitions_.size() == 1);
   partitions_[0].append(pages.pages().front()->begin);
   pages_.merge(std::move(pages));
}

void MergedGroups::scatter(uint32_t number) {
   DCHECK(number < pages_.pages().size());
   const TuplePage& page = *pages_.pages()[number];
   const uint32_t rowSize = layout_->rowSize();
   std::vector<uint32_t>& begins = scattered_[number].begins;
   begins.assign(partitions_.size() + 2, 0); // two more: begins[p + 1] counts on while rows are placed
   for (std::byte* row = page.begin; row != page.cursor; row += rowSize)
      ++begins[partitionOf(rowHash(row)) + 2];
   for (size_t p = 3; p < begins.size(); ++p)
      begins[p] += begins[p - 1];
   scattered_[number].rows =
       LargeMemory(page.rowCount(rowSize) * sizeof(std::byte*), *memory_, LargeMemory::Fill::Anything);
   auto* rows = scattered_[number].rows.as<std::byte*>();
   for (std::byte* row = page.begin; row != page.cursor; row += rowSize)
      rows[begins[partitionOf(rowHash(row)) + 1]++] = row;
}

void MergedGroups::unite(uint32_t number, const GroupSet::Combine& combine) {
   DCHECK(number < partitions_.size());
   uint64_t rows = 0;
   for (const TuplePage* page : wholePages_[number])
      rows += page->rowCount(layout_->rowSize());
   for (const ScatteredPage& page : scattered_)
      if (!page.begins.empty()) rows += page.begins[number + 1] - page.begins[number];
   GroupSet& set = partitions_[number] = GroupSet(rows, *memory_);
   for (const ScatteredPage& page : scattered_) {
      if (page.begins.empty()) continue;
      const uint32_t begin = page.begins[number], end = page.begins[number + 1];
      set.add(*layout_, keyCount_, page.rows.as<std::byte*>() + begin, end - begin, &combine);
   }
   for (const TuplePage* page : wholePages_[number])
      set.addPage(*layout_, keyCount_, *page, &combine);
   if (!keepsIndex_) set.dropTable();
}

void MergedGroups::endMerge() {
   scattered_.clear();
   wholePages_.clear();
}

void MergedGroups::index() {
   for (GroupSet& partition : partitions_)
      if (!partition.hasTable()) partition.makeTable();
}

void MergedGroups::find(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) const {
   RowIndex live[batchRowsMax];
   if (partitions_.size() == 1) {
      for (uint32_t i = 0; i < count; ++i)
         live[i] = static_cast<RowIndex>(i);
      return partitions_[0].find(*layout_, keyCount_, keys, hashes, live, count, rows);
   }
   uint32_t ends[partitionCountMax] = {};
   for (uint32_t i = 0; i < count; ++i)
      ++ends[partitionOf(hashes[i])];
   uint32_t sum = 0;
   for (uint32_t& end : ends)
      sum += std::exchange(end, sum);
   for (uint32_t i = 0; i < count; ++i)
      live[ends[partitionOf(hashes[i])]++] = static_cast<RowIndex>(i);
   uint32_t begin = 0;
   for (uint32_t p = 0; p < partitions_.size(); begin = ends[p++])
      if (ends[p] > begin) partitions_[p].find(*layout_, keyCount_, keys, hashes, live + begin, ends[p] - begin, rows);
}

} // namespace ouzel::executor
