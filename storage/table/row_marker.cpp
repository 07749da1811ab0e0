#include "storage/table/row_marker.hpp"

#include "common/error/check.hpp"
#include "storage/table/moved_rows.hpp"
#include "storage/version/write_conflict.hpp"

namespace ouzel::storage {

RowMarker::RowMarker(Table& table, Transaction& transaction, const Snapshot& snapshot, Kind kind)
   : table_(table), core_(table.core()), transaction_(transaction), snapshot_(snapshot), kind_(kind),
     writes_(transaction.writesOf(table)) {}

DeleteMarks::Outcome RowMarker::mark(RowId id, bool skip) {
   if (segmentId_ != segmentOf(id)) {
      finish();
      segmentId_ = segmentOf(id);
      segment_ = core_.findSegment(segmentId_);
      if (!segment_) segment_ = writes_.findSegment(segmentId_);
      if (!segment_) throwInternal("row id of an unknown segment");
   }
   const uint32_t row = rowOf(id);
   if (row >= segment_->rowCount()) throwInternal("row id past the end of its segment");
   RowId place = id;
   if (marked_.size() == marked_.capacity()) marked_.reserve(2 * marked_.size() + 64); // a mark must find its note
   DeleteMarks::Outcome outcome = set(segment_->versions->deletes, row);
   if (outcome == DeleteMarks::Outcome::Marked)
      marked_.push_back(row);
   else if (outcome == DeleteMarks::Outcome::Moved)
      outcome = markMoved(row, place);
   const bool isHeld = DeleteMarks::holderOf(seen_) != 0;
   if (outcome == DeleteMarks::Outcome::Conflict && !(skip && isHeld)) {
      finish();
      throw WriteConflict(table_.id(), place, seen_);
   }
   return outcome;
}

DeleteMarks::Outcome RowMarker::set(DeleteMarks& marks, uint32_t row) {
   const uint32_t command = transaction_.commandId();
   return kind_ == Kind::Delete ? marks.mark(row, snapshot_, command, seen_)
                                : marks.lock(row, snapshot_, command, seen_);
}

/// Marks a row of segment_ that has moved, perhaps several times. `place`: its id now.
DeleteMarks::Outcome RowMarker::markMoved(uint32_t row, RowId& place) {
   SegmentVersions* versions = segment_->versions.get();
   MovedRows::Place now{0, versions, row};
   DeleteMarks::Outcome outcome = DeleteMarks::Outcome::Moved;
   while (outcome == DeleteMarks::Outcome::Moved) {
      now = now.versions->moved->find(now.row, now.versions->deletes);
      outcome = set(now.versions->deletes, now.row);
   }
   place = makeRowId(now.segment, now.row);
   if (outcome != DeleteMarks::Outcome::Marked) return outcome;
   moved_[now.segment].push_back(now.row);
   if (kind_ == Kind::Delete) {
      versions->deletes.setShadow(row, DeleteMarks::openWord(transaction_.id(), transaction_.commandId()));
      shadows_.push_back(row);
   }
   return outcome;
}

void RowMarker::finish() {
   flushMoved();
   if (marked_.empty()) return;
   if (kind_ == Kind::Delete)
      writes_.addDeletes(segment_, std::exchange(marked_, {}));
   else
      writes_.addLocks(segment_, std::exchange(marked_, {}), transaction_.commandId());
}

void RowMarker::flushMoved() {
   for (auto& [id, rows] : moved_) {
      const SegmentPtr segment = core_.findSegment(id);
      CHECK(segment != nullptr); // the transaction's marks keep it from being retired
      if (kind_ == Kind::Delete)
         writes_.addDeletes(segment, std::move(rows));
      else
         writes_.addLocks(segment, std::move(rows), transaction_.commandId());
   }
   moved_.clear();
   writes_.addShadows(segment_, std::exchange(shadows_, {}));
}

} // namespace ouzel::storage
