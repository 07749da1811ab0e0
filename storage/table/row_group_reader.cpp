#include <algorithm>
#include <cstring>
#include <span>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/block/page_decoder.hpp"
#include "storage/table/scan_state.hpp"

// Columns are decoded by whole aligned vectors of 2,048 rows into the column's scratch. The scratch keeps the vector
// until another one is read, so that small batches of one vector decode once. Where few rows are selected, single
// values are fetched instead.

namespace ouzel::storage {

namespace {

constexpr uint32_t sparseDivisor = 8; ///< below an eighth of the rows selected, single fetches are cheaper
constexpr uint32_t nothingDecoded = UINT32_MAX;

struct FreeDeleter {
   void operator()(void* memory) const { std::free(memory); }
};

/// One column of the scan: its pages of the current row group and its scratch.
struct ColumnReader {
   uint32_t column = 0; ///< of the table, or ScanSpec::rowIdColumn
   PhysicalType type = PhysicalType::I64;
   const Value* missing = nullptr; ///< of the definition; owned by the scan's column list

   std::vector<PagePin> pages;             ///< by index in the chunk; pinned on first use
   std::shared_ptr<const Landing> landing; ///< the stretch the pages come from, if it was read ahead
   std::unique_ptr<char[], FreeDeleter> values;
   std::unique_ptr<ValidityWord[]> validity;
   std::unique_ptr<uint16_t[], FreeDeleter> codes;
   uint32_t decoded = nothingDecoded; ///< first row of the vector that `values` or `codes` holds completely

   void forget() {
      pages.clear();
      landing.reset();
      decoded = nothingDecoded;
   }
   char* scratch() {
      if (!values) values.reset(static_cast<char*>(std::aligned_alloc(64, vectorRows * 16)));
      return values.get();
   }
   uint16_t* codeScratch() {
      if (!codes) codes.reset(static_cast<uint16_t*>(std::aligned_alloc(64, vectorRows * sizeof(uint16_t))));
      return codes.get();
   }
};

/// A copy of `count` validity bits from bit `first` on, so that bit 0 is the batch's first row.
const ValidityWord* shiftedValidity(ColumnReader& reader, const ValidityWord* validity, uint32_t first,
                                    uint32_t count) {
   if (!validity) return nullptr;
   if (!reader.validity) reader.validity = std::make_unique<ValidityWord[]>(vectorRows / 64 + 1);
   // The writer of a growing delta changes other bits of these words meanwhile.
   const auto load = [&](uint32_t word) {
      return std::atomic_ref(const_cast<ValidityWord&>(validity[word])).load(std::memory_order_relaxed);
   };
   const uint32_t shift = first % 64, start = first / 64, last = (first + count - 1) / 64;
   for (uint32_t i = 0; i < validityWords(count); ++i) {
      ValidityWord word = load(start + i) >> shift;
      if (shift != 0 && start + i < last) word |= load(start + i + 1) << (64 - shift);
      reader.validity[i] = word;
   }
   return reader.validity.get();
}

Vector constantVector(ColumnReader& reader, const Value& value) {
   static constexpr ValidityWord nullBit = 0;
   std::memset(reader.scratch(), 0, 16);
   reader.decoded = nothingDecoded;
   if (value.isNull) return Vector::constant(reader.type, reader.scratch(), &nullBit);
   value.store(reader.scratch());
   return Vector::constant(reader.type, reader.scratch(), nullptr);
}

template <typename T>
uint32_t filterFlat(const T* values, const ValidityWord* validity, uint32_t first, int64_t lower, int64_t upper,
                    const Selection& rows, RowIndex* out) {
   uint32_t kept = 0;
   forEachRow(rows, [&](uint32_t row) {
      const auto value = static_cast<int64_t>(values[row]);
      const auto position = static_cast<RowIndex>(row);
      out[kept] = position;
      kept += (value >= lower) & (value <= upper) & isValidBit(validity, first + row);
   });
   return kept;
}

uint32_t filterFlat(PhysicalType type, const void* values, const ValidityWord* validity, uint32_t first, int64_t lower,
                    int64_t upper, const Selection& rows, RowIndex* out) {
   switch (type) {
   case PhysicalType::Bool:
      return filterFlat(static_cast<const uint8_t*>(values), validity, first, lower, upper, rows, out);
   case PhysicalType::I16:
      return filterFlat(static_cast<const int16_t*>(values), validity, first, lower, upper, rows, out);
   case PhysicalType::I32:
      return filterFlat(static_cast<const int32_t*>(values), validity, first, lower, upper, rows, out);
   case PhysicalType::I64:
      return filterFlat(static_cast<const int64_t*>(values), validity, first, lower, upper, rows, out);
   default: throwInternal("range filter on this type");
   }
}

uint32_t keepAll(const Selection& rows, RowIndex* out) {
   for (uint32_t i = 0; i < rows.count(); ++i)
      out[i] = rows.row(i);
   return rows.count();
}

} // namespace

struct RowGroupReader::State {
   // PROPERTIES
   std::shared_ptr<const ScanState> scan;
   std::vector<ColumnReader> columns;

