#include <algorithm>
#include <chrono>
#include <thread>

#include "common/error/check.hpp"
#include "common/error/test_point.hpp"
#include "storage/database/database_state.hpp"
#include "storage/table/rewriter.hpp"

// Many small commits and checkpoints leave many small blocks, deletes leave blocks of dead rows. Before a checkpoint
// fixes what belongs to it, neighbours that are small or have many dead rows are rewritten as new segments, while
// others read and write. Then the new ones take the place of the old in a commit of its own: snapshots from then on see
// the new, older ones the old, which stay in the table until nobody can read them any more. Row ids change, which is
// why a segment with rows that somebody is about to delete, or has locked, has to wait for the next checkpoint.

namespace ouzel::storage {

namespace {

constexpr uint32_t smallRows = blockRowsMax / 4;
constexpr uint32_t deadDivisor = 8;                                ///< more than an eighth of its rows dead: worth it
constexpr uint64_t rewrittenRowsMax = 16 * uint64_t{blockRowsMax}; ///< a checkpoint must not take too long

/// Transactions that write get so many pauses to end before the segments they touch are left alone; others that want to
/// write to them wait that long. Polled, for 20 ms at most: to be told, each transaction would have to look for a move
/// when it takes its marks back.
constexpr auto pause = std::chrono::microseconds(100);
constexpr int patientPausesMax = 200;
constexpr auto timeBetweenAttempts = std::chrono::milliseconds(20);
constexpr int attempts = 3;
constexpr int impatientPausesMax = 20; ///< for commits that wait for the checkpoint; and only one attempt

/// A checkpoint that commits wait for leaves segments as they are unless they are many, or many of their rows are dead.
constexpr size_t manySegments = 16;
constexpr uint64_t manyDead = 4096;

/// Neighbours of one table to be rewritten.
struct Run {
   std::shared_ptr<Table> table;
   std::shared_ptr<const std::vector<ColumnDefinition>> columns; ///< committed ones
   SegmentList segments;
   uint64_t rows = 0;
   bool isWorthAlone = false;
};

/// Of a run that commits wait for: leave out segments in front that are larger than all behind them together, so that
/// a row that is rewritten comes into a segment twice as large as the one before, and is not rewritten often.
void shorten(Run& run) {
   size_t first = 0;
   uint64_t behind = run.rows;
   for (; first < run.segments.size(); ++first) {
      const uint64_t rows = run.segments[first]->versions->committedRows();
      behind -= rows;
      if (rows <= behind) break;
      run.rows -= rows;
   }
   run.segments.erase(run.segments.begin(), run.segments.begin() + static_cast<ptrdiff_t>(first));
}

/// Runs of a table's segments, as far as the budget goes. A lone small block with few dead rows is left as it is.
void chooseRuns(const Run& whole, CheckpointKind kind, uint64_t& budget, std::vector<Run>& runs) {
   const bool isHurried = kind == CheckpointKind::Commit;
   Run run{whole.table, whole.columns, {}};
   const auto endRun = [&] {
      if (isHurried && !run.isWorthAlone) shorten(run);
      if (run.segments.size() >= (isHurried ? manySegments : 2) || run.isWorthAlone) {
         budget -= run.rows;
         runs.push_back(std::move(run));
      }
      run = {whole.table, whole.columns, {}};
   };
   for (const SegmentPtr& segment : whole.segments) {
      const uint32_t rows = segment->versions->committedRows();
      const uint64_t dead = segment->versions->deletes.settledCount();
      const bool hasManyDead = dead * deadDivisor > rows;
      if (rows == 0 || (rows >= smallRows && !hasManyDead) || run.rows + rows > budget) {
         endRun();
         continue;
      }
      run.segments.push_back(segment);
      run.rows += rows;
      run.isWorthAlone = run.isWorthAlone || (hasManyDead && (!isHurried || dead >= manyDead));
   }
   endRun();
}

SegmentList currentSegments(const SegmentList& segments) {
   SegmentList current;
   for (const SegmentPtr& segment : segments)
      if (segment->retiredAt == 0) current.push_back(segment);
   return current;
}

/// What a run becomes. Blocks that do not come into use are removed.
struct Rewritten {
   Timestamp since = 0; ///< rows that lived then
   SegmentList segments;
   bool isUsed = false;

   Rewritten() = default;
   Rewritten(const Rewritten&) = delete;
   ~Rewritten() {
      for (const SegmentPtr& segment : segments)
         if (!isUsed) segment->block->discard();
   }
};

/// Keeps others from marking rows of the segments, until it ends one way or the other.
class Move {
public:
   explicit Move(const SegmentList& segments) : segments_(segments) {}
   ~Move() { cancel(); }

