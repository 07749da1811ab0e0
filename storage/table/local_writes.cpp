#include "storage/table/local_writes.hpp"

#include <algorithm>
#include <bit>
#include <lz4.h>
#include <map>

#include "common/error/check.hpp"
#include "storage/base/batch_codec.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

namespace {

// Fewer rows than this are copied into a shared segment, so that small commits do not each become a segment.
constexpr uint32_t adoptRowsMin = vectorRows;

/// Sort rows that are all different. Workers append ranges of ascending rows: many rows sort faster through a bitmap.
void sortRows(std::vector<uint32_t>& rows) {
   constexpr size_t manyRows = 1024;
   if (std::is_sorted(rows.begin(), rows.end())) return;
   if (rows.size() < manyRows) return std::sort(rows.begin(), rows.end());
   std::vector<uint64_t> bits(*std::max_element(rows.begin(), rows.end()) / 64 + 1);
   for (const uint32_t row : rows)
      bits[row / 64] |= uint64_t{1} << (row % 64);
   size_t count = 0;
   for (size_t word = 0; word < bits.size(); ++word)
      for (uint64_t left = bits[word]; left != 0; left &= left - 1)
         rows[count++] = static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left)));
   CHECK(count == rows.size());
}

/// Call `body(batch)` for the rows of a delta that `isLive` accepts, a vector at a time.
template <typename IsLive, typename Body>
void forEachBatch(const Delta& delta, IsLive isLive, Body body) {
   RowIndex live[vectorRows];
   for (uint32_t first = 0; first < delta.rowCount(); first += vectorRows) {
      const uint32_t count = std::min(vectorRows, delta.rowCount() - first);
      uint32_t kept = 0;
      for (uint32_t i = 0; i < count; ++i)
         if (isLive(first + i)) live[kept++] = static_cast<RowIndex>(i);
      if (kept == 0) continue;
      Batch batch;
      for (const ColumnSlice& slice : delta.slices(first, count))
         batch.columns.push_back(Vector::flat(slice.type, slice.data, slice.validity));
      batch.rowCount = count;
      batch.selection = kept == count ? Selection::dense(count) : Selection::list(live, kept);
      body(batch);
   }
}

} // namespace

namespace {

/// Compresses with LZ4, which is faster than zstd: the commit waits for it.
void compressBatches(LocalWrites::LoggedRows& rows) {
   constexpr size_t sizeMin = 512; // smaller commits take as long as the sync of the log
   if (rows.batches.size() < sizeMin || rows.batches.size() > LZ4_MAX_INPUT_SIZE) return;
   std::string compressed;
   compressed.resize(rows.batches.size() / 8 * 7); // a smaller gain is not worth the time of decompression
   const int size = LZ4_compress_default(rows.batches.data(), compressed.data(), static_cast<int>(rows.batches.size()),
                                         static_cast<int>(compressed.size()));
   if (size <= 0) return;
   compressed.resize(static_cast<size_t>(size));
   rows.rawSize = rows.batches.size();
   rows.batches = std::move(compressed);
}

} // namespace

LocalWrites::LocalWrites(std::shared_ptr<Table> table) : table_(std::move(table)) {}
LocalWrites::~LocalWrites() = default;

void LocalWrites::addDelta(std::unique_ptr<Delta> rows, uint32_t command) {
   const MutexLock lock(mutex_);
   const uint32_t count = rows->rowCount();
   if (count == 0) return;
   TableCore& core = table_->core();
   if (count < adoptRowsMin) {
      const bool fits = small_ && small_->delta->room() >= count && small_->delta->types() == rows->types() &&
                        small_->delta->documents() == rows->documents();
      if (!fits) {
         const MutexLock coreLock(core.mutex);
         small_ = core.newDeltaSegment(core.context.ids.newSegment(), rows->documents().extraction);
         own_.push_back({small_, {}, false, nullptr, 0, 0});
      }
      Delta& taker = *small_->delta;
      forEachBatch(
          *rows, [](uint32_t) { return true; }, [&](const Batch& batch) { taker.append(batch); });
      for (Own& own : own_)
         if (own.segment == small_) own.commands.push_back({command, small_->delta->rowCount()});
      return;
   }
   auto segment = std::make_shared<Segment>();
   segment->id = core.context.ids.newSegment();
   segment->versions = std::make_shared<SegmentVersions>();
   segment->delta = std::move(rows);
   own_.push_back({std::move(segment), {{command, count}}, false, nullptr, 0, 0});
}

