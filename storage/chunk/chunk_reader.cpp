#include "storage/chunk/chunk_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::storage {

namespace {
constexpr uint32_t sparseDivisor = 8; ///< below an eighth of the rows selected, single fetches are cheaper
constexpr uint32_t nothingDecoded = UINT32_MAX;

template <typename T>
uint32_t filterFlat(const T* values, const ValidityWord* validity, const ValueRange& range, const Selection& rows,
                    RowIndex* out) {
   uint32_t kept = 0;
   forEachRow(rows, [&](uint32_t row) {
      const auto value = static_cast<int64_t>(values[row]);
      const auto position = static_cast<RowIndex>(row);
      out[kept] = position;
      kept += uint32_t{range.contains(value)} & uint32_t{isValidBit(validity, row)}; // without a branch
   });
   return kept;
}

uint32_t filterFlat(PhysicalType type, const void* values, const ValidityWord* validity, const ValueRange& range,
                    const Selection& rows, RowIndex* out) {
   switch (type) {
   case PhysicalType::Bool: return filterFlat(static_cast<const uint8_t*>(values), validity, range, rows, out);
   case PhysicalType::I16: return filterFlat(static_cast<const int16_t*>(values), validity, range, rows, out);
   case PhysicalType::I32: return filterFlat(static_cast<const int32_t*>(values), validity, range, rows, out);
   case PhysicalType::I64: return filterFlat(static_cast<const int64_t*>(values), validity, range, rows, out);
   default: throwInternal("range filter on this type");
   }
}

} // namespace

void ChunkReader::open(ChunkPlace place) {
   close();
   place_ = std::move(place);
   const ChunkHeader& header = place_.header();
   if (place_.part != ChunkPlace::whole) {
      part_ = header.parts[place_.part];
   } else {
      part_ = {0, static_cast<uint32_t>(header.pages.size()), header.hasDictionary, header.nullCount, header.zone};
   }
   passed_ = firstPageOfRows();
}

void ChunkReader::close() {
   pins_.clear();
   place_ = {};
   decoded_ = nothingDecoded;
}

PageView ChunkReader::pageAt(uint32_t index) {
   if (pins_.empty()) pins_.resize(part_.pageCount);
   if (!pins_[index]) {
      const io::ReadTallyScope scope(place_.tally);
      pins_[index] =
          place_.block->page(place_.column, place_.rowGroup, part_.firstPage + index, place_.landing.get(), place_.use);
   }
   return {pins_[index].data()};
}

uint32_t ChunkReader::pageIndexOf(uint32_t row) const {
   uint32_t index = firstPageOfRows();
   if (passed_ < part_.pageCount && entryAt(passed_).firstRow <= row) index = passed_;
   while (index + 1 < part_.pageCount && entryAt(index + 1).firstRow <= row)
      ++index;
   return index;
}

PageView ChunkReader::pageOf(uint32_t row, uint32_t& inPage) {
   const uint32_t index = pageIndexOf(row);
   inPage = row - entryAt(index).firstRow;
   return pageAt(index);
}

void ChunkReader::passPages(uint32_t row) {
   const uint32_t index = pageIndexOf(row);
   // After going back, pages that were passed may be pinned again.
   if (!pins_.empty())
      for (uint32_t i = std::min(index, passed_); i < index; ++i)
         pins_[i].reset();
   passed_ = index;
}

uint32_t ChunkReader::rowsWithin(uint32_t first, uint32_t count, size_t bytes) const {
   if (!isVariableSize(type_) || part_.hasDictionary) return count;
   uint32_t index = pageIndexOf(first);
   size_t sum = entryAt(index).rawSize;
   uint32_t end = entryAt(index).firstRow + entryAt(index).rowCount;
   while (end < first + count && ++index < part_.pageCount) {
      sum += entryAt(index).rawSize;
      if (sum > bytes) break;
      end = entryAt(index).firstRow + entryAt(index).rowCount;
   }
   return std::min(count, end - first);
}

