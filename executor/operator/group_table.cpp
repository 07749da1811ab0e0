#include "executor/operator/group_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/hash/hash.hpp"
#include "executor/materialize/row_compare.hpp"

namespace ouzel::executor {

namespace {

constexpr uint64_t pointerMask = (uint64_t{1} << 48) - 1;

uint64_t makeEntry(uint64_t hash, const std::byte* row) {
   return static_cast<uint64_t>(hashSalt(hash)) << 48 | reinterpret_cast<uint64_t>(row);
}
std::byte* rowOf(uint64_t entry) {
   return reinterpret_cast<std::byte*>(entry & pointerMask);
}
bool saltMatches(uint64_t entry, uint64_t hash) {
   return (entry >> 48) == hashSalt(hash);
}
/// Bits 47..31 (FACTS 0.4).
uint32_t slotOf(uint64_t hash, uint32_t mask) {
   return static_cast<uint32_t>(hash >> 31) & mask;
}

} // namespace

GroupTable::GroupTable(const RowLayout& layout, uint32_t keyCount, const GroupInitializer& initializer,
                       Reservation& memory)
   : layout_(layout), keyCount_(keyCount), initializer_(initializer), buffer_(layout, memory), entries_(slotsMin),
     pending_(batchRowsMax), fresh_(batchRowsMax), candidates_(batchRowsMax), rejected_(batchRowsMax),
     slots_(batchRowsMax), heapSizes_(batchRowsMax), heapSizesOfFresh_(batchRowsMax), hashesOfFresh_(batchRowsMax),
     rowsOfFresh_(batchRowsMax), heaps_(batchRowsMax), heapByLive_(batchRowsMax) {}

void GroupTable::createRows(const LiveColumn* keys, const uint64_t* hashes, const RowIndex* live, uint32_t count,
                            std::byte** rows) {
   const bool hasStrings = layout_.hasVariableSize();
   if (hasStrings) {
      uint32_t highest = 0;
      for (uint32_t i = 0; i < count; ++i)
         highest = std::max<uint32_t>(highest, live[i]);
      std::fill_n(heapSizes_.begin(), highest + 1, 0);
      for (uint32_t k = 0; k < keyCount_; ++k)
         if (isVariableSize(keys[k].type)) addVariableSizes(keys[k], highest + 1, heapSizes_.data());
   }
   for (uint32_t i = 0; i < count; ++i) {
      hashesOfFresh_[i] = hashes[live[i]];
      heapSizesOfFresh_[i] = hasStrings ? heapSizes_[live[i]] : 0;
   }
   buffer_.store(hashesOfFresh_.data(), hasStrings ? heapSizesOfFresh_.data() : nullptr, count, rowsOfFresh_.data(),
                 hasStrings ? heaps_.data() : nullptr);
   // scatterColumn() takes targets by live row.
   if (hasStrings) {
      for (uint32_t i = 0; i < count; ++i)
         heapByLive_[live[i]] = heaps_[i];
   }
   for (uint32_t i = 0; i < count; ++i)
      rows[live[i]] = rowsOfFresh_[i];
   for (uint32_t k = 0; k < keyCount_; ++k)
      scatterColumn(layout_, k, keys[k], live, count, rows, hasStrings ? heapByLive_.data() : nullptr);
   initializer_.initialize(rowsOfFresh_.data(), count);
}

void GroupTable::grow() {
   std::vector<uint64_t> old = std::exchange(entries_, std::vector<uint64_t>(entries_.size() * 4));
   const uint32_t mask = static_cast<uint32_t>(entries_.size() - 1);
   for (const uint64_t entry : old) {
      if (!entry) continue;
      uint32_t slot = slotOf(rowHash(rowOf(entry)), mask);
      while (entries_[slot])
         slot = (slot + 1) & mask;
      entries_[slot] = entry;
   }
}

/// Before `coming` rows: at most two thirds of the slots may be taken.
void GroupTable::makeRoom(uint32_t coming) {
   while ((groups_ + coming) * 3 > entries_.size() * 2 && entries_.size() < slotsMax)
      grow();
   if ((groups_ + coming) * 3 <= entries_.size() * 2) return;
   if (groups_ > rowsSeen_ - rowsSeen_ / 8) passThrough_ = rowsSeen_ * 8;
   std::fill(entries_.begin(), entries_.end(), 0);
   groups_ = 0;
   rowsSeen_ = 0;
   isUnique_ = false;
}

void GroupTable::findOrCreate(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) {
   if (passThrough_ > 0) {
      passThrough_ -= std::min<uint64_t>(passThrough_, count);
      for (uint32_t i = 0; i < count; ++i)
         fresh_[i] = static_cast<RowIndex>(i);
      createRows(keys, hashes, fresh_.data(), count, rows);
      return;
   }
   makeRoom(count);
   rowsSeen_ += count;
   const uint32_t mask = static_cast<uint32_t>(entries_.size() - 1);
   uint64_t* const entries = entries_.data();
   for (uint32_t i = 0; i < count; ++i) {
      slots_[i] = slotOf(hashes[i], mask);
      pending_[i] = static_cast<RowIndex>(i);
   }
   uint32_t pendingCount = count;
   constexpr uint64_t claimed = 1; // an entry of this pass whose row is not made yet: low bits tell which
   while (pendingCount > 0) {
      uint32_t freshCount = 0, candidateCount = 0, waiting = 0;
      for (uint32_t k = 0; k < pendingCount; ++k) {
         const RowIndex i = pending_[k];
         uint32_t slot = slots_[i];
         uint64_t entry = entries[slot];
         while (entry != 0 && entry != claimed && !saltMatches(entry, hashes[i])) {
            slot = (slot + 1) & mask;
            entry = entries[slot];
         }
         slots_[i] = slot;
         if (entry == 0) {
            entries[slot] = claimed;
            fresh_[freshCount++] = i;
         } else if (entry == claimed) {
            rejected_[waiting++] = i; // looks again when the row is there
         } else {
            rows[i] = rowOf(entry);
            candidates_[candidateCount++] = i;
         }
      }
      if (freshCount > 0) {
         createRows(keys, hashes, fresh_.data(), freshCount, rows);
         for (uint32_t k = 0; k < freshCount; ++k)
            entries[slots_[fresh_[k]]] = makeEntry(hashes[fresh_[k]], rows[fresh_[k]]);
         groups_ += freshCount;
      }
      uint32_t rejectedCount = waiting;
      for (uint32_t k = 0; k < keyCount_ && candidateCount > 0; ++k)
         candidateCount = keepEqual(layout_, k, keys[k], rows, true, candidates_.data(), candidateCount,
                                    rejected_.data(), rejectedCount);
      for (uint32_t k = waiting; k < rejectedCount; ++k)
         slots_[rejected_[k]] = (slots_[rejected_[k]] + 1) & mask;
      std::swap(pending_, rejected_);
      pendingCount = rejectedCount;
   }
}

void MergedGroups::add(TuplePages&& pages, bool isUnique) {
   if (pages.pages().empty()) return;
   ++sources_;
   needsMerge_ = needsMerge_ || !isUnique || sources_ > 1;
   pages_.merge(std::move(pages));
}

void MergedGroups::start() {
   const uint64_t rows = pages_.rowCount(layout_->rowSize());
   if (!needsMerge_) {
      // One worker's table that was never forgotten: its rows are the groups.
      partitions_.resize(1);
      partitions_[0].groups.reserve(rows);
      const uint32_t rowSize = layout_->rowSize();
      for (const auto& page : pages_.pages())
         for (std::byte* row = page->begin; row != page->cursor; row += rowSize)
            partitions_[0].groups.push_back(row);
      return;
   }
   // A partition should fit a cache; few rows are not worth more than one.
   while (bits_ < 8 && (rows >> bits_) > 16'384)
      ++bits_;
   partitions_.resize(size_t{1} << bits_);
   scattered_.resize(pages_.pages().size());
}

void MergedGroups::addOnly(TuplePages&& pages) {
   partitions_[0].groups.push_back(pages.pages().front()->begin);
   pages_.merge(std::move(pages));
}

void MergedGroups::scatter(uint32_t number) {
   const TuplePage& page = *pages_.pages()[number];
   auto& lists = scattered_[number];
   lists.resize(partitions_.size());
   const uint32_t rowSize = layout_->rowSize();
   for (std::byte* row = page.begin; row != page.cursor; row += rowSize)
      lists[partitionOf(rowHash(row))].push_back(row);
}

void MergedGroups::unite(uint32_t number, const Combine& combine) {
   std::vector<std::byte*> rows;
   for (auto& lists : scattered_) {
      rows.insert(rows.end(), lists[number].begin(), lists[number].end());
      std::vector<std::byte*>().swap(lists[number]);
   }
   Partition& partition = partitions_[number];
   buildTable(partition, rows, &combine, number);
   if (!keepsIndex_) std::vector<uint64_t>().swap(partition.entries);
}

void MergedGroups::index() {
   for (Partition& partition : partitions_) {
      if (!partition.entries.empty()) continue;
      const std::vector<std::byte*> groups = std::move(partition.groups);
      partition.groups.clear();
      buildTable(partition, groups, nullptr, 0);
   }
}

void MergedGroups::buildTable(Partition& partition, const std::vector<std::byte*>& rows, const Combine* combine,
                              uint32_t number) {
   const size_t slots = std::bit_ceil(std::max<size_t>(rows.size() * 2, 16));
   partition.entries.assign(slots, 0);
   const uint64_t mask = slots - 1;
   partition.groups.reserve(rows.size() / 2);
   std::vector<std::byte*> into;
   std::vector<const std::byte*> from;
   const auto flush = [&] {
      if (!into.empty()) (*combine)(into.data(), from.data(), static_cast<uint32_t>(into.size()), number);
      into.clear();
      from.clear();
   };
   const RowEquality equal(*layout_, keyCount_);
   constexpr size_t ahead = 8;
   for (size_t i = 0; i < rows.size(); ++i) {
      if (i + 2 * ahead < rows.size()) __builtin_prefetch(rows[i + 2 * ahead]);
      if (i + ahead < rows.size()) __builtin_prefetch(&partition.entries[(rowHash(rows[i + ahead]) >> 16) & mask]);
      std::byte* row = rows[i];
      const uint64_t hash = rowHash(row);
      uint64_t slot = (hash >> 16) & mask;
      while (true) {
         const uint64_t entry = partition.entries[slot];
         if (entry == 0) {
            partition.entries[slot] = makeEntry(hash, row);
            partition.groups.push_back(row);
            break;
         }
         if (saltMatches(entry, hash) && equal(rowOf(entry), row)) {
            if (combine) {
               into.push_back(rowOf(entry));
               from.push_back(row);
               if (into.size() == batchRowsMax) flush();
            }
            break;
         }
         slot = (slot + 1) & mask;
      }
   }
   if (combine) flush();
}

void MergedGroups::find(const LiveColumn* keys, const uint64_t* hashes, uint32_t count, std::byte** rows) const {
   uint64_t slots[batchRowsMax];
   RowIndex pending[batchRowsMax], candidates[batchRowsMax], rejected[batchRowsMax];
   for (uint32_t i = 0; i < count; ++i) {
      slots[i] = hashes[i] >> 16;
      pending[i] = static_cast<RowIndex>(i);
   }
   uint32_t pendingCount = count;
   while (pendingCount > 0) {
      uint32_t candidateCount = 0;
      for (uint32_t k = 0; k < pendingCount; ++k) {
         const RowIndex i = pending[k];
         const Partition& partition = partitions_[partitionOf(hashes[i])];
         const uint64_t mask = partition.entries.size() - 1;
         uint64_t slot = slots[i] & mask;
         while (partition.entries[slot] != 0 && !saltMatches(partition.entries[slot], hashes[i]))
            slot = (slot + 1) & mask;
         slots[i] = slot;
         rows[i] = partition.entries[slot] == 0 ? nullptr : rowOf(partition.entries[slot]);
         candidates[candidateCount] = i;
         candidateCount += rows[i] != nullptr;
      }
      uint32_t rejectedCount = 0;
      for (uint32_t c = 0; c < keyCount_ && candidateCount > 0; ++c)
         candidateCount =
             keepEqual(*layout_, c, keys[c], rows, true, candidates, candidateCount, rejected, rejectedCount);
      for (uint32_t k = 0; k < rejectedCount; ++k) {
         ++slots[rejected[k]];
         pending[k] = rejected[k];
      }
      pendingCount = rejectedCount;
   }
}

} // namespace ouzel::executor
