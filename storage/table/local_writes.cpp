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

LocalWrites::LocalWrites(std::shared_ptr<Table> table, TransactionId transaction)
   : table_(std::move(table)), transaction_(transaction) {}
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

void LocalWrites::addDeletes(const SegmentPtr& segment, std::vector<uint32_t> rows, bool keepKeys) {
   if (rows.empty()) return;
   const MutexLock lock(mutex_);
   deletes_.push_back({segment, std::move(rows)});
   if (keepKeys) haveKeptKeys_.store(true, std::memory_order_relaxed);
}

void LocalWrites::addLocks(const SegmentPtr& segment, std::vector<uint32_t> rows, uint32_t command,
                           LockStrength strength) {
   if (rows.empty()) return;
   const MutexLock lock(mutex_);
   locks_.push_back({segment, std::move(rows), command, strength});
}

void LocalWrites::addShares(const std::vector<RowShares::Place>& places, uint32_t command, LockStrength strength) {
   const MutexLock lock(mutex_);
   for (const RowShares::Place& place : places)
      shares_.push_back({place, strength, command});
}

void LocalWrites::claim(const SegmentPtr& segment, uint32_t row, uint32_t command) {
   hasClaims_.store(true, std::memory_order_relaxed);
   table_->core().shares.claim(transaction_, segment, row, command, table_->columns());
}