   /// False: some rows are in the hands of transactions that did not end in time.
   bool begin(int pausesMax) {
      int pauses = 0;
      for (const SegmentPtr& segment : segments_)
         segment->versions->deletes.beginMove();
      isOpen_ = true;
      for (const SegmentPtr& segment : segments_)
         while (segment->versions->deletes.hasOpen(segment->versions->committedRows())) {
            if (++pauses > pausesMax) {
               cancel();
               return false;
            }
            std::this_thread::sleep_for(pause);
         }
      return true;
   }
   void cancel() {
      if (isOpen_) end(0);
   }
   /// The rows have moved at this time.
   void end(Timestamp timestamp) {
      isOpen_ = false;
      for (const SegmentPtr& segment : segments_)
         segment->versions->deletes.endMove(timestamp);
   }

private:
   const SegmentList& segments_;
   bool isOpen_ = false;
};

/// A row of the new segments that was deleted while they were written.
struct LateDelete {
   size_t segment;
   uint32_t row;
   Timestamp timestamp;
};

/// New rows have the order of those that lived at `since`.
std::vector<LateDelete> lateDeletes(const SegmentList& before, const SegmentList& after, Timestamp since) {
   std::vector<LateDelete> late;
   size_t segment = 0;
   uint32_t row = 0;
   const auto skip = [&](uint32_t rows) {
      for (row += rows; segment < after.size() && row >= after[segment]->rowCount(); ++segment)
         row -= after[segment]->rowCount();
   };
   for (const SegmentPtr& old : before) {
      const uint32_t rows = old->versions->committedRows();
      for (uint32_t first = 0; first < rows; first += vectorRows) {
         const uint32_t count = std::min(vectorRows, rows - first);
         const DeleteMarks::VectorMarks* marks = old->versions->deletes.vector(first / vectorRows);
         if (!marks) {
            skip(count);
            continue;
         }
         for (uint32_t i = 0; i < count; ++i) {
            // An open mark is one that is going to be taken back, see DeleteMarks::beginMove().
            const DeleteWord word = marks->words[i].load(std::memory_order_acquire);
            const bool isCommitted = word != 0 && (word & DeleteMarks::openBit) == 0;
            if (isCommitted && word <= since) continue;
            if (isCommitted) late.push_back({segment, row, word});
            skip(1);
         }
      }
   }
   CHECK(segment == after.size() && row == 0);
   return late;
}

/// What the log has of it.
CommitRecord recordOf(StorageId table, const SegmentList& before, const SegmentList& after,
                      const std::vector<LateDelete>& late) {
   CommitRecord record;
   CommitRecord::TableWrites writes;
   writes.id = table;
   CommitRecord::Rewrite rewrite;
   for (const SegmentPtr& segment : before)
      rewrite.retired.push_back(segment->id);
   for (const SegmentPtr& segment : after)
      rewrite.blocks.push_back({segment->id, segment->block->objectName()});
   writes.rewrites.push_back(std::move(rewrite));
   for (const LateDelete& entry : late) {
      if (writes.deletes.empty() || writes.deletes.back().segment != after[entry.segment]->id)
         writes.deletes.push_back({after[entry.segment]->id, {}});
      writes.deletes.back().rows.push_back(entry.row);
   }
   record.writes.push_back(std::move(writes));
   return record;
}

/// Put `after` into the table's list, behind those it replaces, which are marked as retired.
void exchangeSegments(TableCore& core, const SegmentList& before, const SegmentList& after, Timestamp timestamp) {
   const std::lock_guard lock(core.mutex);
   auto list = std::make_shared<SegmentList>();
   size_t found = 0;
   for (const SegmentPtr& segment : *core.segments) {
      if (found == before.size() || segment->id != before[found]->id) {
         list->push_back(segment);
         continue;
      }
      auto retired = std::make_shared<Segment>(*segment);
      retired->retiredAt = timestamp;
      if (retired->delta) core.context.retiredDeltaBytes += retired->delta->bytes();
      list->push_back(std::move(retired));
      if (++found == before.size()) list->insert(list->end(), after.begin(), after.end());
   }
   CHECK(found == before.size());
   core.segments = std::move(list);
}

} // namespace

bool Database::State::hasManySmall() {
   const std::lock_guard tablesLock(tablesMutex);
   for (auto& [id, entry] : tables) {
      if (!entry.isCommitted) continue;
      const Run whole{entry.table, nullptr, currentSegments(*entry.table->core().segmentList())};
      uint64_t budget = rewrittenRowsMax;
      std::vector<Run> runs;
      chooseRuns(whole, CheckpointKind::Commit, budget, runs);
      if (!runs.empty()) return true;
   }
   return false;
}

void Database::State::compact(CheckpointKind kind) {
   if (kind == CheckpointKind::Commit && !hasManySmall()) return;
   std::vector<Run> tablesNow;
   {
      const std::lock_guard commitLock(commitMutex);
      queue->drain(); // what has been placed in a sealed delta is then committed
      const std::lock_guard tablesLock(tablesMutex);
      for (auto& [id, entry] : tables) {
         if (!entry.isCommitted) continue;
         TableCore& core = entry.table->core();
         const std::lock_guard coreLock(core.mutex);
         core.sealDelta();
         auto columns = std::make_shared<std::vector<ColumnDefinition>>(*core.columns);
         columns->resize(entry.committedColumns);
         tablesNow.push_back({entry.table, std::move(columns), currentSegments(*core.segments)});
      }
   }
   uint64_t budget = rewrittenRowsMax;
   std::vector<Run> runs;
   for (const Run& table : tablesNow)
      chooseRuns(table, kind, budget, runs);
   tablesNow.clear();
   std::vector<Rewritten> rewritten(runs.size());
   forEachPiece(runs.size(), kind, [&](uint64_t i) {
      rewritten[i].since = transactions.lastCommitted();
      rewritten[i].segments =
          rewriteLiveRows(*context, runs[i].table->id(), runs[i].columns, runs[i].segments, rewritten[i].since);
   });
   TEST_POINT("compaction.rewritten");
   for (size_t i = 0; i < runs.size(); ++i)
      moveRows(*runs[i].table, runs[i].segments, rewritten[i].segments, rewritten[i].since,
               kind != CheckpointKind::Commit, rewritten[i].isUsed);
   releaseRetired();
}

void Database::State::moveRows(Table& table, const SegmentList& before, const SegmentList& after, Timestamp since,
                               bool isPatient, bool& isUsed) {
   Move move(before);
   bool isAlone = false;
   for (int attempt = 0; attempt < (isPatient ? attempts : 1) && !isAlone; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(timeBetweenAttempts);
      isAlone = move.begin(isPatient ? patientPausesMax : impatientPausesMax);
   }
   if (!isAlone) return;
   // From here on the marks of `before` stay as they are.
   const std::vector<LateDelete> late = lateDeletes(before, after, since);
   CommitRecord record = recordOf(table.id(), before, after, late);
   for (const SegmentPtr& segment : after)
      for (const SegmentPtr& old : before)
         segment->versions->keys.expect(keyIndexes, old->versions->keys);

   CommitQueue::Entry entry;
   {
      const std::lock_guard commitLock(commitMutex);
      queue->drain(); // a DROP may be on its way
      {
         const std::lock_guard tablesLock(tablesMutex);
         if (!tables.contains(table.id())) return;
      }
      record.nextOid = nextOid.load();
      record.nextStorage = nextStorage.load();
      record.nextSegment = context->nextSegment.load();
      const std::string bytes = record.serialize();
      log->reserve(bytes.size());
      // From here on it happens, or the process ends, or another server has taken over and may have read it in the log.
      isUsed = true;
      const Timestamp timestamp = ++lastAssigned;
      const std::string_view part = bytes;
      entry.endLsn = log->append(FrameKind::Commit, timestamp, std::span(&part, 1));
      entry.publish = [&, timestamp] {
         for (const LateDelete& deleted : late)
            after[deleted.segment]->versions->deletes.settle(deleted.row, deleted.timestamp);
         for (const SegmentPtr& segment : after)
            segment->versions->addCommit(timestamp, segment->rowCount(), 0);
         exchangeSegments(table.core(), before, after, timestamp);
         noteRetired(timestamp);
         transactions.publish(timestamp);
         move.end(timestamp); // who waited may look again, and finds the rows in the new segments
      };
      queue->add(entry);
   }
   queue->wait(entry);
   TEST_POINT("compaction.published");
   const std::lock_guard lock(replacedMutex);
   for (const SegmentPtr& segment : before)
      if (segment->block) replacedBlocks.push_back(segment->block);
}

void Database::State::noteRetired(Timestamp timestamp) {
   Timestamp known = oldestRetired.load();
   while ((known == 0 || timestamp < known) && !oldestRetired.compare_exchange_weak(known, timestamp)) {
   }
}

void Database::State::releaseRetired() {
   if (oldestRetired.load() == 0) return;
   oldestRetired = 0; // whoever retires something now notes it after this
   const Timestamp horizon = transactions.horizon();
   std::vector<std::shared_ptr<Table>> all;
   {
      const std::lock_guard lock(tablesMutex);
      for (const auto& [id, entry] : tables)
         all.push_back(entry.table);
   }
   for (const auto& table : all) {
      std::shared_ptr<const SegmentList> previous; // freed without the lock
      TableCore& core = table->core();
      const std::lock_guard lock(core.mutex);
      auto list = std::make_shared<SegmentList>();
      for (const SegmentPtr& segment : *core.segments) {
         if (segment->retiredAt == 0 || segment->retiredAt > horizon) {
            list->push_back(segment);
            if (segment->retiredAt != 0) noteRetired(segment->retiredAt);
         } else if (segment->delta) {
            core.context.retiredDeltaBytes -= segment->delta->bytes();
         }
      }
      if (list->size() == core.segments->size()) continue;
      previous = std::move(core.segments);
      core.segments = std::move(list);
   }
}

} // namespace ouzel::storage
