#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/block/bit_packing.hpp"
#include "storage/chunk/chunk_reader.hpp"
#include "storage/chunk/path_reader.hpp"
#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

namespace {

/// One column of the scan.
struct ColumnReader {
   ColumnReader(uint32_t number, PhysicalType type, const Value* value) : column(number), missing(value), chunk(type) {}

   uint32_t column;      ///< of the table, or ScanSpec::rowIdColumn
   const Value* missing; ///< of the definition; owned by the scan's column list
   // Opened on first use in a row group:
   ChunkReader chunk;
   std::unique_ptr<DocumentReader> documents; ///< of chunks with parts
   std::unique_ptr<PathReader> path;          ///< null: the column itself is read

   PhysicalType type() const { return chunk.type(); }
   void forget() {
      chunk.close();
      if (documents) documents->close();
      if (path) path->close();
   }
};

uint32_t keepAll(const Selection& rows, RowIndex* out) {
   for (uint32_t i = 0; i < rows.count(); ++i)
      out[i] = rows.row(i);
   return rows.count();
}

} // namespace

struct RowGroupReader::State {
   // PROPERTIES
   std::shared_ptr<const ScanState> scan;
   std::vector<ColumnReader> columns; ///< and paths

   // STATE
   Morsel morsel;
   uint32_t pass = 0; ///< of the scan, when the morsel was opened
   const Segment* segment = nullptr;
   const Block* block = nullptr;
   RowIndex visibleRows[batchRowsMax];
   std::vector<ColumnReader> zoneColumns; ///< one per zone predicate: pages read only for their fine zone maps
   /// The shapes of columns that have them, by column; their readers share them.
   std::vector<std::pair<uint32_t, std::unique_ptr<DocumentShapes>>> shapes;

   void close();
   uint32_t firstRowOfGroup() const { return morsel.rowGroup * rowGroupRows; }
   const ChunkHeader& chunkOf(const ColumnReader& reader) const {
      return block->header().chunk(reader.column, morsel.rowGroup);
   }
   ChunkPlace placeOf(const ColumnReader& reader) const;
   ChunkReader& opened(ColumnReader& reader) const;
   DocumentShapes& shapesOf(const ColumnReader& reader);
   PathReader* openedPath(ColumnReader& reader);
   bool isMissing(const ColumnReader& reader) const { return reader.column >= segment->columnCount(); }
   Vector readBlock(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows);
   Vector readColumn(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows);
   size_t filterMasks(std::span<const ColumnRange> ranges, uint32_t first, uint32_t count, RowIndex* out,
                      Selection& rows);
   bool vectorMayMatch(const ZonePredicate& predicate, ColumnReader& reader, uint32_t first);
   bool hasCandidates() const { return morsel.candidateEnd != 0; }
   std::span<const uint32_t> candidatesIn(uint32_t firstRow, uint32_t count) const;
};

RowGroupReader::RowGroupReader(std::shared_ptr<const ScanState> scan) : state_(std::make_unique<State>()) {
   state_->scan = std::move(scan);
   const auto makeReader = [&](uint32_t column) {
      if (column == ScanSpec::rowIdColumn) return ColumnReader(column, PhysicalType::I64, nullptr);
      const ColumnDefinition& definition = (*state_->scan->columns)[column];
      return ColumnReader(column, definition.representation.physical, &definition.missing);
   };
   for (const uint32_t column : state_->scan->spec.columns)
      state_->columns.push_back(makeReader(column));
   for (const ScanPath& path : state_->scan->spec.paths)
      state_->columns.emplace_back(makeReader(path.column)).path = std::make_unique<PathReader>(path.access);
   for (const ZonePredicate& predicate : state_->scan->spec.zonePredicates)
      state_->zoneColumns.push_back(makeReader(predicate.column));
}

ChunkPlace RowGroupReader::State::placeOf(const ColumnReader& reader) const {
   ChunkPlace place;
   place.block = block;
   place.column = reader.column;
   place.rowGroup = morsel.rowGroup;
   place.use = scan->spec.use.get();
   if (!scan->readAhead) return place;
   place.landing = scan->readAhead->find(morsel, reader.column);
   place.tally = scan->readAhead->tally();
   return place;
}

ChunkReader& RowGroupReader::State::opened(ColumnReader& reader) const {
   if (!reader.chunk.isOpen()) reader.chunk.open(placeOf(reader));
   return reader.chunk;
}