void LocalWrites::addBlock(std::shared_ptr<Block> block, uint32_t command) {
   const MutexLock lock(mutex_);
   auto segment = std::make_shared<Segment>();
   segment->id = block->header().segment;
   segment->versions = std::make_shared<SegmentVersions>();
   const uint32_t rows = block->header().rowCount;
   segment->block = std::move(block);
   own_.push_back({std::move(segment), {{command, rows}}, false, nullptr, 0, 0});
}

void LocalWrites::addDeletes(const SegmentPtr& segment, std::vector<uint32_t> rows) {
   if (rows.empty()) return;
   const MutexLock lock(mutex_);
   deletes_.push_back({segment, std::move(rows)});
}

void LocalWrites::addLocks(const SegmentPtr& segment, std::vector<uint32_t> rows, uint32_t command) {
   if (rows.empty()) return;
   const MutexLock lock(mutex_);
   locks_.push_back({segment, std::move(rows), command});
}

void LocalWrites::addShadows(const SegmentPtr& segment, std::vector<uint32_t> rows) {
   if (rows.empty()) return;
   const MutexLock lock(mutex_);
   shadows_.push_back({segment, std::move(rows)});
}

void LocalWrites::removeShadows(uint32_t sinceCommand) {
   for (Deletes& entry : shadows_)
      std::erase_if(entry.rows, [&](uint32_t row) {
         DeleteMarks& marks = entry.segment->versions->deletes;
         if (DeleteMarks::commandOf(marks.word(row)) < sinceCommand) return false;
         marks.replaceMark(row, 0);
         return true;
      });
   std::erase_if(shadows_, [](const Deletes& entry) { return entry.rows.empty(); });
}

bool LocalWrites::isOwn(const SegmentPtr& segment) const {
   return std::any_of(own_.begin(), own_.end(), [&](const Own& own) { return own.segment == segment; });
}

void LocalWrites::releaseLocks() {
   const MutexLock lock(mutex_);
   for (const Locks& entry : locks_)
      for (const uint32_t row : entry.rows)
         if (DeleteMarks::isLock(entry.segment->versions->deletes.word(row)))
            entry.segment->versions->deletes.replaceMark(row, 0);
   locks_.clear();
}

std::vector<LocalWrites::Visible> LocalWrites::visible(uint32_t commandId) const {
   const MutexLock lock(mutex_);
   std::vector<Visible> result;
   for (const Own& own : own_) {
      uint32_t rows = 0;
      for (const CommandRows& rowsOf : own.commands)
         if (rowsOf.command < commandId) rows = std::max(rows, rowsOf.rowEnd);
      if (rows > 0) result.push_back({own.segment, rows});
   }
   return result;
}

std::vector<LocalWrites::Range> LocalWrites::insertedSince(uint32_t commandId) const {
   const MutexLock lock(mutex_);
   std::vector<Range> ranges;
   for (const Own& own : own_) {
      uint32_t before = 0, end = 0;
      for (const CommandRows& rows : own.commands)
         (rows.command < commandId ? before : end) = rows.rowEnd;
      if (end > before) ranges.push_back({own.segment, before, end});
   }
   return ranges;
}

std::vector<std::pair<SegmentPtr, std::vector<uint32_t>>> LocalWrites::deletedSince(uint32_t commandId) const {
   const MutexLock lock(mutex_);
   std::vector<std::pair<SegmentPtr, std::vector<uint32_t>>> result;
   for (const Deletes& entry : deletes_) {
      std::vector<uint32_t> rows;
      for (const uint32_t row : entry.rows)
         if (DeleteMarks::commandOf(entry.segment->versions->deletes.word(row)) >= commandId) rows.push_back(row);
      if (!rows.empty()) result.emplace_back(entry.segment, std::move(rows));
   }
   return result;
}

SegmentPtr LocalWrites::findSegment(SegmentId id) const {
   const MutexLock lock(mutex_);
   for (const Own& own : own_)
      if (own.segment->id == id) return own.segment;
   return nullptr;
}

bool LocalWrites::isEmpty() const {
   const MutexLock lock(mutex_);
   return own_.empty() && deletes_.empty();
}

uint64_t LocalWrites::deletedRows() const {
   const MutexLock lock(mutex_);
   uint64_t rows = 0;
   for (const Deletes& entry : deletes_)
      rows += entry.rows.size();
   return rows;
}

