#include "executor/operator/sort/row_sorter.hpp"

#include <algorithm>

#include "executor/operator/sort/radix_sort.hpp"

namespace ouzel::executor {

namespace {

/// The entries of a range of so many rows, and scratch of the same size, fit into a second-level cache of 1 MiB.
constexpr uint64_t partRows = 1 << 15;
constexpr uint64_t partRowsMin = 1 << 10;
constexpr uint64_t partsMax = 512;
/// At least so many parts for each worker, so that a task's scratch memory is a small part of all memory.
constexpr uint64_t partsPerWorker = 8;
constexpr uint64_t samplesPerRange = 32;

/// Rows with equal keys stay in the order in which their lane got them.
bool arrivedBefore(RowAddress a, RowAddress b) {
   return a.run != b.run ? a.run < b.run : a.row < b.row;
}

uint64_t bigEndian(const char* bytes, uint32_t count) {
   uint64_t word = 0;
   std::memcpy(&word, bytes, std::min(count, 8u));
   return __builtin_bswap64(word);
}

} // namespace

class RowSorter::Base {
public:
   virtual ~Base() = default;
   virtual void cut(uint32_t ranges) = 0;
   virtual void split(uint32_t part) = 0;
   virtual std::vector<uint64_t> endSplit() = 0;
   virtual void sort(uint32_t range, RowAddress* out) = 0;
};

template <typename Entry>
class RowSorter::Rows final : public Base {
public:
   Rows(const SortRowLayout& layout, std::span<const SortRun* const> runs, const KeyPacking& packing, uint64_t rowCount,
        Reservation& memory)
      : layout_(layout), runs_(runs), packing_(packing), order_(layout, runs), rowCount_(rowCount), memory_(memory),
        entries_(rowCount * sizeof(Entry), memory, LargeMemory::Fill::Anything) {}

   void cut(uint32_t ranges) override;
   void split(uint32_t part) override;
   std::vector<uint64_t> endSplit() override;
   void sort(uint32_t range, RowAddress* out) override;

private:
   Entry entryOf(RowAddress address) const {
      const SortPrefix prefix = packing_.prefix(runs_[address.run]->key(address.row));
      Entry entry;
      entry.key[0] = prefix.high;
      if constexpr (Entry::words == 2) entry.key[1] = prefix.low;
      entry.address = address;
      return entry;
   }
   bool isBefore(const Entry& a, const Entry& b) const {
      if (!sameKey(a, b)) return keyBefore(a, b);
      const int order = packing_.isEnough() ? 0 : order_.compare(a.address, b.address);
      return order != 0 ? order < 0 : arrivedBefore(a.address, b.address);
   }
   uint64_t partBegin(uint64_t part) const { return rowCount_ * part / ranges_; }
   uint32_t rangeOf(const Entry& entry) const;
   void forRows(uint64_t from, uint64_t end, const auto& action) const;
   void sortTies(Entry* entries, Entry* scratch, size_t count);
   void sortTexts(Entry* entries, Entry* scratch, size_t count, uint32_t column, uint32_t offset);
   void compareAll(Entry* entries, size_t count, uint32_t fromColumn) const;
   void forTies(Entry* entries, size_t count, const auto& action) const;