uint32_t ChunkReader::rowCount() const {
   if (part_.pageCount == 0) return 0;
   const PageEntry& last = entryAt(part_.pageCount - 1);
   return last.firstRow + last.rowCount;
}

bool ChunkReader::mayMatch(uint32_t first, ZoneKey lower, ZoneKey upper) {
   if (!part_.zone.overlaps(lower, upper)) return false;
   uint32_t inPage;
   const PageView page = pageOf(first, inPage);
   if (page.header().encoding != PageEncoding::PackedInts) return true;
   const PackedVector& head = page.packedVector(inPage);
   return head.smallest <= upper && static_cast<ZoneKey>(head.smallest) + static_cast<ZoneKey>(head.range) >= lower;
}

/// The same for every scan of the chunk or part, and different for all others.
uint64_t ChunkReader::dictionaryId() const {
   constexpr uint32_t localBits = 23, columnBits = 15, isPart = 1 << 22;
   static_assert(segmentIdBits + localBits < 64);
   const uint32_t local = place_.part == ChunkPlace::whole
                              ? (place_.rowGroup & 31) << columnBits | (place_.column & ((1u << columnBits) - 1))
                              : isPart | (part_.number & (isPart - 1));
   return uint64_t{1} << 63 | place_.block->header().segment << localBits | local;
}

char* ChunkReader::scratch() {
   if (!values_) values_.reset(static_cast<char*>(std::aligned_alloc(64, vectorRows * 16)));
   return values_.get();
}

Vector ChunkReader::constant(const Value& value) {
   static constexpr ValidityWord nullBit = 0;
   std::memset(scratch(), 0, 16);
   decoded_ = nothingDecoded;
   if (value.isNull) return Vector::constant(type_, scratch(), &nullBit);
   value.store(scratch());
   return Vector::constant(type_, scratch(), nullptr);
}

const ValidityWord* ChunkReader::shifted(const ValidityWord* validity, uint32_t first, uint32_t count) {
   if (!validity) return nullptr;
   if (!validity_) validity_ = std::make_unique<ValidityWord[]>(vectorRows / 64 + 1);
   // The writer of a growing delta changes other bits of these words meanwhile.
   const auto load = [&](uint32_t word) {
      return std::atomic_ref(const_cast<ValidityWord&>(validity[word])).load(std::memory_order_relaxed);
   };
   const uint32_t shift = first % 64, start = first / 64, last = (first + count - 1) / 64;
   for (uint32_t i = 0; i < validityWords(count); ++i) {
      ValidityWord word = load(start + i) >> shift;
      if (shift != 0 && start + i < last) word |= load(start + i + 1) << (64 - shift);
      validity_[i] = word;
   }
   return validity_.get();
}

Vector ChunkReader::readCodes(uint32_t first, uint32_t count, const Selection& rows) {
   pageAt(0);
   const char* dictionary = pins_[0].data();
   const PageEntry& entry = entryAt(0);
   const uint32_t vectorFirst = first / vectorRows * vectorRows;
   uint32_t inPage;
   const PageView page = pageOf(vectorFirst, inPage);
   if (!codes_) codes_.reset(static_cast<uint16_t*>(std::aligned_alloc(64, vectorRows * sizeof(uint16_t))));
   uint16_t* codes = codes_.get();
   if (decoded_ != vectorFirst) {
      if (first == vectorFirst && rows.count() * sparseDivisor < count) {
         // Codes of other rows must stay inside the dictionary: readers may map whole vectors of codes.
         std::memset(codes, 0, count * sizeof(uint16_t));
         decodeCodesAt(page, inPage, rows, codes);
         decoded_ = nothingDecoded;
      } else {
         decodeCodes(page, inPage, std::min(vectorRows, page.header().rowCount - inPage), codes);
         decoded_ = vectorFirst;
      }
   }
   Vector vector;
   vector.type = type_;
   vector.encoding = Encoding::Dictionary;
   vector.data = dictionaryEntries(dictionary, entry);
   vector.validity = part_.nullCount != 0 ? dictionaryValidity(dictionary, entry) : nullptr;
   vector.codes = codes + (first - vectorFirst);
   vector.dictionarySize = entry.rowCount + (part_.nullCount != 0 ? 1 : 0);
   vector.dictionaryId = dictionaryId();
   return vector;
}