   // STATE
   Morsel morsel;
   uint32_t pass = 0; ///< of the scan, when the morsel was opened
   const Segment* segment = nullptr;
   const Block* block = nullptr;
   RowIndex visibleRows[batchRowsMax];
   std::vector<ColumnReader> zoneColumns; ///< one per zone predicate: pages read only for their fine zone maps

   void close();
   uint32_t firstRowOfGroup() const { return morsel.rowGroup * rowGroupRows; }
   const ChunkHeader& chunkOf(const ColumnReader& reader) const {
      return block->header().chunk(reader.column, morsel.rowGroup);
   }
   PageView pageAt(ColumnReader& reader, uint32_t index) const {
      const ChunkHeader& chunk = chunkOf(reader);
      if (reader.pages.empty()) {
         reader.pages.resize(chunk.pages.size());
         if (scan->readAhead) reader.landing = scan->readAhead->find(morsel, reader.column);
      }
      if (!reader.pages[index]) {
         const io::ReadTallyScope scope(scan->readAhead ? scan->readAhead->tally() : nullptr);
         reader.pages[index] = block->page(reader.column, morsel.rowGroup, index, reader.landing.get());
      }
      return {reader.pages[index].data()};
   }
   /// The index of the page that holds `row` of the row group.
   uint32_t pageIndexOf(const ColumnReader& reader, uint32_t row) const {
      const ChunkHeader& chunk = chunkOf(reader);
      uint32_t index = chunk.hasDictionary ? 1 : 0;
      while (index + 1 < chunk.pages.size() && chunk.pages[index + 1].firstRow <= row)
         ++index;
      return index;
   }
   bool isMissing(const ColumnReader& reader) const { return reader.column >= segment->columnCount(); }
   Vector readBlock(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows);
   Vector readStrings(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows);
   Vector readCodes(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows);
   bool vectorMayMatch(const ZonePredicate& predicate, ColumnReader& reader, uint32_t first);
   bool hasCandidates() const { return morsel.candidateEnd != 0; }
   std::span<const uint32_t> candidatesIn(uint32_t firstRow, uint32_t count) const;
};

RowGroupReader::RowGroupReader(std::shared_ptr<const ScanState> scan) : state_(std::make_unique<State>()) {
   state_->scan = std::move(scan);
   const auto makeReader = [&](uint32_t column) {
      ColumnReader reader;
      reader.column = column;
      if (column != ScanSpec::rowIdColumn) {
         const ColumnDefinition& definition = (*state_->scan->columns)[column];
         reader.type = definition.representation.physical;
         reader.missing = &definition.missing;
      }
      return reader;
   };
   for (const uint32_t column : state_->scan->spec.columns)
      state_->columns.push_back(makeReader(column));
   for (const ZonePredicate& predicate : state_->scan->spec.zonePredicates)
      state_->zoneColumns.push_back(makeReader(predicate.column));
}

/// Release the pages and stretches of the row group.
void RowGroupReader::State::close() {
   for (ColumnReader& reader : columns)
      reader.forget();
   for (ColumnReader& reader : zoneColumns)
      reader.forget();
   if (segment && scan->readAhead) scan->readAhead->release(morsel, pass);
   segment = nullptr;
}

RowGroupReader::~RowGroupReader() {
   state_->close();
}

void RowGroupReader::open(const Morsel& morsel) {
   State& s = *state_;
   s.close();
   s.morsel = morsel;
   if (s.scan->readAhead) s.pass = s.scan->readAhead->pass();
   s.segment = s.scan->sources[morsel.segment].segment.get();
   s.block = s.segment->block.get();
}

uint32_t RowGroupReader::rowCount() const {
   return state_->morsel.rowCount;
}

bool RowGroupReader::State::vectorMayMatch(const ZonePredicate& predicate, ColumnReader& reader, uint32_t first) {
   if (predicate.kind != ZonePredicate::Kind::Range) return true;
   const ZoneKey lower = predicate.lower, upper = predicate.upper;
   if (lower > upper) return false;
   if (!block || isMissing(reader) || reader.type > PhysicalType::I64) return true;
   if (!chunkOf(reader).zone.overlaps(lower, upper)) return false;
   const uint32_t index = pageIndexOf(reader, first);
   const PageView page = pageAt(reader, index);
   if (page.header().encoding != PageEncoding::PackedInts) return true;
   const PackedVector& head = page.packedVector(first - chunkOf(reader).pages[index].firstRow);
   return head.smallest <= upper && static_cast<ZoneKey>(head.smallest) + static_cast<ZoneKey>(head.range) >= lower;
}

std::span<const uint32_t> RowGroupReader::State::candidatesIn(uint32_t firstRow, uint32_t count) const {
   const uint32_t first = firstRowOfGroup() + firstRow;
   const auto begin = scan->candidates.begin() + morsel.candidateFirst;
   const auto end = scan->candidates.begin() + morsel.candidateEnd;
   const auto from = std::lower_bound(begin, end, first);
   return {from, std::lower_bound(from, end, first + count)};
}

bool RowGroupReader::canSkip(uint32_t firstRow, uint32_t count) {
   State& s = *state_;
   if (s.hasCandidates()) return s.candidatesIn(firstRow, count).empty();
   const auto& predicates = s.scan->spec.zonePredicates;
   for (size_t i = 0; i < predicates.size(); ++i)
      if (!s.vectorMayMatch(predicates[i], s.zoneColumns[i], firstRow / vectorRows * vectorRows)) return true;
   return false;
}

Selection RowGroupReader::visible(uint32_t firstRow, uint32_t count) {
   State& s = *state_;
   const uint32_t row = s.firstRowOfGroup() + firstRow;
   const DeleteMarks::VectorMarks* marks = s.segment->versions->deletes.vector(row / vectorRows);
   if (s.hasCandidates()) {
      uint32_t found = 0;
      for (const uint32_t candidate : s.candidatesIn(firstRow, count))
         if (!marks || !DeleteMarks::isDeletedFor(marks->words[candidate % vectorRows].load(std::memory_order_acquire),
                                                  s.scan->snapshot))
            s.visibleRows[found++] = static_cast<RowIndex>(candidate - row);
      return Selection::list(s.visibleRows, found);
   }
   if (!marks) return Selection::dense(count);
   const Snapshot snapshot = s.scan->snapshot;
   uint32_t kept = 0;
   for (uint32_t i = 0; i < count; ++i) {
      const DeleteWord word = marks->words[row % vectorRows + i].load(std::memory_order_acquire);
      // One comparison excludes 0, which wraps around, and open marks, which are larger than any timestamp.
      bool isDeleted = word - 1 < snapshot.commitTimestamp;
      if ((word & DeleteMarks::openBit) != 0) [[unlikely]]
         isDeleted = DeleteMarks::isDeletedFor(word, snapshot);
      s.visibleRows[kept] = static_cast<RowIndex>(i);
      kept += !isDeleted;
   }
   return kept == count ? Selection::dense(count) : Selection::list(s.visibleRows, kept);
}

Vector RowGroupReader::State::readCodes(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows) {
   const ChunkHeader& chunk = chunkOf(reader);
   pageAt(reader, 0);
   const char* dictionary = reader.pages[0].data();
   const PageEntry& entry = chunk.pages[0];
   const uint32_t vectorFirst = first / vectorRows * vectorRows, index = pageIndexOf(reader, vectorFirst);
   const PageView page = pageAt(reader, index);
   const uint32_t inPage = vectorFirst - chunk.pages[index].firstRow;
   uint16_t* codes = reader.codeScratch();
   if (reader.decoded != vectorFirst) {
      if (first == vectorFirst && rows.count() * sparseDivisor < count) {
         // Codes of other rows must stay inside the dictionary: readers may map whole vectors of codes.
         std::memset(codes, 0, count * sizeof(uint16_t));
         decodeCodesAt(page, inPage, rows, codes);
         reader.decoded = nothingDecoded;
      } else {
         decodeCodes(page, inPage, std::min(vectorRows, page.header().rowCount - inPage), codes);
         reader.decoded = vectorFirst;
      }
   }
   Vector vector;
   vector.type = reader.type;
   vector.encoding = Encoding::Dictionary;
   vector.data = dictionaryEntries(dictionary, entry);
   vector.validity = chunk.nullCount != 0 ? dictionaryValidity(dictionary, entry) : nullptr;
   vector.codes = codes + (first - vectorFirst);
   vector.dictionarySize = entry.rowCount + (chunk.nullCount != 0 ? 1 : 0);
   vector.dictionaryId =
       uint64_t{1} << 63 | segment->id << 20 | uint64_t{morsel.rowGroup & 31} << 15 | (reader.column & 0x7fff);
   return vector;
}

Vector RowGroupReader::State::readStrings(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows) {
   // A vector may span pages, which end at any multiple of 256 rows: decode page by page.
   const ChunkHeader& chunk = chunkOf(reader);
   auto* out = reinterpret_cast<StringView*>(reader.scratch());
   const bool isSparse = rows.count() * 2 < count;
   bool hasNulls = false;
   uint32_t index = pageIndexOf(reader, first);
   for (uint32_t row = first; row < first + count; ++index) {
      const PageEntry& entry = chunk.pages[index];
      const uint32_t end = std::min(first + count, entry.firstRow + entry.rowCount);
      const PageView page = pageAt(reader, index);
      if (isSparse) {
         std::fill(out + (row - first), out + (end - first), StringView());
         decodeStringsAt(page, row - entry.firstRow, end - row, rows, row - first, out + (row - first));
      } else {
         decodeStrings(page, row - entry.firstRow, end - row, out + (row - first));
      }
      hasNulls = hasNulls || page.header().hasNulls;
      row = end;
   }
   if (!hasNulls) return Vector::flat(reader.type, out, nullptr);
   if (!reader.validity) reader.validity = std::make_unique<ValidityWord[]>(vectorRows / 64 + 1);
   ValidityWord* validity = reader.validity.get();
   std::memset(validity, 0xff, validityWords(count) * sizeof(ValidityWord));
   index = pageIndexOf(reader, first);
   for (uint32_t row = first; row < first + count; ++index) {
      const PageEntry& entry = chunk.pages[index];
      const uint32_t end = std::min(first + count, entry.firstRow + entry.rowCount);
      const ValidityWord* bits = PageView{reader.pages[index].data()}.validity(0);
      for (uint32_t i = row; bits && i < end; ++i)
         if (!isValidBit(bits, i - entry.firstRow)) setValidBit(validity, i - first, false);
      row = end;
   }
   return Vector::flat(reader.type, out, validity);
}

Vector RowGroupReader::State::readBlock(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows) {
   if (chunkOf(reader).hasDictionary) return readCodes(reader, first, count, rows);
   const uint32_t vectorFirst = first / vectorRows * vectorRows, index = pageIndexOf(reader, vectorFirst);
   const PageView page = pageAt(reader, index);
   const uint32_t inPage = vectorFirst - chunkOf(reader).pages[index].firstRow, offset = first - vectorFirst;
   const uint32_t inVector = std::min(vectorRows, page.header().rowCount - inPage);
   const uint32_t size = physicalSize(reader.type);
   const auto validity = [&]() -> const ValidityWord* {
      const ValidityWord* bits = page.validity(inPage);
      return offset % 64 == 0 && bits ? bits + offset / 64 : shiftedValidity(reader, bits, offset, count);
   };
   switch (page.header().encoding) {
   case PageEncoding::AllNull: return constantVector(reader, Value::null(reader.type));
   case PageEncoding::Constant: {
      reader.decoded = nothingDecoded;
      if (!isVariableSize(reader.type)) {
         // Integers are stored as 128 bits; little-endian, so the first bytes are the value in any narrower type.
         return Vector::constant(reader.type, page.body(), nullptr);
      }
      uint32_t length;
      std::memcpy(&length, page.body(), sizeof length);
      const StringView value(page.body() + sizeof length, length);
      std::memcpy(reader.scratch(), &value, sizeof value);
      return Vector::constant(reader.type, reader.scratch(), nullptr);
   }
   case PageEncoding::PlainFixed:
      return Vector::flat(reader.type, page.body() + static_cast<size_t>(inPage + offset) * size, validity());
   case PageEncoding::PlainStrings: return readStrings(reader, first, count, rows);
   case PageEncoding::PackedInts:
      if (reader.decoded != vectorFirst) {
         const bool isSparse = offset == 0 && rows.count() * sparseDivisor < count;
         if (isSparse && hasRandomAccess(page, inPage)) {
            decodeIntsAt(page, reader.type, inPage, rows, reader.scratch());
            reader.decoded = nothingDecoded;
         } else {
            decodeInts(page, reader.type, inPage, inVector, reader.scratch());
            reader.decoded = vectorFirst;
         }
      }
      return Vector::flat(reader.type, reader.scratch() + static_cast<size_t>(offset) * size, validity());
   case PageEncoding::Codes:
   case PageEncoding::Dictionary: break;
   }
   throw SqlError(sqlstate::dataCorrupted, "stored page has an unexpected encoding");
}

Vector RowGroupReader::read(uint32_t column, uint32_t firstRow, uint32_t count, const Selection& rows) {
   State& s = *state_;
   ColumnReader& reader = s.columns[column];
   DCHECK(count > 0);
   DCHECK(firstRow / vectorRows == (firstRow + count - 1) / vectorRows);
   DCHECK(firstRow + count <= s.morsel.rowCount);
   if (reader.column == ScanSpec::rowIdColumn) {
      auto* out = reinterpret_cast<int64_t*>(reader.scratch());
      const auto base = static_cast<int64_t>(makeRowId(s.segment->id, s.firstRowOfGroup() + firstRow));
      for (uint32_t i = 0; i < count; ++i)
         out[i] = base + i;
      return Vector::flat(PhysicalType::I64, out, nullptr);
   }
   if (s.isMissing(reader)) return constantVector(reader, *reader.missing);
   if (s.block) return s.readBlock(reader, firstRow, count, rows);
   const uint32_t aligned = firstRow / 64 * 64, offset = firstRow - aligned;
   const ColumnSlice slice = s.segment->delta->slice(reader.column, s.firstRowOfGroup() + aligned, offset + count);
   return Vector::flat(reader.type, static_cast<const char*>(slice.data) + offset * physicalSize(reader.type),
                       shiftedValidity(reader, slice.validity, offset, count));
}

bool RowGroupReader::canFilterRange(uint32_t column) const {
   const ColumnReader& reader = state_->columns[column];
   return reader.column != ScanSpec::rowIdColumn && reader.type <= PhysicalType::I64;
}

uint32_t RowGroupReader::filterRange(uint32_t column, uint32_t firstRow, uint32_t count, int64_t lower, int64_t upper,
                                     const Selection& rows, RowIndex* out) {
   State& s = *state_;
   ColumnReader& reader = s.columns[column];
   if (lower > upper || rows.count() == 0) return 0;
   if (s.isMissing(reader)) {
      const Value& value = *reader.missing;
      return !value.isNull && value.i64 >= lower && value.i64 <= upper ? keepAll(rows, out) : 0;
   }
   if (s.block) {
      const uint32_t vectorFirst = firstRow / vectorRows * vectorRows;
      const uint32_t index = s.pageIndexOf(reader, vectorFirst);
      const PageView page = s.pageAt(reader, index);
      if (page.header().encoding == PageEncoding::PackedInts && firstRow == vectorFirst) {
         const uint32_t inPage = vectorFirst - s.chunkOf(reader).pages[index].firstRow;
         return filterInts(page, inPage, count, lower, upper, rows, out);
      }
   }
   const Vector vector = read(column, firstRow, count, rows);
   if (vector.encoding != Encoding::Constant)
      return filterFlat(vector.type, vector.data, vector.validity, 0, lower, upper, rows, out);
   const Value value = Value::fromVector(vector, 0);
   return !value.isNull && value.i64 >= lower && value.i64 <= upper ? keepAll(rows, out) : 0;
}

} // namespace ouzel::storage