void LocalWrites::rollbackTo(uint32_t commandId, bool keepLocks) {
   const MutexLock lock(mutex_);
   // Rows that were locked before they were deleted are locked again. Each mark changes in one step: no other
   // transaction can lock the row in between.
   std::map<std::pair<SegmentId, uint32_t>, uint32_t> lockedBy;
   if (!deletes_.empty())
      for (const Locks& entry : locks_)
         if (entry.command < commandId || keepLocks)
            for (const uint32_t row : entry.rows)
               lockedBy[{entry.segment->id, row}] = entry.command;
   std::vector<Locks> kept;
   for (Deletes& entry : deletes_) {
      DeleteMarks& marks = entry.segment->versions->deletes;
      const TransactionId transaction = entry.rows.empty() ? 0 : DeleteMarks::holderOf(marks.word(entry.rows[0]));
      const bool staysLocked = keepLocks && !isOwn(entry.segment);
      Locks locked{entry.segment, {}, commandId};
      std::erase_if(entry.rows, [&](uint32_t row) {
         const DeleteWord word = marks.word(row);
         CHECK((word & DeleteMarks::openBit) != 0);
         if (DeleteMarks::commandOf(word) < commandId) return false;
         const auto before = lockedBy.find({entry.segment->id, row});
         if (before != lockedBy.end()) {
            marks.replaceMark(row, DeleteMarks::lockWord(transaction, before->second));
         } else if (staysLocked) {
            marks.replaceMark(row, DeleteMarks::lockWord(transaction, commandId));
            locked.rows.push_back(row);
         } else {
            marks.replaceMark(row, 0);
         }
         return true;
      });
      if (!locked.rows.empty()) kept.push_back(std::move(locked));
   }
   std::erase_if(deletes_, [](const Deletes& entry) { return entry.rows.empty(); });
   removeShadows(commandId);
   if (!keepLocks)
      std::erase_if(locks_, [&](const Locks& entry) {
         if (entry.command < commandId) return false;
         for (const uint32_t row : entry.rows)
            if (DeleteMarks::isLock(entry.segment->versions->deletes.word(row)))
               entry.segment->versions->deletes.replaceMark(row, 0);
         return true;
      });
   for (Locks& entry : kept)
      locks_.push_back(std::move(entry));
   for (Own& own : own_) {
      std::erase_if(own.commands, [&](const CommandRows& rows) { return rows.command >= commandId; });
      if (own.commands.empty()) {
         if (own.segment->block) own.segment->block->discard();
         if (own.segment == small_) small_ = nullptr;
      } else if (own.segment->delta && own.commands.back().rowEnd < own.segment->delta->rowCount()) {
         own.segment->delta->truncate(own.commands.back().rowEnd);
         own.segment->versions->keys.forget();
      }
   }
   std::erase_if(own_, [](const Own& own) { return own.commands.empty(); });
}

LocalWrites::Kept LocalWrites::keep() const {
   const MutexLock lock(mutex_);
   Kept kept;
   for (const Own& own : own_) {
      if (own.segment->block)
         throw SqlError(sqlstate::featureNotSupported,
                        "PREPARE TRANSACTION of a transaction that has loaded many rows at once is not supported");
      const DeleteMarks& marks = own.segment->versions->deletes;
      forEachBatch(
          *own.segment->delta, [&](uint32_t row) { return marks.word(row) == 0; },
          [&](const Batch& batch) { encodeBatch(batch, kept.batches); });
   }
   std::map<SegmentId, std::vector<uint32_t>> deleted, locked;
   for (const Deletes& entry : deletes_)
      if (!isOwn(entry.segment))
         deleted[entry.segment->id].insert(deleted[entry.segment->id].end(), entry.rows.begin(), entry.rows.end());
   for (const Locks& entry : locks_)
      locked[entry.segment->id].insert(locked[entry.segment->id].end(), entry.rows.begin(), entry.rows.end());
   const auto list = [](std::map<SegmentId, std::vector<uint32_t>>& rowsOf, std::vector<LoggedDeletes>& out) {
      for (auto& [segment, rows] : rowsOf) {
         sortRows(rows);
         out.push_back({segment, std::move(rows)});
      }
   };
   list(deleted, kept.deletes);
   list(locked, kept.locks);
   return kept;
}