Vector ChunkReader::readStrings(uint32_t first, uint32_t count, const Selection& rows) {
   // A vector may span pages, which end at any row: decode page by page.
   auto* out = reinterpret_cast<StringView*>(scratch());
   const bool isSparse = rows.count() * 2 < count;
   bool hasNulls = false;
   uint32_t index = pageIndexOf(first);
   for (uint32_t row = first; row < first + count; ++index) {
      const PageEntry& entry = entryAt(index);
      const uint32_t end = std::min(first + count, entry.firstRow + entry.rowCount);
      const PageView page = pageAt(index);
      if (isSparse) {
         std::fill(out + (row - first), out + (end - first), StringView());
         decodeStringsAt(page, row - entry.firstRow, end - row, rows, row - first, out + (row - first));
      } else {
         decodeStrings(page, row - entry.firstRow, end - row, out + (row - first));
      }
      hasNulls = hasNulls || page.header().hasNulls;
      row = end;
   }
   if (!hasNulls) return Vector::flat(type_, out, nullptr);
   if (!validity_) validity_ = std::make_unique<ValidityWord[]>(vectorRows / 64 + 1);
   ValidityWord* validity = validity_.get();
   std::memset(validity, 0xff, validityWords(count) * sizeof(ValidityWord));
   index = pageIndexOf(first);
   for (uint32_t row = first; row < first + count; ++index) {
      const PageEntry& entry = entryAt(index);
      const uint32_t end = std::min(first + count, entry.firstRow + entry.rowCount);
      const ValidityWord* bits = PageView{pins_[index].data()}.validity(0);
      for (uint32_t i = row; bits && i < end; ++i)
         if (!isValidBit(bits, i - entry.firstRow)) setValidBit(validity, i - first, false);
      row = end;
   }
   return Vector::flat(type_, out, validity);
}

Vector ChunkReader::read(uint32_t first, uint32_t count, const Selection& rows) {
   if (part_.hasDictionary) return readCodes(first, count, rows);
   const uint32_t vectorFirst = first / vectorRows * vectorRows, offset = first - vectorFirst;
   uint32_t inPage;
   // A vector of strings may have begun in pages that are passed.
   const PageView page = pageOf(isVariableSize(type_) ? first : vectorFirst, inPage);
   const uint32_t inVector = std::min(vectorRows, page.header().rowCount - inPage);
   const uint32_t size = physicalSize(type_);
   const auto validity = [&]() -> const ValidityWord* {
      const ValidityWord* bits = page.validity(inPage);
      return offset % 64 == 0 && bits ? bits + offset / 64 : shifted(bits, offset, count);
   };
   switch (page.header().encoding) {
   case PageEncoding::AllNull: return constant(Value::null(type_));
   case PageEncoding::Constant: {
      decoded_ = nothingDecoded;
      if (!isVariableSize(type_)) {
         // Integers are stored as 128 bits; little-endian, so the first bytes are the value in any narrower type.
         return Vector::constant(type_, page.body(), nullptr);
      }
      uint32_t length;
      std::memcpy(&length, page.body(), sizeof length);
      const StringView value(page.body() + sizeof length, length);
      std::memcpy(scratch(), &value, sizeof value);
      return Vector::constant(type_, scratch(), nullptr);
   }
   case PageEncoding::PlainFixed:
      return Vector::flat(type_, page.body() + static_cast<size_t>(inPage + offset) * size, validity());
   case PageEncoding::PlainStrings: return readStrings(first, count, rows);
   case PageEncoding::PackedInts:
      if (decoded_ != vectorFirst) {
         const bool isSparse = offset == 0 && rows.count() * sparseDivisor < count;
         if (isSparse && hasRandomAccess(page, inPage)) {
            decodeIntsAt(page, type_, inPage, rows, scratch());
            decoded_ = nothingDecoded;
         } else {
            decodeInts(page, type_, inPage, inVector, scratch());
            decoded_ = vectorFirst;
         }
      }
      return Vector::flat(type_, scratch() + static_cast<size_t>(offset) * size, validity());
   case PageEncoding::Codes:
   case PageEncoding::Dictionary: break;
   }
   throw SqlError(sqlstate::dataCorrupted, "stored page has an unexpected encoding");
}