   const SortRowLayout& layout_;
   const std::span<const SortRun* const> runs_;
   const KeyPacking packing_;
   const RowOrder order_;
   const uint64_t rowCount_;
   Reservation& memory_;
   uint32_t ranges_ = 1;       ///< number of ranges, and of parts
   std::vector<Entry> splits_; ///< first entries of all ranges but the first
   std::vector<uint64_t> splitKeys_;
   LargeMemory entries_;           ///< part by part, each divided by ranges
   std::vector<uint32_t> offsets_; ///< [part][range]: where the range begins in the part
};

/// Call action with the addresses of rows number [from, end).
template <typename Entry>
void RowSorter::Rows<Entry>::forRows(uint64_t from, uint64_t end, const auto& action) const {
   uint64_t first = 0; // number of the run's first row
   for (uint32_t run = 0; run < runs_.size() && first < end; first += runs_[run++]->rowCount()) {
      const uint64_t rows = runs_[run]->rowCount();
      if (first + rows <= from) continue;
      const auto rowEnd = static_cast<uint32_t>(std::min(rows, end - first));
      for (auto row = static_cast<uint32_t>(from > first ? from - first : 0); row < rowEnd; ++row)
         action(RowAddress{run, row});
   }
}

template <typename Entry>
void RowSorter::Rows<Entry>::cut(uint32_t ranges) {
   DCHECK(ranges > 0);
   DCHECK(ranges <= partsMax); // range numbers are kept in 16 bits
   ranges_ = ranges;
   offsets_.resize(size_t{ranges} * (ranges + 1));
   if (ranges == 1) return;
   const uint64_t count = std::min(rowCount_, ranges * samplesPerRange);
   std::vector<Entry> samples;
   uint32_t run = 0;
   for (uint64_t i = 0, first = 0; i < count; ++i) {
      const uint64_t row = rowCount_ * i / count;
      while (row - first >= runs_[run]->rowCount())
         first += runs_[run++]->rowCount();
      samples.push_back(entryOf({run, static_cast<uint32_t>(row - first)}));
   }
   std::sort(samples.begin(), samples.end(), [&](const Entry& a, const Entry& b) { return isBefore(a, b); });
   for (uint64_t range = 1; range < ranges; ++range) {
      splits_.push_back(samples[samples.size() * range / ranges]);
      splitKeys_.push_back(splits_.back().key[0]);
   }
}

template <typename Entry>
uint32_t RowSorter::Rows<Entry>::rangeOf(const Entry& entry) const {
   const uint64_t* at = splitKeys_.data();
   for (size_t left = splitKeys_.size(); left > 0;) { // without branches on keys
      const size_t half = (left + 1) / 2;
      at += at[half - 1] < entry.key[0] ? half : 0;
      left -= half;
   }
   auto range = static_cast<size_t>(at - splitKeys_.data());
   if (range < splits_.size() && splitKeys_[range] == entry.key[0])
      range =
          static_cast<size_t>(std::upper_bound(splits_.begin() + static_cast<ptrdiff_t>(range), splits_.end(), entry,
                                               [&](const Entry& a, const Entry& b) { return isBefore(a, b); }) -
                              splits_.begin());
   return static_cast<uint32_t>(range);
}

template <typename Entry>
void RowSorter::Rows<Entry>::split(uint32_t part) {
   const uint64_t from = partBegin(part), end = partBegin(part + 1);
   Entry* out = entries_.as<Entry>() + from;
   uint32_t* offsets = offsets_.data() + size_t{part} * (ranges_ + 1);
   if (ranges_ == 1) {
      forRows(from, end, [&](RowAddress address) { *out++ = entryOf(address); });
      offsets[1] = static_cast<uint32_t>(end - from);
      return;
   }
   const LargeMemory scratch((end - from) * (sizeof(Entry) + sizeof(uint16_t)), memory_, LargeMemory::Fill::Anything);
   auto* entries = scratch.as<Entry>();
   auto* ranges = reinterpret_cast<uint16_t*>(entries + (end - from));
   uint32_t count = 0;
   forRows(from, end, [&](RowAddress address) {
      entries[count] = entryOf(address);
      const uint32_t range = rangeOf(entries[count]);
      ranges[count++] = static_cast<uint16_t>(range);
      ++offsets[range + 1];
   });
   std::vector<uint32_t> next(ranges_);
   for (uint32_t range = 0; range < ranges_; ++range) {
      next[range] = offsets[range];
      offsets[range + 1] += offsets[range];
   }
   DCHECK(count == end - from); // the number of rows in the part
   for (uint32_t i = 0; i < count; ++i)
      out[next[ranges[i]]++] = entries[i];
}

template <typename Entry>
std::vector<uint64_t> RowSorter::Rows<Entry>::endSplit() {
   std::vector<uint64_t> begins(ranges_ + 1, 0);
   for (uint32_t range = 0; range < ranges_; ++range) {
      begins[range + 1] = begins[range];
      for (uint32_t part = 0; part < ranges_; ++part) {
         const uint32_t* offsets = offsets_.data() + size_t{part} * (ranges_ + 1);
         begins[range + 1] += offsets[range + 1] - offsets[range];
      }
   }
   DCHECK(begins.back() == rowCount_); // every row is in one range
   return begins;
}

template <typename Entry>
void RowSorter::Rows<Entry>::sort(uint32_t range, RowAddress* out) {
   size_t count = 0;
   for (uint32_t part = 0; part < ranges_; ++part) {
      const uint32_t* offsets = offsets_.data() + size_t{part} * (ranges_ + 1);
      count += offsets[range + 1] - offsets[range];
   }
   const LargeMemory space(count * 2 * sizeof(Entry), memory_, LargeMemory::Fill::Anything);
   auto *entries = space.as<Entry>(), *at = entries;
   for (uint32_t part = 0; part < ranges_; ++part) {
      const uint32_t* offsets = offsets_.data() + size_t{part} * (ranges_ + 1);
      const Entry* from = entries_.as<Entry>() + partBegin(part);
      at = std::copy(from + offsets[range], from + offsets[range + 1], at);
   }
   radixSort(entries, entries + count, count);
   if (!packing_.isEnough())
      forTies(entries, count, [&](Entry* some, size_t ties) { sortTies(some, entries + count, ties); });
   for (size_t i = 0; i < count; ++i)
      out[i] = entries[i].address;
}

/// Call action for each sequence of entries with equal keys.
template <typename Entry>
void RowSorter::Rows<Entry>::forTies(Entry* entries, size_t count, const auto& action) const {
   for (size_t begin = 0; begin < count;) {
      size_t end = begin + 1;
      while (end < count && sameKey(entries[end], entries[begin]))
         ++end;
      if (end - begin > 1) action(entries + begin, end - begin);
      begin = end;
   }
}

template <typename Entry>
void RowSorter::Rows<Entry>::compareAll(Entry* entries, size_t count, uint32_t fromColumn) const {
   const auto columns = static_cast<uint32_t>(layout_.key.columns().size());
   if (fromColumn >= columns) return;
   std::sort(entries, entries + count, [&](const Entry& a, const Entry& b) {
      const int order = order_.compare(a.address, b.address, fromColumn, columns);
      return order != 0 ? order < 0 : arrivedBefore(a.address, b.address);
   });
}

/// Sort entries with equal packed keys.
template <typename Entry>
void RowSorter::Rows<Entry>::sortTies(Entry* entries, Entry* scratch, size_t count) {
   const auto& columns = layout_.key.columns();
   if (!packing_.isWhole() || layout_.key.isExact()) return compareAll(entries, count, 0);
   const auto column = static_cast<uint32_t>(
       std::find_if(columns.begin(), columns.end(), [](const auto& c) { return !c.isExact; }) - columns.begin());
   const RowAddress first = entries[0].address;
   if (!SortKeyLayout::isUnresolved(columns[column], runs_[first.run]->key(first.row)))
      return compareAll(entries, count, column + 1);
   if (columns[column].type != PhysicalType::String) return compareAll(entries, count, column);
   sortTexts(entries, scratch, count, column, SortKeyLayout::stringPrefixBytes);
}

/// Sort entries by the bytes of a text from `offset` on; the bytes before are equal. The next bytes replace the
/// entries' keys; the last byte of a key is the number of bytes taken, or one more if the text goes on.
template <typename Entry>
void RowSorter::Rows<Entry>::sortTexts(Entry* entries, Entry* scratch, size_t count, uint32_t column, uint32_t offset) {
   constexpr size_t fewEntries = 4;
   constexpr uint32_t taken = Entry::words * 8 - 1;
   if (count < fewEntries) return compareAll(entries, count, column);
   const uint32_t stored = layout_.keyColumns[column];
   const uint64_t flip = layout_.key.columns()[column].descending ? ~uint64_t{0} : 0;
   for (size_t i = 0; i < count; ++i) {
      StringView value;
      std::memcpy(&value, runs_[entries[i].address.run]->value(stored, entries[i].address.row), sizeof value);
      const char* bytes = value.data() + offset;
      const uint32_t left = value.size() - offset;
      if constexpr (Entry::words == 2) {
         entries[i].key[0] = bigEndian(bytes, left) ^ flip;
         entries[i].key[1] = left > 8 ? bigEndian(bytes + 8, left - 8) : 0;
      } else {
         entries[i].key[0] = bigEndian(bytes, left);
      }
      uint64_t& last = entries[i].key[Entry::words - 1];
      last = ((last & ~uint64_t{0xff}) | std::min(left, taken + 1)) ^ flip;
   }
   radixSort(entries, scratch, count);
   forTies(entries, count, [&](Entry* some, size_t ties) {
      const bool hasMore = ((some[0].key[Entry::words - 1] ^ flip) & 0xff) > taken;
      if (hasMore)
         sortTexts(some, scratch, ties, column, offset + taken);
      else
         compareAll(some, ties, column + 1);
   });
}

// ---- RowSorter ----

RowSorter::RowSorter(const SortRowLayout& layout, std::span<const SortRun* const> runs, uint32_t workers,
                     Reservation& memory) {
   KeySpread spread;
   uint64_t rows = 0;
   for (const SortRun* run : runs) {
      rows += run->rowCount();
      spread.add(run->spread());
   }
   const KeyPacking packing(layout.key, spread);
   const uint64_t least = std::min(workers * partsPerWorker, rows / partRowsMin);
   parts_ = static_cast<uint32_t>(std::clamp<uint64_t>(std::max(rows / partRows, least), 1, partsMax));
   if (packing.isNarrow())
      rows_ = std::make_unique<Rows<NarrowEntry<RowAddress>>>(layout, runs, packing, rows, memory);
   else
      rows_ = std::make_unique<Rows<WideEntry<RowAddress>>>(layout, runs, packing, rows, memory);
   rows_->cut(parts_);
}

RowSorter::~RowSorter() = default;

void RowSorter::split(uint32_t part) {
   DCHECK(part < parts_);
   rows_->split(part);
}

void RowSorter::endSplit() {
   rangeBegins_ = rows_->endSplit();
}

void RowSorter::sort(uint32_t range, RowAddress* order) {
   DCHECK(range < parts_);
   DCHECK(rangeBegins_.size() == parts_ + 1); // endSplit() was called
   rows_->sort(range, order + rangeBegins_[range]);
}

} // namespace ouzel::executor
