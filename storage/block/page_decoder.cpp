#include "storage/block/page_decoder.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/block/bit_packing.hpp"

namespace ouzel::storage {

namespace {

const char* dataOf(const PageView& page, const PackedVector& head) {
   return page.body() + head.offset;
}
const uint16_t* runEnds(const PageView& page, const PackedVector& head) {
   return reinterpret_cast<const uint16_t*>(dataOf(page, head));
}
const char* runValues(const PageView& page, const PackedVector& head) {
   return dataOf(page, head) + (head.runs * sizeof(uint16_t) + 31) / 32 * 32;
}

template <typename T>
void decodeDelta(const PageView& page, const PackedVector& head, uint32_t count, T* out) {
   uint64_t value = head.factor;
   if (head.bits == 0) {
      for (uint32_t i = 0; i < count; ++i)
         out[i] = static_cast<T>(static_cast<int64_t>(value + i * static_cast<uint64_t>(head.reference)));
      return;
   }
   alignas(64) int64_t deltas[vectorRows];
   unpackInts<int64_t>(dataOf(page, head), count, head.bits, head.reference, 1, deltas);
   out[0] = static_cast<T>(static_cast<int64_t>(value));
   for (uint32_t i = 1; i < count; ++i) {
      value += static_cast<uint64_t>(deltas[i]);
      out[i] = static_cast<T>(static_cast<int64_t>(value));
   }
}

/// The values of the runs; returns the rows behind them. `values` is 64-byte aligned, with room for 2,048.
const uint16_t* unpackRuns(const PageView& page, const PackedVector& head, int64_t* values) {
   DCHECK(head.runs <= vectorRows);
   unpackInts<int64_t>(runValues(page, head), head.runs, head.bits, head.reference, head.factor, values);
   return runEnds(page, head);
}

template <typename T>
void decodeRuns(const PageView& page, const PackedVector& head, uint32_t count, T* out) {
   alignas(64) int64_t values[vectorRows];
   const uint16_t* ends = unpackRuns(page, head, values);
   uint32_t row = 0;
   for (uint32_t run = 0; run < head.runs && row < count; ++run) { // `count` may end before the vector does
      std::fill(out + row, out + std::min<uint32_t>(ends[run], count), static_cast<T>(values[run]));
      row = ends[run];
   }
}

template <typename T>
void decodeAs(const PageView& page, const PackedVector& head, uint32_t count, T* out) {
   switch (head.mode) {
   case PackedMode::FrameOfReference:
      return unpackInts<T>(dataOf(page, head), count, head.bits, head.reference, head.factor, out);
   case PackedMode::Delta: return decodeDelta(page, head, count, out);
   case PackedMode::Runs: return decodeRuns(page, head, count, out);
   }
}

template <typename T>
void decodeAtAs(const PageView& page, const PackedVector& head, const Selection& rows, T* out) {
   if (head.mode == PackedMode::Delta) {
      forEachRow(rows, [&](uint32_t row) {
         out[row] = static_cast<T>(static_cast<int64_t>(head.factor + row * static_cast<uint64_t>(head.reference)));
      });
      return;
   }
   unpackIntsAt(dataOf(page, head), rows, head.bits, head.reference, head.factor, out);
}

/// Keep the rows of `rows` whose bit is set.
uint32_t intersect(const uint64_t* mask, const Selection& rows, uint32_t count, RowIndex* out) {
   if (rows.isDense()) {
      alignas(16) RowIndex kept[batchRowsMax + 64];
      const uint32_t n = maskToRows(mask, 0, std::min(rows.count(), count), kept);
      std::memcpy(out, kept, n * sizeof(RowIndex));
      return n;
   }
   uint32_t kept = 0;
   const RowIndex* list = rows.rows();
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const RowIndex row = list[i];
      out[kept] = row;
      kept += (mask[row >> 6] >> (row & 63)) & 1;
   }
   return kept;
}

/// Sets the bits of rows whose value lies in [lower, upper], and clears the others.
void maskOfValues(const int64_t* values, uint32_t count, int64_t lower, int64_t upper, uint64_t* mask) {
   for (uint32_t first = 0; first < count; first += 64) {
      uint64_t word = 0;
      const uint32_t here = std::min(64u, count - first);
      for (uint32_t i = 0; i < here; ++i) {
         const int64_t v = values[first + i];
         word |= static_cast<uint64_t>((v >= lower) & (v <= upper)) << i;
      }
      mask[first / 64] = word;
   }
}

void setBits(uint64_t* mask, uint32_t begin, uint32_t end) {
   const uint64_t first = ~uint64_t{0} << (begin & 63), last = ~uint64_t{0} >> (63 - ((end - 1) & 63));
   const uint32_t from = begin >> 6, to = (end - 1) >> 6;
   if (from == to) {
      mask[from] |= first & last;
      return;
   }
   mask[from] |= first;
   std::fill(mask + from + 1, mask + to, ~uint64_t{0});
   mask[to] |= last;
}

/// The same as maskOfValues(), once per run.
void maskOfRuns(const PageView& page, const PackedVector& head, uint32_t count, int64_t lower, int64_t upper,
                uint64_t* mask) {
   std::fill_n(mask, validityWords(count), 0);
   alignas(64) int64_t values[vectorRows];
   const uint16_t* ends = unpackRuns(page, head, values);
   uint32_t row = 0;
   for (uint32_t run = 0; run < head.runs && row < count; ++run) {
      if (values[run] >= lower && values[run] <= upper) setBits(mask, row, std::min<uint32_t>(ends[run], count));
      row = ends[run];
   }
}

// Reading past a short string's end is safe, since pages are padded.
inline StringView viewAt(const char* bytes, uint32_t size) {
   return StringView::ofPadded(bytes, size);
}

template <typename Length>
void stringsAs(const char* body, const StringBody& head, uint32_t firstRow, uint32_t count, StringView* out) {
   const auto* starts = reinterpret_cast<const uint32_t*>(body + sizeof(StringBody));
   const auto* lengths = reinterpret_cast<const Length*>(body + head.lengthsOffset);
   const char* bytes = body + head.bytesOffset;
   const uint32_t granule = firstRow / stringGranule;
   size_t at = starts[granule];
   for (uint32_t i = granule * stringGranule; i < firstRow; ++i)
      at += lengths[i];
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t size = lengths[firstRow + i];
      out[i] = viewAt(bytes + at, size);
      at += size;
   }
}

