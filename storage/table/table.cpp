#include "storage/table/table.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/sync/mutex.hpp"
#include "storage/table/row_marker.hpp"
#include "storage/table/scan_state.hpp"
#include "storage/table/table_core.hpp"
#include "storage/version/write_conflict.hpp"

namespace ouzel::storage {

Table::Table(std::unique_ptr<TableCore> core) : core_(std::move(core)) {}
Table::~Table() = default;

StorageId Table::id() const {
   return core_->id;
}

std::shared_ptr<const std::vector<ColumnDefinition>> Table::columns() const {
   const MutexLock lock(core_->mutex);
   return core_->columns;
}

namespace {

/// The committed segments and the transaction's own, each with the number of rows that exist for the snapshot.
std::vector<ScanState::Source> sourcesOf(TableCore& core, const Snapshot& snapshot,
                                         std::shared_ptr<const std::vector<ColumnDefinition>>* columns) {
   core.requireSound();
   std::vector<ScanState::Source> sources;
   std::shared_ptr<const SegmentList> list;
   LocalWrites* own = nullptr;
   {
      const MutexLock lock(core.mutex);
      list = core.segments;
      if (columns) *columns = core.columns;
      const auto it = core.local.find(snapshot.transactionId);
      if (it != core.local.end()) own = it->second;
   }
   for (const SegmentPtr& segment : *list) {
      if (segment->retiredAt != 0 && segment->retiredAt <= snapshot.commitTimestamp) continue;
      const uint32_t rows = segment->versions->visibleRows(snapshot.commitTimestamp);
      if (rows > 0) sources.push_back({segment, rows});
   }
   if (own)
      for (LocalWrites::Visible& visible : own->visible(snapshot.commandId))
         sources.push_back({std::move(visible.segment), visible.rows});
   return sources;
}

/// Add morsels of the candidates that a key index finds in one segment. False: there is no index, and all rows must be
/// read.
bool addCandidates(TableCore& core, ScanState& state, uint32_t index) {
   const ScanState::Source& source = state.sources[index];
   uint64_t rowsToRead = 0;
   for (uint32_t group = 0; group * rowGroupRows < source.rows; ++group)
      if (zonesMayMatch(state, *source.segment, group))
         rowsToRead += std::min(rowGroupRows, source.rows - group * rowGroupRows);
   if (rowsToRead == 0) return true;
   const auto candidates = source.segment->versions->keys.find(core.context.keyIndexes, *source.segment, state.columns,
                                                               *state.spec.keys, source.rows, rowsToRead);
   if (!candidates) return false;
   std::vector<uint32_t> rows;
   for (const KeyIndexes::Candidate& candidate : *candidates)
      rows.push_back(candidate.row);
   std::sort(rows.begin(), rows.end());
   rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
   for (size_t i = 0; i < rows.size();) {
      const uint32_t group = rows[i] / rowGroupRows, end = (group + 1) * rowGroupRows;
      Morsel morsel{index, group, std::min(rowGroupRows, source.rows - group * rowGroupRows)};
      morsel.candidateFirst = static_cast<uint32_t>(state.candidates.size());
      for (; i < rows.size() && rows[i] < end; ++i)
         state.candidates.push_back(rows[i]);
      morsel.candidateEnd = static_cast<uint32_t>(state.candidates.size());
      state.morsels.push_back(morsel);
   }
   return true;
}

} // namespace

bool Table::isRemote() const {
   return core_->context.store.isRemote();
}

namespace {

/// False when what the block has at a path excludes all of its rows.
bool pathsMayMatch(const ScanSpec& spec, const Segment& segment) {
   for (const PathPredicate& predicate : spec.pathPredicates) {
      const ScanPath& path = spec.paths[predicate.path];
      const DocumentSummary* documents = segment.block ? segment.block->header().documentsOf(path.column) : nullptr;
      if (!documents) continue;
      const PathSummary values = documents->find(path.access.valueKeys());
      if (!values.isExact) continue;
      if (values.total() == (path.access.givesOfNull() ? 0 : values.count(NodeKind::Null))) return false;
      if (path.access.form != json::PathForm::Value) continue;
      if (path.access.target == json::PathTarget::Date) {
         const bool areKnown = values.areDates || values.count(NodeKind::String) == 0;
         if (areKnown && (values.earliest > predicate.upper || values.latest < predicate.lower)) return false;
      } else if (path.access.resultType() <= PhysicalType::I64 && path.access.target != json::PathTarget::Boolean) {
         const bool areKnown =
             values.count(NodeKind::Number) == 0 || (values.areAlike && values.scale == path.access.scale);
         if (areKnown && (values.smallest > predicate.upper || values.largest < predicate.lower)) return false;
      }
   }
   return true;
}

} // namespace

std::unique_ptr<ScanSource> Table::scan(const Snapshot& snapshot, ScanSpec spec) {
   auto state = std::make_shared<ScanState>();
   state->snapshot = snapshot;
   state->spec = std::move(spec);
   state->sources = sourcesOf(*core_, snapshot, &state->columns);
   for (const uint32_t column : state->spec.columns)
      CHECK(column == ScanSpec::rowIdColumn || column < state->columns->size());
   for (const ScanPath& path : state->spec.paths)
      CHECK(path.column < state->columns->size());
   for (const ZonePredicate& predicate : state->spec.zonePredicates)
      CHECK(predicate.column < state->columns->size());
   for (const ValuePredicate& predicate : state->spec.valuePredicates)
      CHECK(predicate.column < state->columns->size());
   for (uint32_t i = 0; i < state->sources.size(); ++i) {
      const ScanState::Source& source = state->sources[i];
      state->rowCount += source.rows;
      if (state->spec.keys && addCandidates(*core_, *state, i)) continue;
      if (!pathsMayMatch(state->spec, *source.segment)) continue;
      for (uint32_t group = 0; group * rowGroupRows < source.rows; ++group)
         state->morsels.push_back({i, group, std::min(rowGroupRows, source.rows - group * rowGroupRows)});
   }
   if (state->spec.order && !state->spec.keys) orderMorsels(*state);
   state->filters = FilterSearch::makeFor(*state, core_->context.readAhead, isRemote());
   if (isRemote()) state->readAhead = std::make_unique<ReadAhead>(*state, core_->context.readAhead);
   return std::make_unique<ScanSource>(std::move(state));
}

size_t Table::memoryLimit() const {
   return core_->context.deltaMemory.limit();
}

std::unique_ptr<Appender> Table::appender(Transaction& transaction, AppendMode mode) {
   core_->requireSound();
   return std::make_unique<Appender>(*this, transaction, mode);
}

uint64_t Table::deleteRows(Transaction& transaction, const Snapshot& snapshot, std::span<const RowId> rows,
                           std::span<uint8_t> deletedNow, std::span<const LockStrength> strengths) {
   CHECK(deletedNow.empty() || deletedNow.size() == rows.size());
   CHECK(strengths.empty() || strengths.size() == rows.size());
   std::fill(deletedNow.begin(), deletedNow.end(), uint8_t{0});
   if (rows.empty()) return 0;
   RowMarker marker(*this, transaction, snapshot, RowMarker::Kind::Delete, rows);
   uint64_t deleted = 0;
   try {
      for (size_t i = 0; i < rows.size(); ++i) {
         const LockStrength strength = strengths.empty() ? LockStrength::Update : strengths[i];
         if (marker.mark(i, strength, false) != DeleteMarks::Outcome::Marked) continue;
         ++deleted;
         if (!deletedNow.empty()) deletedNow[i] = 1;
      }
   } catch (...) {
      marker.finish();
      throw;
   }
   marker.finish();
   return deleted;
}

void Table::lockRows(Transaction& transaction, const Snapshot& snapshot, std::span<const RowId> rows,
                     const RowLocking& locking, std::span<uint8_t> isLocked) {
   CHECK(isLocked.size() == rows.size());
   std::fill(isLocked.begin(), isLocked.end(), uint8_t{0});
   if (rows.empty()) return;
   RowMarker marker(*this, transaction, snapshot, RowMarker::Kind::Lock, rows);
   marker.setKey(locking.key);
   try {
      for (size_t i = 0; i < rows.size(); ++i) {
         const DeleteMarks::Outcome outcome = marker.mark(i, locking.strength, locking.skip);
         isLocked[i] = outcome == DeleteMarks::Outcome::Marked || outcome == DeleteMarks::Outcome::Held;
      }
   } catch (...) {
      marker.finish();
      throw;
   }
   marker.finish();
}

WriteConflict::WriteConflict(StorageId conflictTable, RowId conflictRow, DeleteWord word, LockStrength lock)
   : SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update"),
     table(conflictTable), row(conflictRow), holder(DeleteMarks::holderOf(word)), committedAt(holder ? 0 : word),
     wanted(lock) {}

uint64_t Table::rowCount(const Snapshot& snapshot) {
   uint64_t rows = 0;
   for (const ScanState::Source& source : sourcesOf(*core_, snapshot, nullptr))
      rows += source.rows - source.segment->versions->deletes.count(source.rows, snapshot);
   return rows;
}

uint64_t Table::estimatedRows(const Snapshot& snapshot) {
   uint64_t rows = 0;
   for (const ScanState::Source& source : sourcesOf(*core_, snapshot, nullptr))
      rows += source.rows - std::min(source.rows, source.segment->versions->deletes.committedCount());
   const LocalWrites* own = nullptr;
   {
      const MutexLock lock(core_->mutex);
      const auto found = core_->local.find(snapshot.transactionId);
      if (found != core_->local.end()) own = found->second;
   }
   return own ? rows - std::min(rows, own->deletedRows()) : rows;
}

uint64_t Table::storedBytes() const {
   uint64_t bytes = 0;
   for (const SegmentPtr& segment : *core_->segmentList())
      if (segment->retiredAt == 0)
         bytes += segment->block ? segment->block->header().objectSize : segment->delta->bytes();
   return bytes;
}

} // namespace ouzel::storage
