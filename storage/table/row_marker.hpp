#pragma once
#include <map>
#include <span>
#include <vector>

#include "storage/table/table.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

/// Sets delete marks or locks on rows of a table for one transaction and notes them in its LocalWrites.
///
/// A row that compaction has moved since the snapshot is marked where it is now, which decides between transactions. A
/// delete also sets a shadow, a mark on the row's old place: there the transaction's snapshot reads.
///
/// Before and after a mark it asks the table's RowShares for others' locks, if there are any; see there for why twice.
///
/// Threads: one thread. REQUIRES: finish() after the last mark, also after an error.
class RowMarker {
public:
   enum class Kind : uint8_t { Delete, Lock };
   RowMarker(Table& table, Transaction& transaction, const Snapshot& snapshot, Kind kind, std::span<const RowId> rows);
   /// The storage columns by which KeyShare finds a row again; empty, or with a NULL: its id does.
   void setKey(const std::vector<uint32_t>& key);

   /// Marks the i-th of the rows; `strength` of a delete: NoKeyUpdate or Update. Never returns Moved. Throws
   /// WriteConflict instead of returning Conflict; with `skip`, returns it for a row that an open transaction holds.
   DeleteMarks::Outcome mark(size_t i, LockStrength strength, bool skip);
   void finish();

private:
   using Outcome = DeleteMarks::Outcome;
   struct Hashes {
      std::vector<uint64_t> all;
      std::vector<uint8_t> hasNull; ///< 1: the key has a NULL
   };
   void open(SegmentId segment);
   Outcome markOwn(size_t i, LockStrength strength);
   Outcome set(DeleteMarks& marks, uint32_t row, RowId place, size_t i, LockStrength strength);
   Outcome markMoved(size_t i, LockStrength strength, RowId& place);
   Outcome share(size_t i, LockStrength strength, RowId& place);
   bool isHeld(size_t i, RowId place, LockStrength strength);
   DeleteWord markAt(RowId place) const;
   std::optional<uint64_t> hashOf(uint32_t key, size_t i);
   void hashKeysOfRows(uint32_t key, Hashes& hashes) const;
   [[noreturn]] void fail(RowId place, size_t i, LockStrength strength);
   void flushMoved();

   // PROPERTIES
   Table& table_;
   TableCore& core_;
   Transaction& transaction_;
   const Snapshot& snapshot_;
   const Kind kind_;
   const std::span<const RowId> rows_;
   LocalWrites& writes_;
   uint32_t key_ = 0; ///< of KeyShare: its number in RowShares; 0: row ids

   // STATE
   DeleteWord seen_ = 0;   ///< the mark found last, or one that stands for another transaction's share
   bool isShared_ = false; ///< the transaction has a lock of the row that another one holds
   SegmentPtr segment_;    ///< of the row marked last, as its id says
   SegmentId segmentId_ = 0;
   bool isOwn_ = false;                               ///< the transaction has inserted the segment's rows
   bool keepKeys_ = false;                            ///< some of the marked rows of segment_ keep their keys
   LockStrength strength_ = LockStrength::Update;     ///< of the locks taken
   std::vector<uint32_t> marked_, shadows_;           ///< rows of segment_
   std::map<SegmentId, std::vector<uint32_t>> moved_; ///< marked rows by the segments they are in now
   std::vector<RowShares::Place> shared_;
   std::vector<Hashes> hashes_; ///< of rows_, by number of the key - 1; made when they are asked for
};

} // namespace ouzel::storage