template <typename Length>
void stringsAtAs(const char* body, const StringBody& head, uint32_t firstRow, uint32_t count, const Selection& rows,
                 uint32_t shift, StringView* out) {
   const auto* starts = reinterpret_cast<const uint32_t*>(body + sizeof(StringBody));
   const auto* lengths = reinterpret_cast<const Length*>(body + head.lengthsOffset);
   const char* bytes = body + head.bytesOffset;
   // Walk forward; at a new granule jump to its start. The bytes of all strings are asked for before one is needed.
   uint32_t position = 0;
   uint32_t at = 0;
   bool started = false;
   uint32_t offsets[vectorRows];
   const auto eachRow = [&](auto&& visit) {
      forEachRow(rows, [&](uint32_t row) {
         if (row >= shift && row - shift < count) visit(row - shift);
      });
   };
   eachRow([&](uint32_t row) {
      const uint32_t target = firstRow + row;
      if (!started || target / stringGranule != position / stringGranule) {
         position = target / stringGranule * stringGranule;
         at = starts[position / stringGranule];
         started = true;
      }
      for (; position < target; ++position)
         at += lengths[position];
      offsets[row] = at;
      __builtin_prefetch(bytes + at);
      __builtin_prefetch(bytes + at + lengths[target]);
   });
   eachRow([&](uint32_t row) { out[row] = viewAt(bytes + offsets[row], lengths[firstRow + row]); });
}

template <typename Length>
uint32_t filterLengthsAs(const char* body, const StringBody& head, uint32_t firstRow, uint32_t count, uint32_t lower,
                         uint32_t upper, const Selection& rows, uint32_t shift, RowIndex* out, uint32_t kept) {
   const auto* lengths = reinterpret_cast<const Length*>(body + head.lengthsOffset) + firstRow;
   const uint32_t span = upper - lower;
   const auto test = [&](uint32_t row) {
      out[kept] = static_cast<RowIndex>(row);
      kept += lengths[row - shift] - lower <= span;
   };
   if (rows.isDense()) {
      const uint32_t end = std::min(shift + count, rows.count());
      for (uint32_t row = shift; row < end; ++row)
         test(row);
      return kept;
   }
   const RowIndex* const list = rows.rows();
   const RowIndex* const end = list + rows.count();
   for (const RowIndex* row = std::lower_bound(list, end, shift); row != end && *row < shift + count; ++row)
      test(*row);
   return kept;
}

size_t alignUp(size_t size) {
   return (size + 63) / 64 * 64;
}

} // namespace

