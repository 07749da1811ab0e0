#include "storage/database/compactor.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"
#include "storage/table/moved_rows.hpp"
#include "storage/table/rewriter.hpp"

namespace ouzel::storage {

using Run = Compactor::Run;

namespace {

constexpr uint32_t smallRows = blockRowsMax / 4;
constexpr uint32_t deadDivisor = 8;                                ///< more than an eighth of its rows dead: worth it
constexpr uint64_t rewrittenRowsMax = 16 * uint64_t{blockRowsMax}; ///< bounds the time of a checkpoint

/// How long a move waits for transactions that have marked rows of its segments. When patientPausesMax pauses have
/// passed, the move is cancelled; other transactions that want to mark rows there wait as long. The marks are polled,
/// for 20 ms at most: to be notified, each transaction would have to look for a move when it takes its marks back.
constexpr auto pause = std::chrono::microseconds(100);
constexpr int patientPausesMax = 200;
constexpr auto timeBetweenAttempts = std::chrono::milliseconds(20);
constexpr int attempts = 3;
constexpr int hurriedPausesMax = 20; ///< when commits wait for the checkpoint; there is only one attempt then

/// When commits wait for the checkpoint, only runs of so many segments, or with so many dead rows in one, are
/// rewritten.
constexpr size_t manySegments = 16;
constexpr uint64_t manyDead = 4096;

/// Remove segments from the front of the run that are larger than all segments behind them together. A row that is
/// rewritten then comes into a segment at least twice as large as its last one, so that it is not rewritten often. Used
/// when commits wait for the checkpoint.
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

/// A delta that so old a snapshot reads becomes a block first, and is compacted by the next checkpoint: retired for
/// that snapshot, a delta would take memory as long as the snapshot lives.
constexpr int64_t longNanos = 1'000'000'000;

/// Add the table's runs to `runs`, up to `budget` rows. A small block without neighbours to join and with few dead rows
/// stays.
void chooseRuns(const TableRegistry::Captured& whole, CheckpointKind kind, const LiveSnapshots& old,
                const std::set<SegmentId>& damaged, uint64_t& budget, std::vector<Run>& runs) {
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
      const uint64_t dead = segment->versions->deletes.committedCount();
      const bool hasManyDead = dead * deadDivisor > rows;
      const bool isHeld =
          (segment->delta && old.mayRead(*segment->versions, UINT64_MAX)) || damaged.contains(segment->id);
      if (rows == 0 || (rows >= smallRows && !hasManyDead) || run.rows + rows > budget || isHeld) {
         endRun();
         continue;
      }
      run.segments.push_back(segment);
      run.rows += rows;
      run.isWorthAlone = run.isWorthAlone || (hasManyDead && (!isHurried || dead >= manyDead));
   }
   endRun();
}

/// Keeps transactions from marking rows of the segments, until end() or cancel().
class Move {
public:
   Move(const SegmentList& segments, const RowShares& shares) : segments_(segments), shares_(shares) {}
   ~Move() { cancel(); }

   /// False: some rows are still marked or shared by open transactions.
   bool tryBegin(bool isHurried) {
      if (isHurried) return tryOnce(hurriedPausesMax);
      for (int attempt = 0; attempt < attempts; ++attempt) {
         if (attempt > 0) std::this_thread::sleep_for(timeBetweenAttempts);
         if (tryOnce(patientPausesMax)) return true;
      }
      return false;
   }
   void cancel() {
      if (isOpen_) end(0);
   }
   /// The rows have other ids from `timestamp` on; 0: the move is cancelled.
   void end(Timestamp timestamp) {
      DCHECK(isOpen_);
      isOpen_ = false;
      for (const SegmentPtr& segment : segments_)
         segment->versions->deletes.endMove(timestamp);
   }

private:
   bool tryOnce(int pausesMax) {
      int pauses = 0;
      for (const SegmentPtr& segment : segments_)
         segment->versions->deletes.beginMove();
      isOpen_ = true;
      for (const SegmentPtr& segment : segments_)
         while (segment->versions->deletes.hasOpen(segment->versions->committedRows()) ||
                shares_.hasRowsOf(segment->id)) {
            if (++pauses > pausesMax) {
               cancel();
               return false;
            }
            std::this_thread::sleep_for(pause);
         }
      return true;
   }