void LocalWrites::encode() {
   const MutexLock lock(mutex_);
   loggedRows.clear();
   loggedBlocks.clear();
   loggedDeletes.clear();
   for (Own& own : own_) {
      const DeleteMarks& marks = own.segment->versions->deletes;
      if (own.segment->block) {
         loggedBlocks.push_back({own.segment->id, own.segment->block->objectName()});
         continue;
      }
      Delta& delta = *own.segment->delta;
      own.isCopied = delta.rowCount() < adoptRowsMin;
      LoggedRows logged;
      logged.segment = own.segment->id;
      const auto isLive = [&](uint32_t row) { return !own.isCopied || marks.word(row) == 0; };
      forEachBatch(delta, isLive, [&](const Batch& batch) {
         encodeBatch(batch, logged.batches);
         logged.rowCount += batch.liveRows();
      });
      compressBatches(logged);
      loggedRows.push_back(std::move(logged));
   }
   std::map<SegmentId, std::vector<uint32_t>> rowsOf;
   for (const Deletes& entry : deletes_) {
      // Rows of a copied segment that the transaction has deleted again are not copied, so their deletes are not
      // logged.
      const bool isGone = std::any_of(own_.begin(), own_.end(), [&](const Own& own) {
         return own.isCopied && own.segment->id == entry.segment->id;
      });
      if (isGone) continue;
      auto& rows = rowsOf[entry.segment->id];
      rows.insert(rows.end(), entry.rows.begin(), entry.rows.end());
   }
   for (auto& [segment, rows] : rowsOf) {
      sortRows(rows);
      loggedDeletes.push_back({segment, std::move(rows)});
   }
}

void LocalWrites::place() {
   const MutexLock lock(mutex_);
   TableCore& core = table_->core();
   size_t index = 0;
   for (Own& own : own_) {
      if (own.segment->block) continue;
      LoggedRows& logged = loggedRows[index++];
      if (!own.isCopied || logged.rowCount == 0) continue;
      const MutexLock coreLock(core.mutex);
      const SegmentPtr target = core.deltaWithRoom(logged.rowCount, own.segment->delta->documents().extraction);
      const uint32_t first = target->delta->rowCount();
      const DeleteMarks& marks = own.segment->versions->deletes;
      const std::vector<Value> missing = core.missingValues();
      try {
         forEachBatch(
             *own.segment->delta, [&](uint32_t row) { return marks.word(row) == 0; },
             [&](const Batch& batch) { target->delta->append(batch, missing); });
      } catch (...) {
         target->delta->truncate(first);
         throw;
      }
      own.target = target;
      own.targetFirst = first;
      own.targetEnd = target->delta->rowCount();
      logged.segment = target->id;
      logged.firstRow = first;
   }
   std::erase_if(loggedRows, [](const LoggedRows& rows) { return rows.rowCount == 0; });
}

void LocalWrites::unplace() {
   const MutexLock lock(mutex_);
   const MutexLock coreLock(table_->core().mutex);
   for (size_t i = own_.size(); i-- > 0;)
      if (own_[i].target) {
         own_[i].target->delta->truncate(own_[i].targetFirst);
         own_[i].target = nullptr;
      }
}

std::vector<ChangedRows> LocalWrites::changes() const {
   const MutexLock lock(mutex_);
   std::vector<ChangedRows> out;
   for (const Own& own : own_)
      if (own.target)
         out.push_back({own.target, own.targetFirst, own.targetEnd, {}});
      else if (!own.isCopied && own.segment->rowCount() > 0)
         out.push_back({own.segment, 0, own.segment->rowCount(), {}});
   for (const Deletes& entry : deletes_)
      if (!isOwn(entry.segment)) out.push_back({entry.segment, 0, 0, entry.rows});
   return out;
}

void LocalWrites::publish(Timestamp timestamp, Timestamp horizon) {
   const MutexLock lock(mutex_);
   for (const Deletes& entry : deletes_)
      for (const uint32_t row : entry.rows)
         entry.segment->versions->deletes.replaceMark(row, timestamp);
   removeShadows(0); // the other snapshots that read them are older than the commit
   TableCore& core = table_->core();
   const MutexLock coreLock(core.mutex);
   for (Own& own : own_) {
      if (own.target) {
         own.target->versions->addCommit(timestamp, own.targetEnd, horizon);
      } else if (!own.isCopied) {
         own.segment->versions->addCommit(timestamp, own.segment->rowCount(), horizon);
         core.addSegment(own.segment);
      }
   }
}

} // namespace ouzel::storage