void decodeInts(const PageView& page, PhysicalType type, uint32_t firstRow, uint32_t count, void* out) {
   DCHECK(firstRow % vectorRows == 0);
   const PackedVector& head = page.packedVector(firstRow);
   switch (type) {
   case PhysicalType::Bool: return decodeAs(page, head, count, static_cast<uint8_t*>(out));
   case PhysicalType::I16: return decodeAs(page, head, count, static_cast<int16_t*>(out));
   case PhysicalType::I32: return decodeAs(page, head, count, static_cast<int32_t*>(out));
   case PhysicalType::I64: return decodeAs(page, head, count, static_cast<int64_t*>(out));
   case PhysicalType::I128: {
      alignas(64) int64_t narrow[vectorRows];
      decodeAs(page, head, count, narrow);
      auto* wide = static_cast<int128*>(out);
      for (uint32_t i = 0; i < count; ++i)
         wide[i] = narrow[i];
      return;
   }
   default: throwInternal("packed integers of another type");
   }
}

void decodeIntsAt(const PageView& page, PhysicalType type, uint32_t firstRow, const Selection& rows, void* out) {
   const PackedVector& head = page.packedVector(firstRow);
   DCHECK(hasRandomAccess(head));
   switch (type) {
   case PhysicalType::Bool: return decodeAtAs(page, head, rows, static_cast<uint8_t*>(out));
   case PhysicalType::I16: return decodeAtAs(page, head, rows, static_cast<int16_t*>(out));
   case PhysicalType::I32: return decodeAtAs(page, head, rows, static_cast<int32_t*>(out));
   case PhysicalType::I64: return decodeAtAs(page, head, rows, static_cast<int64_t*>(out));
   case PhysicalType::I128: return decodeAtAs(page, head, rows, static_cast<int128*>(out));
   default: throwInternal("packed integers of another type");
   }
}

namespace {

/// As filterInts(), for few rows of many: looks at these rows only. Values are decoded up to the last of them where
/// they cannot be read one by one.
uint32_t filterFew(const PageView& page, const PackedVector& head, const ValidityWord* validity,
                   const ValueRange& range, const Selection& rows, RowIndex* out) {
   alignas(64) int64_t values[vectorRows];
   const RowIndex* list = rows.rows();
   if (hasRandomAccess(head))
      decodeAtAs(page, head, rows, values);
   else
      decodeAs(page, head, *std::max_element(list, list + rows.count()) + 1u, values);
   uint32_t kept = 0;
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const RowIndex row = list[i];
      out[kept] = row;
      kept += uint32_t{range.contains(values[row])} & uint32_t{isValidBit(validity, row)}; // without a branch
   }
   return kept;
}

} // namespace

Matches matchInts(const PageView& page, uint32_t firstRow, uint32_t count, const ValueRange& range, uint64_t* mask) {
   const auto [lower, upper, isOutside] = range;
   const PackedVector& head = page.packedVector(firstRow);
   const ValidityWord* validity = page.validity(firstRow);
   const int64_t smallest = head.smallest;
   const auto largest = static_cast<int64_t>(static_cast<uint64_t>(smallest) + head.range);
   const bool holdsNone = lower > largest || upper < smallest || lower > upper;
   const bool holdsAll = lower <= smallest && upper >= largest;
   if (isOutside ? holdsAll : holdsNone) return Matches::None;
   const uint32_t words = validityWords(count);
   if (isOutside ? holdsNone : holdsAll) {
      if (!validity) return Matches::All;
      std::memcpy(mask, validity, words * sizeof(uint64_t));
      return Matches::Some;
   }
   if (head.mode == PackedMode::Runs) {
      maskOfRuns(page, head, count, lower, upper, mask);
   } else if (head.mode != PackedMode::FrameOfReference) {
      alignas(64) int64_t values[vectorRows];
      decodeAs(page, head, count, values);
      maskOfValues(values, count, lower, upper, mask);
   } else {
      // In the packed domain: reference + p * factor in [lower, upper]. Both bounds are clipped to the range first.
      const uint64_t below = lower <= smallest ? 0 : static_cast<uint64_t>(lower) - static_cast<uint64_t>(smallest);
      const uint64_t above =
          upper >= largest ? head.range : static_cast<uint64_t>(upper) - static_cast<uint64_t>(smallest);
      const uint64_t packedLower = (below + head.factor - 1) / head.factor, packedUpper = above / head.factor;
      if (packedLower > packedUpper)
         std::fill_n(mask, words, 0);
      else
         compareRange(dataOf(page, head), (count + packValues - 1) / packValues, head.bits, packedLower, packedUpper,
                      mask);
   }
   if (isOutside)
      for (uint32_t i = 0; i < words; ++i)
         mask[i] = ~mask[i];
   if (validity)
      for (uint32_t i = 0; i < words; ++i)
         mask[i] &= validity[i];
   return Matches::Some;
}