void LocalWrites::unclaim(const SegmentPtr& segment, uint32_t row) {
   table_->core().shares.unclaim(transaction_, segment->id, row);
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
   undoLocks(0, {});
   removeShares(0);
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

/// How the rows are locked that commands before `command` have locked.
LocalWrites::StrengthOf LocalWrites::locksBefore(uint32_t command) const {
   StrengthOf strongest;
   for (const Locks& entry : locks_) {
      if (entry.command >= command) continue;
      for (const uint32_t row : entry.rows) {
         const auto [place, isNew] = strongest.try_emplace({entry.segment->id, row}, entry.strength);
         if (!isNew) place->second = std::max(place->second, entry.strength);
      }
   }
   return strongest;
}

/// Takes back delete marks of commands from `commandId` on. Rows that were locked before are locked again, as `staying`
/// says. With `keepLocks`, all stay locked as their marks have locked them. Each mark changes in one step: no other
/// transaction can lock the row in between.
void LocalWrites::undoDeletes(uint32_t commandId, bool keepLocks, const StrengthOf& staying) {
   std::vector<Locks> added;
   for (Deletes& entry : deletes_) {
      DeleteMarks& marks = entry.segment->versions->deletes;
      const bool staysLocked = keepLocks && !isOwn(entry.segment);
      std::array<std::vector<uint32_t>, 2> locked; // by strength
      std::erase_if(entry.rows, [&](uint32_t row) {
         const DeleteWord word = marks.word(row);
         CHECK((word & DeleteMarks::openBit) != 0);
         if (DeleteMarks::commandOf(word) < commandId) return false;
         const auto before = staying.find({entry.segment->id, row});
         const LockStrength strength = DeleteMarks::strengthOf(word);
         if (staysLocked && (before == staying.end() || before->second < strength)) {
            marks.replaceMark(row, DeleteMarks::lockWord(transaction_, commandId, strength));
            locked[strength == LockStrength::Update].push_back(row);
         } else if (before != staying.end()) {
            marks.replaceMark(row, DeleteMarks::lockWord(transaction_, commandId, before->second));
         } else {
            marks.replaceMark(row, 0);
         }
         return true;
      });
      for (const LockStrength strength : {LockStrength::NoKeyUpdate, LockStrength::Update})
         if (auto& rows = locked[strength == LockStrength::Update]; !rows.empty())
            added.push_back({entry.segment, std::move(rows), commandId, strength});
   }
   std::erase_if(deletes_, [](const Deletes& entry) { return entry.rows.empty(); });
   locks_.insert(locks_.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

/// Takes back locks of commands from `commandId` on, down to those that stay.
void LocalWrites::undoLocks(uint32_t commandId, const StrengthOf& staying) {
   std::erase_if(locks_, [&](const Locks& entry) {
      if (entry.command < commandId) return false;
      DeleteMarks& marks = entry.segment->versions->deletes;
      for (const uint32_t row : entry.rows) {
         if (!DeleteMarks::isLock(marks.word(row))) continue; // deleted since, or taken back already
         const auto before = staying.find({entry.segment->id, row});
         marks.replaceMark(
             row, before == staying.end() ? 0 : DeleteMarks::lockWord(transaction_, commandId, before->second));
      }
      return true;
   });
}

void LocalWrites::removeShares(uint32_t sinceCommand) {
   RowShares& shares = table_->core().shares;
   if (hasClaims_.load(std::memory_order_relaxed)) shares.unclaimSince(transaction_, sinceCommand);
   std::erase_if(shares_, [&](const Share& share) {
      if (share.command < sinceCommand) return false;
      shares.remove(share.place, transaction_, share.strength);
      return true;
   });
}

void LocalWrites::rollbackTo(uint32_t commandId, bool keepLocks) {
   const MutexLock lock(mutex_);
   const auto goes = [&](const Locks& entry) { return !keepLocks && entry.command >= commandId; };
   StrengthOf staying;
   if (!deletes_.empty() || std::any_of(locks_.begin(), locks_.end(), goes))
      staying = locksBefore(keepLocks ? UINT32_MAX : commandId);
   undoDeletes(commandId, keepLocks, staying);
   removeShadows(commandId);
   if (hasClaims_.load(std::memory_order_relaxed)) table_->core().shares.unclaimSince(transaction_, commandId);
   if (!keepLocks) {
      undoLocks(commandId, staying);
      removeShares(commandId);
   }
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

/// Gives marks of rows that have kept their keys the strength Update if a claimed row may be their new version: it is
/// not kept, and the marks are to say all. A row that somebody shares is not claimed.
void LocalWrites::raiseClaimed() {
   RowShares& shares = table_->core().shares;
   if (!shares.hasClaims(transaction_)) return;
   const auto definitions = table_->columns();
   for (const Deletes& entry : deletes_) {
      DeleteMarks& marks = entry.segment->versions->deletes;
      for (const uint32_t row : isOwn(entry.segment) ? std::vector<uint32_t>() : entry.rows) {
         const DeleteWord word = marks.word(row);
         if (DeleteMarks::strengthOf(word) == LockStrength::Update) continue;
         bool mayBeClaimed = true;
         std::vector<RowShares::Place> places = {{0, makeRowId(entry.segment->id, row)}};
         for (uint32_t key = 1; key <= shares.keyCount(); ++key) {
            std::vector<uint8_t> outside;
            const std::vector<uint64_t> hashes =
                hashKeys(*entry.segment, definitions, shares.key(key), nullptr, row, 1, outside);
            places.push_back({key, hashes[0]});
            mayBeClaimed = mayBeClaimed && shares.hasClaimed(transaction_, places.back()); // versions have equal keys
         }
         if (!mayBeClaimed) continue;
         marks.replaceMark(row, word & ~DeleteMarks::keepsKeyBit);
         RowShares::Found found;
         for (const RowShares::Place& place : places)
            shares.find(place, transaction_, LockStrength::Update, found);
         if (found.holder != 0) marks.replaceMark(row, word);
      }
   }
}

LocalWrites::Kept LocalWrites::keep() {
   const MutexLock lock(mutex_);
   raiseClaimed();
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
   std::array<std::map<SegmentId, std::vector<uint32_t>>, 2> deleted, locked; // by strength
   for (const Deletes& entry : deletes_) {
      const DeleteMarks& marks = entry.segment->versions->deletes;
      for (const uint32_t row : isOwn(entry.segment) ? std::vector<uint32_t>() : entry.rows)
         deleted[DeleteMarks::strengthOf(marks.word(row)) == LockStrength::Update][entry.segment->id].push_back(row);
   }
   for (const auto& [place, strength] : locksBefore(UINT32_MAX))
      locked[strength == LockStrength::Update][place.first].push_back(place.second);
   for (size_t i = 0; i < deleted.size(); ++i) {
      for (auto& [segment, rows] : deleted[i]) {
         sortRows(rows);
         kept.deletes[i].push_back({segment, std::move(rows)});
      }
      for (auto& [segment, rows] : locked[i])
         kept.locks[i].push_back({segment, std::move(rows)});
   }
   kept.shares = shares_;
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
