#include <algorithm>

#include "common/error/check.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/database_state.hpp"
#include "storage/table/scan_state.hpp"

// Many small commits and checkpoints leave many small blocks, deletes leave blocks of dead rows. When the database is
// closed, and only then, nobody holds row ids: neighbours that are small or mostly dead are rewritten as one.

namespace ouzel::storage {

namespace {

constexpr uint32_t smallRows = blockRowsMax / 4;
constexpr uint64_t rewrittenRowsMax = 8 * uint64_t{blockRowsMax}; ///< closing must not take long

struct Run {
   size_t first, end; ///< of the segment list
   uint64_t rows;
};

bool isWorthRewriting(const Segment& segment, const Snapshot& snapshot) {
   const uint32_t rows = segment.versions->committedRows();
   return rows < smallRows || segment.versions->deletes.count(rows, snapshot) * 5 > rows;
}

/// Neighbours worth rewriting, as far as the budget goes. A lone small block without dead rows is left as it is.
std::vector<Run> chooseRuns(const SegmentList& segments, const Snapshot& snapshot, uint64_t& budget) {
   std::vector<Run> runs;
   for (size_t i = 0; i < segments.size();) {
      Run run{i, i, 0};
      bool hasDead = false;
      while (run.end < segments.size() && isWorthRewriting(*segments[run.end], snapshot)) {
         const uint32_t rows = segments[run.end]->versions->committedRows();
         if (run.rows + rows > budget) break;
         hasDead = hasDead || segments[run.end]->versions->deletes.count(rows, snapshot) > 0;
         run.rows += rows;
         ++run.end;
      }
      i = std::max(run.end, i + 1);
      if (run.end - run.first > 1 || (run.end > run.first && hasDead)) {
         budget -= run.rows;
         runs.push_back(run);
      }
   }
   return runs;
}

/// Writes the live rows of a run as new blocks.
class Rewriter {
public:
   Rewriter(StorageContext& context, const Table& table, const std::vector<ColumnDefinition>& columns)
      : context_(context), table_(table), memory_(context.deltaMemory) {
      for (const ColumnDefinition& column : columns)
         types_.push_back(column.representation.physical);
      startDelta();
   }

   void addAll(std::shared_ptr<const ScanState> state) {
      ScanSource source(state);
      const auto reader = source.makeReader();
      Morsel morsel;
      while (source.next(morsel)) {
         reader->open(morsel);
         for (uint32_t first = 0; first < reader->rowCount(); first += vectorRows)
            addVector(*reader, first, std::min(vectorRows, reader->rowCount() - first));
      }
   }

   SegmentList finish() {
      flushRowGroup();
      if (builder_) writeBlock();
      return std::move(segments_);
   }

private:
   void startDelta() {
      rows_ = std::make_unique<Delta>(types_, memory_);
      rows_->expectMany();
   }

   void addVector(RowGroupReader& reader, uint32_t first, uint32_t count) {
      Batch batch;
      batch.rowCount = count;
      batch.selection = reader.visible(first, count);
      const uint32_t live = batch.selection.count();
      if (live == 0) return;
      RowIndex list[batchRowsMax];
      for (uint32_t i = 0; i < live; ++i)
         list[i] = batch.selection.row(i);
      for (uint32_t column = 0; column < types_.size(); ++column)
         batch.columns.push_back(reader.read(column, first, count, batch.selection));
      const uint32_t head = std::min(live, rowGroupRows - rows_->rowCount());
      batch.selection = Selection::list(list, head);
      rows_->append(batch);
      if (rows_->rowCount() == rowGroupRows) flushRowGroup();
      if (head == live) return;
      batch.selection = Selection::list(list + head, live - head);
      rows_->append(batch);
   }

   void flushRowGroup() {
      if (rows_->rowCount() == 0) return;
      if (!builder_) builder_ = std::make_unique<BlockBuilder>(types_);
      builder_->addRowGroup(rows_->slices(0, rows_->rowCount()));
      rows_->clear();
      if (builder_->isFull()) writeBlock();
   }

   void writeBlock() {
      auto segment = std::make_shared<Segment>();
      segment->id = context_.nextSegment.fetch_add(1);
      const std::string name = context_.newBlockName(table_.id(), segment->id);
      segment->versions = std::make_shared<SegmentVersions>();
      segment->block = std::make_shared<Block>(context_.store, context_.cache, name,
                                               builder_->finish(context_.store, name, segment->id));
      segment->versions->addCommit(1, segment->block->header().rowCount, 0);
      segments_.push_back(std::move(segment));
      builder_ = nullptr;
   }

   StorageContext& context_;
   const Table& table_;
   Reservation memory_;
   std::vector<PhysicalType> types_;
   std::unique_ptr<Delta> rows_;
   std::unique_ptr<BlockBuilder> builder_;
   SegmentList segments_;
};

SegmentList rewrite(StorageContext& context, Table& table, const SegmentList& segments, const Run& run,
                    const Snapshot& snapshot) {
   auto state = std::make_shared<ScanState>();
   state->snapshot = snapshot;
   state->columns = table.columns();
   for (uint32_t column = 0; column < state->columns->size(); ++column)
      state->spec.columns.push_back(column);
   for (size_t i = run.first; i < run.end; ++i) {
      const uint32_t rows = segments[i]->versions->committedRows();
      const auto source = static_cast<uint32_t>(state->sources.size());
      state->sources.push_back({segments[i], rows});
      for (uint32_t group = 0; group * rowGroupRows < rows; ++group)
         state->morsels.push_back({source, group, std::min(rowGroupRows, rows - group * rowGroupRows)});
   }
   Rewriter rewriter(context, table, *state->columns);
   rewriter.addAll(state);
   return rewriter.finish();
}

} // namespace

std::vector<std::shared_ptr<Block>> Database::State::compactTables() {
   std::vector<std::shared_ptr<Block>> replaced;
   const Snapshot snapshot{transactions.lastCommitted(), 0, 0};
   uint64_t budget = rewrittenRowsMax;
   const std::lock_guard tablesLock(tablesMutex);
   for (auto& [id, entry] : tables) {
      TableCore& core = entry.table->core();
      const auto before = core.segmentList();
      const std::vector<Run> runs = chooseRuns(*before, snapshot, budget);
      if (runs.empty()) continue;
      auto after = std::make_shared<SegmentList>();
      size_t next = 0;
      for (const Run& run : runs) {
         after->insert(after->end(), before->begin() + static_cast<ptrdiff_t>(next),
                       before->begin() + static_cast<ptrdiff_t>(run.first));
         for (SegmentPtr& segment : rewrite(*context, *entry.table, *before, run, snapshot))
            after->push_back(std::move(segment));
         for (size_t i = run.first; i < run.end; ++i)
            if ((*before)[i]->block) replaced.push_back((*before)[i]->block);
         next = run.end;
      }
      after->insert(after->end(), before->begin() + static_cast<ptrdiff_t>(next), before->end());
      const std::lock_guard coreLock(core.mutex);
      core.sealDelta();
      core.segments = std::move(after);
   }
   return replaced;
}

} // namespace ouzel::storage
