#include "storage/table/change_log.hpp"

#include <algorithm>

#include "storage/table/scan_state.hpp"

namespace ouzel::storage {

void ReadSet::add(StorageId table, const ScanSpec& spec) {
   Scan scan;
   for (const ZonePredicate& predicate : spec.zonePredicates)
      if (predicate.kind == ZonePredicate::Kind::Range)
         scan.push_back({predicate.column, predicate.lower, predicate.upper});
   const MutexLock lock(mutex_);
   std::vector<Scan>& scans = scans_[table];
   if (scans.size() == 1 && scans[0].empty()) return; // all rows count as read already
   if (scan.empty() || scans.size() == scansMax) {
      scans.assign(1, Scan());
      return;
   }
   scans.push_back(std::move(scan));
}

void ChangeLog::open(TransactionId transaction) {
   const MutexLock lock(mutex_);
   open_.emplace(transaction, 0);
   isRecording_.store(true);
}

void ChangeLog::setSnapshot(TransactionId transaction, Timestamp snapshot) {
   const MutexLock lock(mutex_);
   open_[transaction] = snapshot;
}

void ChangeLog::close(TransactionId transaction) {
   const MutexLock lock(mutex_);
   open_.erase(transaction);
   if (open_.empty()) {
      isRecording_.store(false);
      commits_.clear();
      return;
   }
   Timestamp oldest = UINT64_MAX;
   for (const auto& [id, snapshot] : open_)
      oldest = std::min(oldest, snapshot);
   while (!commits_.empty() && commits_.front().timestamp <= oldest)
      commits_.pop_front();
}

void ChangeLog::record(Timestamp timestamp, std::vector<TableChange> changes) {
   const MutexLock lock(mutex_);
   if (!open_.empty()) commits_.push_back({timestamp, std::move(changes)});
}

bool ChangeLog::overlaps(const ReadSet& reads, Timestamp snapshot) const {
   const MutexLock lock(mutex_);
   const MutexLock readsLock(reads.mutex_);
   for (auto commit = commits_.rbegin(); commit != commits_.rend() && commit->timestamp > snapshot; ++commit)
      for (const TableChange& change : commit->changes) {
         const auto found = reads.scans_.find(change.table);
         if (found == reads.scans_.end()) continue;
         for (const ReadSet::Scan& scan : found->second)
            if (matches(scan, change)) return true;
      }
   return false;
}

namespace {

/// Keep those of `rows` whose value lies in [lower, upper].
void keepInRange(RowGroupReader& reader, uint32_t column, uint32_t first, uint32_t count, ZoneKey lower, ZoneKey upper,
                 std::vector<RowIndex>& rows) {
   const Vector values =
       reader.read(column, first, count, Selection::list(rows.data(), static_cast<uint32_t>(rows.size())));
   std::erase_if(rows, [&](RowIndex row) {
      if (values.isNull(row)) return true;
      const ZoneKey key = zoneKeyOf(Value::fromVector(values, row));
      return key < lower || key > upper;
   });
}

} // namespace

bool ChangeLog::matches(const ReadSet::Scan& scan, const TableChange& change) {
   if (scan.empty()) return !change.rows.empty();
   for (const ReadSet::Range& range : scan)
      if (range.column >= change.columns->size()) return true;
   for (const ChangedRows& changed : change.rows) {
      auto state = std::make_shared<ScanState>();
      state->columns = change.columns;
      for (const ReadSet::Range& range : scan)
         state->spec.columns.push_back(range.column);
      const uint32_t rowEnd = changed.segment->rowCount();
      state->sources.push_back({changed.segment, rowEnd});
      RowGroupReader reader(state);
      std::vector<uint32_t> rows = changed.rows;
      std::sort(rows.begin(), rows.end());
      const size_t total = rows.empty() ? changed.end - changed.first : rows.size();
      const auto rowAt = [&](size_t i) { return rows.empty() ? changed.first + static_cast<uint32_t>(i) : rows[i]; };
      uint32_t openGroup = UINT32_MAX;
      for (size_t i = 0; i < total;) {
         // The changed rows of one vector.
         const uint32_t group = rowAt(i) / rowGroupRows, base = group * rowGroupRows;
         if (group != openGroup) {
            reader.open({.segment = 0, .rowGroup = group, .rowCount = std::min(rowGroupRows, rowEnd - base)});
            openGroup = group;
         }
         const uint32_t first = (rowAt(i) - base) / vectorRows * vectorRows;
         const uint32_t count = std::min(vectorRows, std::min(rowGroupRows, rowEnd - base) - first);
         std::vector<RowIndex> kept;
         for (; i < total && rowAt(i) < base + first + count; ++i)
            kept.push_back(static_cast<RowIndex>(rowAt(i) - base - first));
         for (uint32_t c = 0; c < scan.size() && !kept.empty(); ++c)
            keepInRange(reader, c, first, count, scan[c].lower, scan[c].upper, kept);
         if (!kept.empty()) return true;
      }
   }
   return false;
}

} // namespace ouzel::storage
