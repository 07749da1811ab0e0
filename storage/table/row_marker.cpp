#include "storage/table/row_marker.hpp"

#include "common/error/check.hpp"
#include "storage/table/moved_rows.hpp"
#include "storage/version/write_conflict.hpp"

namespace ouzel::storage {

RowMarker::RowMarker(Table& table, Transaction& transaction, const Snapshot& snapshot, Kind kind,
                     std::span<const RowId> rows)
   : table_(table), core_(table.core()), transaction_(transaction), snapshot_(snapshot), kind_(kind), rows_(rows),
     writes_(transaction.writesOf(table)) {}

void RowMarker::setKey(const std::vector<uint32_t>& key) {
   key_ = key.empty() ? 0 : core_.shares.keyOf(key);
}

void RowMarker::open(SegmentId segment) {
   finish();
   segmentId_ = segment;
   segment_ = core_.findSegment(segmentId_);
   isOwn_ = !segment_;
   if (isOwn_) segment_ = writes_.findSegment(segmentId_);
   if (!segment_) throwInternal("row id of an unknown segment");
}

namespace {

/// A mark must find its note: room for one more.
template <typename T>
void makeRoom(std::vector<T>& list) {
   if (list.size() == list.capacity()) list.reserve(2 * list.size() + 64);
}

} // namespace

DeleteMarks::Outcome RowMarker::mark(size_t i, LockStrength strength, bool skip) {
   const RowId id = rows_[i];
   if (segmentId_ != segmentOf(id)) open(segmentOf(id));
   const uint32_t row = rowOf(id);
   if (row >= segment_->rowCount()) throwInternal("row id past the end of its segment");
   RowId place = id;
   isShared_ = false;
   strength_ = strength;
   Outcome outcome;
   if (isOwn_)
      outcome = markOwn(i, strength);
   else if (strength <= LockStrength::Share)
      outcome = share(i, strength, place);
   else if (isHeld(i, place, strength))
      outcome = Outcome::Conflict;
   else
      outcome = set(segment_->versions->deletes, row, place, i, strength);
   if (outcome == Outcome::Moved) outcome = markMoved(i, strength, place);
   if (outcome == Outcome::Conflict && !(skip && DeleteMarks::holderOf(seen_) != 0)) fail(place, i, strength);
   return outcome;
}

void RowMarker::fail(RowId place, size_t i, LockStrength strength) {
   isShared_ = isShared_ || isOwn_ || DeleteMarks::isOpenBy(markAt(place), transaction_.id());
   if (!core_.shares.isEmpty()) {
      const DeleteWord seen = seen_;
      isHeld(i, place, LockStrength::Update); // sets isShared_
      seen_ = seen;
   }
   WriteConflict conflict(table_.id(), place, seen_, strength);
   conflict.isShared = isShared_;
   throw conflict;
}

DeleteWord RowMarker::markAt(RowId place) const {
   const SegmentPtr segment = segmentOf(place) == segmentId_ ? segment_ : core_.findSegment(segmentOf(place));
   return segment ? segment->versions->deletes.word(rowOf(place)) : 0;
}

/// A row that no other transaction knows needs no lock. But the row that it is a new version of does: if the new one
/// goes, or is to stay as it is, nobody may rely on the old one's key.
DeleteMarks::Outcome RowMarker::markOwn(size_t i, LockStrength strength) {
   const uint32_t row = rowOf(rows_[i]);
   if (strength == LockStrength::Update && writes_.haveKeptKeys()) {
      if (isHeld(i, rows_[i], strength)) return Outcome::Conflict;
      writes_.claim(segment_, row, transaction_.commandId());
      if (isHeld(i, rows_[i], strength)) {
         writes_.unclaim(segment_, row);
         return Outcome::Conflict;
      }
   }
   if (kind_ == Kind::Lock) return Outcome::Held;
   return set(segment_->versions->deletes, row, rows_[i], i, strength);
}

/// Sets the mark of a row of segment_, which is at `place` now, and notes it.
DeleteMarks::Outcome RowMarker::set(DeleteMarks& marks, uint32_t row, RowId place, size_t i, LockStrength strength) {
   const uint32_t command = transaction_.commandId();
   std::vector<uint32_t>& noted = segmentOf(place) == segmentId_ ? marked_ : moved_[segmentOf(place)];
   makeRoom(noted);
   const Outcome outcome = kind_ == Kind::Delete ? marks.mark(row, snapshot_, command, strength, seen_)
                                                 : marks.lock(row, snapshot_, command, strength, seen_);
   if (outcome != Outcome::Marked) return outcome;
   noted.push_back(row);
   if (!isOwn_) {
      const DeleteWord before = seen_;
      if (!core_.shares.isEmpty() && isHeld(i, place, strength)) {
         marks.replaceMark(row, before);
         noted.pop_back();
         return Outcome::Conflict;
      }
   }
   keepKeys_ = keepKeys_ || strength == LockStrength::NoKeyUpdate;
   return Outcome::Marked;
}

/// Marks a row of segment_ that has moved, perhaps several times. `place`: its id now.
DeleteMarks::Outcome RowMarker::markMoved(size_t i, LockStrength strength, RowId& place) {
   const uint32_t row = rowOf(rows_[i]);
   SegmentVersions* versions = segment_->versions.get();
   MovedRows::Place now{0, versions, row};
   Outcome outcome = Outcome::Moved;
   while (outcome == Outcome::Moved) {
      now = now.versions->moved->find(now.row, now.versions->deletes);
      place = makeRowId(now.segment, now.row);
      outcome = set(now.versions->deletes, now.row, place, i, strength);
   }
   if (outcome == Outcome::Marked && kind_ == Kind::Delete) {
      makeRoom(shadows_);
      versions->deletes.setShadow(row, DeleteMarks::openWord(transaction_.id(), transaction_.commandId(), strength));
      shadows_.push_back(row);
   }
   return outcome;
}

/// Adds a share of a row. `place`: its id now.
DeleteMarks::Outcome RowMarker::share(size_t i, LockStrength strength, RowId& place) {
   SegmentVersions* versions = segment_->versions.get();
   uint32_t row = rowOf(place);
   const std::optional<uint64_t> hash =
       key_ != 0 && strength == LockStrength::KeyShare ? hashOf(key_, i) : std::nullopt;
   makeRoom(shared_);
   for (uint32_t looks = 0;;) {
      Outcome outcome = Outcome::Conflict;
      const RowShares::Place shared = hash ? RowShares::Place{key_, *hash} : RowShares::Place{0, place};
      bool isNew = false;
      const bool isAdded = core_.shares.add(shared, transaction_.id(), strength, isNew, [&] {
         outcome = versions->deletes.share(row, snapshot_, strength, seen_);
         const TransactionId updater = DeleteMarks::holderOf(seen_);
         const bool goesOn = shared.key == 0 && updater != 0 && !DeleteMarks::isLock(seen_); // under another id
         return outcome == Outcome::Marked && !goesOn ? std::optional(updater) : std::nullopt;
      });
      if (isAdded) {
         if (isNew) shared_.push_back(shared);
         return isNew ? Outcome::Marked : Outcome::Held;
      }
      LockStrength ofMark = DeleteMarks::strengthOf(seen_);
      if (outcome == Outcome::Marked) { // the mark lets it, but the row is claimed or has another id
         outcome = Outcome::Conflict;
         ofMark = LockStrength::Update;
      }
      const TransactionId marker = outcome == Outcome::Conflict ? DeleteMarks::holderOf(seen_) : 0;
      if (marker != 0 && core_.shares.lookAgain(shared, marker, ofMark, looks)) continue;
      if (outcome != Outcome::Moved) return outcome;
      if (versions->deletes.awaitMove() == 0) continue;
      const MovedRows::Place now = versions->moved->find(row, versions->deletes);
      versions = now.versions;
      row = now.row;
      place = makeRowId(now.segment, now.row);
   }
}

/// Whether another transaction shares the i-th row in a way that keeps this one from locking it; seen_ is then a mark
/// that names it. `place`: the row's id now.
bool RowMarker::isHeld(size_t i, RowId place, LockStrength strength) {
   if (core_.shares.isEmpty()) return false;
   RowShares::Found found;
   // A lock by the row's id does not follow the row to its next version.
   const LockStrength ofId = kind_ == Kind::Delete ? LockStrength::Update : strength;
   core_.shares.find({0, place}, transaction_.id(), ofId, found);
   if (strength == LockStrength::Update) // only then is a KeyShare in the way
      for (uint32_t key = 1; key <= core_.shares.keyCount(); ++key)
         if (const std::optional<uint64_t> hash = hashOf(key, i))
            core_.shares.find({key, *hash}, transaction_.id(), strength, found);
   isShared_ = isShared_ || found.isShared;
   if (found.holder != 0) seen_ = DeleteMarks::lockWord(found.holder, 0, LockStrength::Update);
   return found.holder != 0;
}

/// The hash of the i-th row's key; empty: the key has a NULL, so many rows may have the same. The first call computes
/// those of all rows, neighbours together.
std::optional<uint64_t> RowMarker::hashOf(uint32_t key, size_t i) {
   if (hashes_.size() < key) hashes_.resize(key);
   Hashes& hashes = hashes_[key - 1];
   if (hashes.all.empty()) hashKeysOfRows(key, hashes);
   return hashes.hasNull[i] ? std::nullopt : std::optional(hashes.all[i]);
}

void RowMarker::hashKeysOfRows(uint32_t key, Hashes& hashes) const {
   const std::vector<uint32_t> columns = core_.shares.key(key);
   const auto definitions = table_.columns();
   std::vector<uint64_t> all(rows_.size());
   std::vector<uint8_t> hasNull(rows_.size());
   for (size_t first = 0; first < rows_.size();) {
      const SegmentId id = segmentOf(rows_[first]);
      const uint32_t vector = rowOf(rows_[first]) / vectorRows;
      uint32_t least = rowOf(rows_[first]), most = least;
      size_t end = first;
      for (; end < rows_.size() && segmentOf(rows_[end]) == id && rowOf(rows_[end]) / vectorRows == vector; ++end) {
         least = std::min(least, rowOf(rows_[end]));
         most = std::max(most, rowOf(rows_[end]));
      }
      SegmentPtr segment = core_.findSegment(id);
      if (!segment) segment = writes_.findSegment(id);
      if (!segment) throwInternal("row id of an unknown segment");
      std::vector<uint8_t> outside;
      KeyNotes notes;
      const std::vector<uint64_t> found =
          hashKeys(*segment, definitions, columns, nullptr, least, most - least + 1, outside, &notes);
      for (; first < end; ++first) {
         all[first] = found[rowOf(rows_[first]) - least];
         hasNull[first] = notes.hasNull[rowOf(rows_[first]) - least];
      }
   }
   hashes = {std::move(all), std::move(hasNull)};
}

void RowMarker::finish() {
   flushMoved();
   if (!shared_.empty()) writes_.addShares(std::exchange(shared_, {}), transaction_.commandId(), strength_);
   if (!marked_.empty()) {
      if (kind_ == Kind::Delete)
         writes_.addDeletes(segment_, std::exchange(marked_, {}), keepKeys_);
      else
         writes_.addLocks(segment_, std::exchange(marked_, {}), transaction_.commandId(), strength_);
   }
   keepKeys_ = false;
}

void RowMarker::flushMoved() {
   for (auto& [id, rows] : moved_) {
      if (rows.empty()) continue;
      const SegmentPtr segment = core_.findSegment(id);
      CHECK(segment != nullptr); // the transaction's marks keep it from being retired
      if (kind_ == Kind::Delete)
         writes_.addDeletes(segment, std::move(rows), keepKeys_);
      else
         writes_.addLocks(segment, std::move(rows), transaction_.commandId(), strength_);
   }
   moved_.clear();
   writes_.addShadows(segment_, std::exchange(shadows_, {}));
}

} // namespace ouzel::storage