std::optional<int64_t> ChunkReader::onlyValue(uint32_t first) {
   uint32_t inPage;
   const PageView page = pageOf(first, inPage);
   if (page.header().hasNulls) return std::nullopt;
   if (page.header().encoding == PageEncoding::Constant) {
      int64_t value;
      std::memcpy(&value, page.body(), sizeof value);
      return value;
   }
   if (page.header().encoding != PageEncoding::PackedInts || page.packedVector(inPage).range != 0) return std::nullopt;
   return page.packedVector(inPage).smallest;
}

uint32_t ChunkReader::filterRange(uint32_t first, const ValueRange& range, const Selection& rows, RowIndex* out) {
   DCHECK(first % vectorRows == 0);
   uint32_t inPage;
   const PageView page = pageOf(first, inPage);
   const uint32_t count = std::min(vectorRows, page.header().rowCount - inPage);
   if (page.header().encoding == PageEncoding::PackedInts) return filterInts(page, inPage, count, range, rows, out);
   return filterValues(read(first, count, rows), range, rows, out);
}

bool ChunkReader::isPacked(uint32_t first) {
   uint32_t inPage;
   return pageOf(first, inPage).header().encoding == PageEncoding::PackedInts;
}

Matches ChunkReader::matchRange(uint32_t first, const ValueRange& range, uint64_t* mask) {
   DCHECK(first % vectorRows == 0);
   uint32_t inPage;
   const PageView page = pageOf(first, inPage);
   return matchInts(page, inPage, std::min(vectorRows, page.header().rowCount - inPage), range, mask);
}

std::optional<uint32_t> ChunkReader::filterLength(uint32_t first, uint32_t count, uint32_t lower, uint32_t upper,
                                                  const Selection& rows, RowIndex* out) {
   if (part_.hasDictionary) return std::nullopt;
   // A vector may span pages, and `out` may be the list of rows: all pages have to be known before the first is
   // filtered.
   const uint32_t end = first + count, firstPage = pageIndexOf(first);
   for (uint32_t index = firstPage; index < part_.pageCount && entryAt(index).firstRow < end; ++index)
      if (pageAt(index).header().encoding != PageEncoding::PlainStrings) return std::nullopt;
   uint32_t kept = 0;
   for (uint32_t row = first, index = firstPage; row < end; ++index) {
      const PageEntry& entry = entryAt(index);
      const uint32_t pageEnd = std::min(end, entry.firstRow + entry.rowCount);
      kept =
          filterLengths(pageAt(index), row - entry.firstRow, pageEnd - row, lower, upper, rows, row - first, out, kept);
      row = pageEnd;
   }
   return kept;
}

uint32_t filterValues(const Vector& vector, const ValueRange& range, const Selection& rows, RowIndex* out) {
   if (vector.encoding != Encoding::Constant)
      return filterFlat(vector.type, vector.data, vector.validity, range, rows, out);
   const Value value = Value::fromVector(vector, 0);
   if (value.isNull || !range.contains(value.i64)) return 0;
   for (uint32_t i = 0; i < rows.count(); ++i)
      out[i] = rows.row(i);
   return rows.count();
}

} // namespace ouzel::storage