uint32_t filterInts(const PageView& page, uint32_t firstRow, uint32_t count, const ValueRange& range,
                    const Selection& rows, RowIndex* out) {
   if (!rows.isDense() && rows.count() > 0 && rows.count() * 16 < count)
      return filterFew(page, page.packedVector(firstRow), page.validity(firstRow), range, rows, out);
   uint64_t mask[vectorRows / 64];
   switch (matchInts(page, firstRow, count, range, mask)) {
   case Matches::None: return 0;
   case Matches::Some: return intersect(mask, rows, count, out);
   case Matches::All: break;
   }
   if (rows.isDense()) {
      for (uint32_t i = 0; i < rows.count(); ++i)
         out[i] = static_cast<RowIndex>(i);
   } else if (out != rows.rows()) {
      std::memcpy(out, rows.rows(), rows.count() * sizeof(RowIndex));
   }
   return rows.count();
}

void decodeCodes(const PageView& page, uint32_t firstRow, uint32_t count, uint16_t* out) {
   DCHECK(firstRow % packValues == 0);
   const uint32_t bits = page.header().width;
   if (bits == 0) {
      std::memset(out, 0, count * sizeof(uint16_t));
      return;
   }
   unpackLanes(page.body() + packedBytes(bits, firstRow), (count + packValues - 1) / packValues, bits, out);
}

void decodeCodesAt(const PageView& page, uint32_t firstRow, const Selection& rows, uint16_t* out) {
   const uint32_t bits = page.header().width;
   const char* data = page.body() + packedBytes(bits, firstRow);
   unpackIntsAt(data, rows, bits, 0, 1, out);
}

void decodeStrings(const PageView& page, uint32_t firstRow, uint32_t count, StringView* out) {
   const char* body = page.body();
   StringBody head;
   std::memcpy(&head, body, sizeof head);
   switch (head.lengthWidth) {
   case 1: return stringsAs<uint8_t>(body, head, firstRow, count, out);
   case 2: return stringsAs<uint16_t>(body, head, firstRow, count, out);
   default: return stringsAs<uint32_t>(body, head, firstRow, count, out);
   }
}

void decodeStringsAt(const PageView& page, uint32_t firstRow, uint32_t count, const Selection& rows, uint32_t shift,
                     StringView* out) {
   const char* body = page.body();
   StringBody head;
   std::memcpy(&head, body, sizeof head);
   switch (head.lengthWidth) {
   case 1: return stringsAtAs<uint8_t>(body, head, firstRow, count, rows, shift, out);
   case 2: return stringsAtAs<uint16_t>(body, head, firstRow, count, rows, shift, out);
   default: return stringsAtAs<uint32_t>(body, head, firstRow, count, rows, shift, out);
   }
}

uint32_t filterLengths(const PageView& page, uint32_t firstRow, uint32_t count, uint32_t lower, uint32_t upper,
                       const Selection& rows, uint32_t shift, RowIndex* out, uint32_t kept) {
   const char* body = page.body();
   StringBody head;
   std::memcpy(&head, body, sizeof head);
   switch (head.lengthWidth) {
   case 1: return filterLengthsAs<uint8_t>(body, head, firstRow, count, lower, upper, rows, shift, out, kept);
   case 2: return filterLengthsAs<uint16_t>(body, head, firstRow, count, lower, upper, rows, shift, out, kept);
   default: return filterLengthsAs<uint32_t>(body, head, firstRow, count, lower, upper, rows, shift, out, kept);
   }
}

size_t frameSize(const PageEntry& entry, bool isDictionary) {
   const size_t page = alignUp(entry.rawSize + pagePadding);
   if (!isDictionary) return page;
   const uint32_t entries = entry.rowCount + 1;
   return page + entries * sizeof(StringView) + validityWords(entries) * sizeof(ValidityWord);
}

const StringView* dictionaryEntries(const char* frame, const PageEntry& entry) {
   return reinterpret_cast<const StringView*>(frame + alignUp(entry.rawSize + pagePadding));
}