   const SegmentList& segments_;
   const RowShares& shares_;
   bool isOpen_ = false;
};

/// A row of the new segments whose old version was deleted during the rewrite.
struct LateDelete {
   size_t segment;
   uint32_t row;
   Timestamp timestamp;
};

/// What moving rows finds in the marks of their old segments.
struct OldMarks {
   std::vector<LateDelete> late;
   std::vector<std::shared_ptr<MovedRows>> moved; ///< by segment
};

/// Read the marks of `before`. The rows of `after` are those that lived at `since`, in the same order.
OldMarks readOldMarks(const SegmentList& before, const SegmentList& after, Timestamp since) {
   OldMarks found;
   auto targets = std::make_shared<std::vector<MovedRows::Target>>();
   for (const SegmentPtr& target : after)
      targets->push_back({target->id, target->versions, target->rowCount()});
   uint64_t total = 0; // of rows that lived
   size_t segment = 0;
   uint32_t row = 0;
   const auto skip = [&](uint32_t rows) {
      total += rows;
      for (row += rows; segment < after.size() && row >= after[segment]->rowCount(); ++segment)
         row -= after[segment]->rowCount();
   };
   for (const SegmentPtr& old : before) {
      const uint32_t rows = old->versions->committedRows();
      found.moved.push_back(std::make_shared<MovedRows>(since, targets));
      for (uint32_t first = 0; first < rows; first += vectorRows) {
         const uint32_t count = std::min(vectorRows, rows - first);
         found.moved.back()->addVector(total);
         const DeleteMarks::VectorMarks* marks = old->versions->deletes.vector(first / vectorRows);
         if (!marks) {
            skip(count);
            continue;
         }
         for (uint32_t i = 0; i < count; ++i) {
            // An open mark here is about to be taken back, see DeleteMarks::beginMove().
            const DeleteWord word = marks->words[i].load(std::memory_order_acquire);
            if (!DeleteMarks::livesAt(word, since)) continue;
            const bool isCommitted = word != 0 && (word & DeleteMarks::openBit) == 0;
            if (isCommitted) found.late.push_back({segment, row, word});
            skip(1);
         }
      }
   }
   CHECK(segment == after.size() && row == 0);
   return found;
}

/// The log record of a compaction.
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

/// Put `after` into the table's list behind the segments of `before`, and mark those as retired.
void exchangeSegments(TableCore& core, const SegmentList& before, const SegmentList& after, Timestamp timestamp) {
   const MutexLock lock(core.mutex);
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

bool Compactor::hasManySmall() const {
   const LiveSnapshots old = context_.transactions.snapshotsOlderThan(longNanos);
   for (const auto& table : tables_.committed()) {
      uint64_t budget = rewrittenRowsMax;
      std::vector<Run> runs;
      chooseRuns(table, CheckpointKind::Commit, old, damaged_, budget, runs);
      if (!runs.empty()) return true;
   }
   return false;
}

void Compactor::run(CheckpointKind kind) {
   if (kind == CheckpointKind::Commit && !hasManySmall()) return;
   std::vector<TableRegistry::Captured> captured;
   {
      const Committer::Pause pause(committer_); // rows placed in a sealed delta are committed
      captured = tables_.capture();
   }
   uint64_t budget = rewrittenRowsMax;
   std::vector<Run> runs;
   const LiveSnapshots old = context_.transactions.snapshotsOlderThan(longNanos);
   for (const auto& table : captured)
      chooseRuns(table, kind, old, damaged_, budget, runs);
   captured.clear();
   std::vector<Rewritten> rewritten(runs.size());
   std::vector<std::string> faults(runs.size()); // why a run could not be read
   forEachPiece(context_, runs.size(), kind, [&](uint64_t i) {
      rewritten[i].since = context_.transactions.lastCommitted();
      try {
         rewritten[i].segments =
             rewriteLiveRows(context_, runs[i].table->id(), runs[i].columns, runs[i].segments, rewritten[i].since);
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::dataCorrupted) throw;
         faults[i] = error.what();
      }
   });
   TEST_POINT("compaction.rewritten");
   for (size_t i = 0; i < runs.size(); ++i)
      faults[i].empty() ? moveRows(runs[i], rewritten[i], kind) : noteDamage(runs[i], faults[i]);
   retired_.release();
}

void Compactor::noteDamage(const Run& run, const std::string& what) {
   logLine(LogLevel::Error, "a table is damaged, and its blocks are not merged: " + what);
   for (const SegmentPtr& segment : run.segments) {
      if (!segment->block) continue;
      try {
         segment->block->verify();
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::dataCorrupted) throw;
         damaged_.insert(segment->id);
      }
   }
}

void Compactor::moveRows(const Run& run, Rewritten& rewritten, CheckpointKind kind) {
   const SegmentList &before = run.segments, &after = rewritten.segments;
   Table& table = *run.table;
   Move move(before, table.core().shares);
   if (!move.tryBegin(kind == CheckpointKind::Commit)) return;
   // No mark of `before` changes from here on.
   const OldMarks marks = readOldMarks(before, after, rewritten.since);
   const std::vector<LateDelete>& late = marks.late;
   for (const SegmentPtr& segment : after)
      for (const SegmentPtr& old : before)
         segment->versions->keys.expect(context_.keyIndexes, old->versions->keys);
   Committer::OwnCommit commit;
   commit.record = recordOf(table.id(), before, after, late);
   commit.isWanted = [&] { return tables_.find(table.id()) != nullptr; };
   commit.willBeLogged = [&] { rewritten.isUsed = true; };
   commit.publish = [&](Timestamp timestamp) {
      for (const LateDelete& deleted : late)
         after[deleted.segment]->versions->deletes.replaceMark(deleted.row, deleted.timestamp);
      for (const SegmentPtr& segment : after)
         segment->versions->addCommit(timestamp, segment->rowCount(), 0);
      exchangeSegments(table.core(), before, after, timestamp);
      retired_.note(timestamp);
      for (size_t i = 0; i < before.size(); ++i)
         before[i]->versions->moved = marks.moved[i];
      context_.transactions.publish(timestamp);
      move.end(timestamp); // transactions that waited look again, and find the rows in the new segments
   };
   committer_.commitOwn(commit);
   TEST_POINT("compaction.published");
   if (!rewritten.isUsed) return; // the table was dropped
   for (const SegmentPtr& segment : before)
      if (segment->block) retired_.addBlock(segment->block);
}

} // namespace ouzel::storage