/// Release the pages and stretches of the row group.
void RowGroupReader::State::close() {
   for (ColumnReader& reader : columns)
      reader.forget();
   for (ColumnReader& reader : zoneColumns)
      reader.forget();
   for (auto& [column, shared] : shapes)
      shared->close();
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
   if (!s.block && s.scan->spec.use) s.scan->spec.use->blocksFound.fetch_add(1, std::memory_order_relaxed);
}

uint32_t RowGroupReader::rowCount() const {
   return state_->morsel.rowCount;
}

bool RowGroupReader::State::vectorMayMatch(const ZonePredicate& predicate, ColumnReader& reader, uint32_t first) {
   if (predicate.kind != ZonePredicate::Kind::Range) return true;
   const ZoneKey lower = predicate.lower, upper = predicate.upper;
   if (lower > upper) return false;
   if (!block || isMissing(reader) || reader.type() > PhysicalType::I64) return true;
   return opened(reader).mayMatch(first, lower, upper);
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
   for (const PathPredicate& predicate : s.scan->spec.pathPredicates) {
      ColumnReader& reader = s.columns[s.scan->spec.columns.size() + predicate.path];
      if (predicate.lower > predicate.upper) return true;
      if (PathReader* path = s.openedPath(reader);
          path && !path->mayMatch(firstRow / vectorRows * vectorRows, predicate.lower, predicate.upper))
         return true;
   }
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

DocumentShapes& RowGroupReader::State::shapesOf(const ColumnReader& reader) {
   auto found = std::find_if(shapes.begin(), shapes.end(), [&](const auto& one) { return one.first == reader.column; });
   if (found == shapes.end()) {
      shapes.emplace_back(reader.column, std::make_unique<DocumentShapes>());
      found = shapes.end() - 1;
   }
   if (!found->second->isOpen()) found->second->open(placeOf(reader));
   return *found->second;
}

/// The reader of a path, open for the row group; null where its documents are whole.
PathReader* RowGroupReader::State::openedPath(ColumnReader& reader) {
   if (!reader.path || isMissing(reader) || !block || chunkOf(reader).parts.empty()) return nullptr;
   if (!reader.path->isOpen()) reader.path->open(shapesOf(reader));
   return reader.path.get();
}

Vector RowGroupReader::State::readBlock(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows) {
   if (chunkOf(reader).parts.empty()) {
      ChunkReader& chunk = opened(reader);
      chunk.passPages(first);
      return chunk.read(first, count, rows);
   }
   if (!reader.documents) reader.documents = std::make_unique<DocumentReader>();
   if (!reader.documents->isOpen()) reader.documents->open(shapesOf(reader));
   return reader.documents->read(first, count, rows);
}

Vector RowGroupReader::State::readColumn(ColumnReader& reader, uint32_t first, uint32_t count, const Selection& rows) {
   if (isMissing(reader)) return reader.chunk.constant(*reader.missing);
   if (block) return readBlock(reader, first, count, rows);
   const uint32_t aligned = first / 64 * 64, offset = first - aligned;
   const ColumnSlice slice = segment->delta->slice(reader.column, firstRowOfGroup() + aligned, offset + count);
   return Vector::flat(reader.type(), static_cast<const char*>(slice.data) + offset * physicalSize(reader.type()),
                       reader.chunk.shifted(slice.validity, offset, count));
}

uint32_t RowGroupReader::rowsWithin(uint32_t firstRow, uint32_t count, size_t bytes) const {
   const State& s = *state_;
   if (!s.block) return count;
   for (ColumnReader& reader : state_->columns)
      if (!reader.path && isVariableSize(reader.type()) && !s.isMissing(reader) && s.chunkOf(reader).parts.empty())
         count = s.opened(reader).rowsWithin(firstRow, count, bytes / s.columns.size());
   return count;
}

Vector RowGroupReader::read(uint32_t column, uint32_t firstRow, uint32_t count, const Selection& rows) {
   State& s = *state_;
   ColumnReader& reader = s.columns[column];
   DCHECK(count > 0);
   DCHECK(firstRow / vectorRows == (firstRow + count - 1) / vectorRows);
   DCHECK(firstRow + count <= s.morsel.rowCount);
   if (reader.column == ScanSpec::rowIdColumn) {
      auto* out = reinterpret_cast<int64_t*>(reader.chunk.scratch());
      const auto base = static_cast<int64_t>(makeRowId(s.segment->id, s.firstRowOfGroup() + firstRow));
      for (uint32_t i = 0; i < count; ++i)
         out[i] = base + i;
      return Vector::flat(PhysicalType::I64, out, nullptr);
   }
   if (!reader.path) return s.readColumn(reader, firstRow, count, rows);
   if (PathReader* path = s.openedPath(reader)) return path->read(firstRow, count, rows);
   return reader.path->give(s.readColumn(reader, firstRow, count, rows), count, rows);
}

bool RowGroupReader::canFilterRange(uint32_t column) const {
   const ColumnReader& reader = state_->columns[column];
   if (reader.path) return reader.path->access().resultType() <= PhysicalType::I64;
   return reader.column != ScanSpec::rowIdColumn && reader.type() <= PhysicalType::I64;
}

uint32_t RowGroupReader::filterRange(uint32_t column, uint32_t firstRow, uint32_t count, const ValueRange& range,
                                     const Selection& rows, RowIndex* out) {
   State& s = *state_;
   ColumnReader& reader = s.columns[column];
   if (range.isEmpty() || rows.count() == 0) return 0;
   if (!reader.path && s.isMissing(reader)) {
      const Value& value = *reader.missing;
      return !value.isNull && range.contains(value.i64) ? keepAll(rows, out) : 0;
   }
   PathReader* path = s.openedPath(reader);
   if (path && path->filtersLeaf()) return path->filterRange(firstRow, count, range, rows, out);
   ChunkReader* chunk = path ? path->direct() : s.block && !reader.path ? &s.opened(reader) : nullptr;
   if (chunk && firstRow % vectorRows == 0) return chunk->filterRange(firstRow, range, rows, out);
   return filterValues(read(column, firstRow, count, rows), range, rows, out);
}

/// Filters whole vectors by as many of the first ranges as are of packed columns, until few rows are left. Returns how
/// many ranges were used; 0: `rows` are as before.
size_t RowGroupReader::State::filterMasks(std::span<const ColumnRange> ranges, uint32_t first, uint32_t count,
                                          RowIndex* out, Selection& rows) {
   constexpr uint32_t fewDivisor = 16; // of so few rows, each is looked at
   uint64_t mask[vectorRows / 64], other[vectorRows / 64];
   bool isFull = true; // then `mask` has no meaning
   uint32_t left = count;
   size_t used = 0;
   for (; used < ranges.size() && left * fewDivisor >= count; ++used) {
      ColumnReader& reader = columns[ranges[used].column];
      if (reader.path || isMissing(reader) || !chunkOf(reader).parts.empty()) break;
      ChunkReader& chunk = opened(reader);
      if (!chunk.isPacked(first)) break;
      switch (chunk.matchRange(first, ranges[used].range, isFull ? mask : other)) {
      case Matches::All: continue;
      case Matches::None: left = 0; break;
      case Matches::Some:
         left = 0;
         for (uint32_t word = 0; word < validityWords(count); ++word) {
            if (!isFull) mask[word] &= other[word];
            left += static_cast<uint32_t>(std::popcount(mask[word]));
         }
         isFull = false;
         break;
      }
   }
   if (left == 0)
      rows = Selection::list(out, 0);
   else if (!isFull)
      rows = Selection::list(out, maskToRows(mask, 0, count, out));
   return used;
}

uint32_t RowGroupReader::filterRanges(std::span<const ColumnRange> ranges, uint32_t firstRow, uint32_t count,
                                      const Selection& rows, RowIndex* out) {
   Selection left = rows;
   if (ranges.size() > 1 && rows.isDense() && rows.count() == count && state_->block && firstRow % vectorRows == 0)
      ranges = ranges.subspan(state_->filterMasks(ranges, firstRow, count, out, left));
   for (const ColumnRange& range : ranges) {
      if (left.count() == 0) return 0;
      const uint32_t kept = filterRange(range.column, firstRow, count, range.range, left, out);
      if (kept < left.count()) left = Selection::list(out, kept);
   }
   return left.count();
}

std::optional<uint32_t> RowGroupReader::filterLength(uint32_t column, uint32_t firstRow, uint32_t count, uint32_t lower,
                                                     uint32_t upper, const Selection& rows, RowIndex* out) {
   State& s = *state_;
   ColumnReader& reader = s.columns[column];
   if (reader.path || !s.block || s.isMissing(reader) || !s.chunkOf(reader).parts.empty()) return std::nullopt;
   ChunkReader& chunk = s.opened(reader);
   chunk.passPages(firstRow);
   return chunk.filterLength(firstRow, count, lower, upper, rows, out);
}

} // namespace ouzel::storage