const ValidityWord* dictionaryValidity(const char* frame, const PageEntry& entry) {
   return reinterpret_cast<const ValidityWord*>(dictionaryEntries(frame, entry) + entry.rowCount + 1);
}

void buildDictionary(char* frame, const PageEntry& entry) {
   auto* entries = const_cast<StringView*>(dictionaryEntries(frame, entry));
   decodeStrings(PageView{frame}, 0, entry.rowCount, entries);
   entries[entry.rowCount] = StringView();
   auto* validity = const_cast<ValidityWord*>(dictionaryValidity(frame, entry));
   std::memset(validity, 0xff, validityWords(entry.rowCount + 1) * sizeof(ValidityWord));
   setValidBit(validity, entry.rowCount, false);
}

namespace {
[[noreturn, gnu::cold]] void malformed() {
   throw SqlError(sqlstate::dataCorrupted, "stored page is malformed");
}

void verifyPacked(const PageView& page, size_t bodySize) {
   const uint32_t rows = page.header().rowCount;
   if ((rows + vectorRows - 1) / vectorRows * sizeof(PackedVector) > bodySize) malformed();
   for (uint32_t first = 0; first < rows; first += vectorRows) {
      const PackedVector& head = page.packedVector(first);
      const uint32_t count = std::min(vectorRows, rows - first);
      if (head.bits > 64 || head.mode > PackedMode::Runs) malformed();
      size_t size = packedBytes(head.bits, count);
      if (head.mode == PackedMode::Runs) {
         size = (head.runs * sizeof(uint16_t) + 31) / 32 * 32 + packedBytes(head.bits, head.runs);
         if (head.offset + size > bodySize || head.runs == 0) malformed();
         uint32_t previous = 0;
         for (uint32_t run = 0; run < head.runs; ++run) {
            const uint32_t end = runEnds(page, head)[run];
            if (end <= previous || end > count) malformed();
            previous = end;
         }
         if (previous != count) malformed();
      }
      if (head.offset + size > bodySize || head.factor == 0) {
         if (head.mode != PackedMode::Delta || head.offset + size > bodySize) malformed();
      }
   }
}

void verifyStrings(const PageView& page, size_t bodySize) {
   StringBody head;
   if (bodySize < sizeof head) malformed();
   std::memcpy(&head, page.body(), sizeof head);
   const uint64_t rows = page.header().rowCount;
   const uint64_t granules = (rows + stringGranule - 1) / stringGranule;
   if (head.lengthWidth != 1 && head.lengthWidth != 2 && head.lengthWidth != 4) malformed();
   if (head.lengthsOffset != sizeof head + granules * 4) malformed();
   if (head.bytesOffset != head.lengthsOffset + rows * head.lengthWidth || head.bytesOffset > bodySize) malformed();
   const auto* starts = reinterpret_cast<const uint32_t*>(page.body() + sizeof head);
   uint64_t at = 0;
   for (uint32_t i = 0; i < rows; ++i) {
      if (i % stringGranule == 0 && starts[i / stringGranule] != at) malformed();
      uint32_t size = 0;
      std::memcpy(&size, page.body() + head.lengthsOffset + i * head.lengthWidth, head.lengthWidth);
      at += size;
   }
   if (head.bytesOffset + at != bodySize) malformed();
}
} // namespace

void verifyPage(const char* base, const PageEntry& entry) {
   const PageView page{base};
   if (entry.rawSize < sizeof(PageHeader)) malformed();
   const PageHeader& header = page.header();
   const size_t validity = header.hasNulls ? validityWords(header.rowCount) * sizeof(ValidityWord) : 0;
   if (header.rowCount != entry.rowCount || header.bodyOffset > entry.rawSize) malformed();
   if (header.bodyOffset < sizeof header + validity) malformed();
   const size_t bodySize = entry.rawSize - header.bodyOffset;
   switch (header.encoding) {
   case PageEncoding::AllNull: return;
   case PageEncoding::Constant: {
      if (bodySize < 4) malformed();
      return;
   }
   case PageEncoding::PackedInts: return verifyPacked(page, bodySize);
   case PageEncoding::PlainFixed: return;
   case PageEncoding::PlainStrings:
   case PageEncoding::Dictionary: return verifyStrings(page, bodySize);
   case PageEncoding::Codes:
      if (header.width > 16 || packedBytes(header.width, header.rowCount) > bodySize) malformed();
      return;
   }
   malformed();
}

} // namespace ouzel::storage
