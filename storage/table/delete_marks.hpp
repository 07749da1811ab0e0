#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/version/lock_strength.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::storage {

/// The delete mark of a row.
///    0                    the row is not deleted
///    a timestamp          the commit that deleted the row
///    openBit set          an open transaction deletes the row: 31 bits of its id (from bit 32), 30 bits of its command
///    openBit and lockBit  an open transaction has locked the row, but not deleted it
///    keepsKeyBit          of an open mark: its lock is LockStrength::NoKeyUpdate, else LockStrength::Update
/// Locks that several transactions may hold are in RowShares.
using DeleteWord = uint64_t;

/// Versioned delete marks of the rows of one segment. A vector of 2,048 rows takes no memory until one of its rows is
/// marked.
///
///           mark(), lock()               replaceMark(timestamp)
///    0 ───────────────────────> open ─────────────────────> committed
///      <─────────────────────── open
///           replaceMark(0)
///
/// Threads: marking is lock-free per row (the first compare-and-swap wins); reading never waits. The marks of a
/// committing transaction become timestamps before its own timestamp is published, so a snapshot sees all of them or
/// none.
///
/// A move gives all rows of the segment other ids (compaction): beginMove() makes marking wait, hasOpen() tells whether
/// open transactions have marks, endMove() lets the waiting threads go on.
class DeleteMarks {
public:
   static constexpr DeleteWord openBit = DeleteWord{1} << 63;
   static constexpr DeleteWord lockBit = DeleteWord{1} << 31;
   static constexpr DeleteWord keepsKeyBit = DeleteWord{1} << 30;
   static constexpr uint32_t commandMax = keepsKeyBit - 1;
   static constexpr uint32_t vectorCount = (1u << rowIdBits) / vectorRows;
   struct VectorMarks {
      std::atomic<DeleteWord> words[vectorRows];
   };
   enum class Outcome : uint8_t {
      Marked,
      Held,     ///< lock() and share() only: the same transaction has locked the row before
      Gone,     ///< deleted by the same transaction, or by one that the snapshot sees
      Conflict, ///< deleted or locked by another transaction, open or committed after the snapshot
      Moved     ///< the row has another id now, see MovedRows
   };

   DeleteMarks() = default;
   ~DeleteMarks();
   DeleteMarks(const DeleteMarks&) = delete;
   DeleteMarks& operator=(const DeleteMarks&) = delete;

   /// `strength`: NoKeyUpdate or Update.
   static DeleteWord openWord(TransactionId transaction, uint32_t command, LockStrength strength) {
      return openBit | (transaction & 0x7fffffff) << 32 | command |
             (strength == LockStrength::NoKeyUpdate ? keepsKeyBit : 0);
   }
   static bool isOpenBy(DeleteWord word, TransactionId transaction) {
      return (word & openBit) != 0 && ((word >> 32) & 0x7fffffff) == (transaction & 0x7fffffff);
   }
   static DeleteWord lockWord(TransactionId transaction, uint32_t command, LockStrength strength) {
      return openWord(transaction, command, strength) | lockBit;
   }
   /// Of an open mark.
   static LockStrength strengthOf(DeleteWord word) {
      return (word & keepsKeyBit) != 0 ? LockStrength::NoKeyUpdate : LockStrength::Update;
   }
   static bool isLock(DeleteWord word) { return (word & (openBit | lockBit)) == (openBit | lockBit); }
   /// 31 bits of the id of the open transaction that set the mark; 0: the mark is a timestamp, or none.
   static TransactionId holderOf(DeleteWord word) { return (word & openBit) ? word >> 32 & 0x7fffffff : 0; }
   static uint32_t commandOf(DeleteWord word) { return static_cast<uint32_t>(word & commandMax); }
   static bool isDeletedFor(DeleteWord word, const Snapshot& snapshot) {
      if ((word & openBit) == 0) return word != 0 && word <= snapshot.commitTimestamp;
      return snapshot.transactionId != 0 && isOpenBy(word, snapshot.transactionId) && (word & lockBit) == 0 &&
             commandOf(word) < snapshot.commandId;
   }

   /// Whether the mark leaves the row to snapshots of this time. An open mark does.
   static bool livesAt(DeleteWord word, Timestamp timestamp) {
      return word == 0 || (word & openBit) != 0 || word > timestamp;
   }

   /// Mark the row as deleted; the transaction may have locked it before. `strength`: NoKeyUpdate or Update. `seen`:
   /// the mark that was found, and that a new one has replaced. Waits while a move is under way.
   Outcome mark(uint32_t row, const Snapshot& snapshot, uint32_t command, LockStrength strength, DeleteWord& seen);
   /// Lock the row for the transaction alone. Otherwise as mark().
   Outcome lock(uint32_t row, const Snapshot& snapshot, uint32_t command, LockStrength strength, DeleteWord& seen);
   /// Whether the mark leaves the row to a shared lock (Marked). Sets no mark. Moved: a move is under way or has ended;
   /// awaitMove() tells.
   Outcome share(uint32_t row, const Snapshot& snapshot, LockStrength strength, DeleteWord& seen) const;
   /// Replace the open mark of `row` by the commit's timestamp, by 0 to take it back, or by another open one.
   void replaceMark(uint32_t row, DeleteWord word);
   /// Set the mark of a row that has moved and has no mark here, for the reads of the transaction that has marked it
   /// where it is now.
   void setShadow(uint32_t row, DeleteWord word);
   DeleteWord word(uint32_t row) const;
   /// The marks of a vector; null: no row of the vector was ever marked.
   const VectorMarks* vector(uint32_t index) const {
      const Slots* slots = slots_.load(std::memory_order_acquire);
      return slots ? slots->vectors[index].load(std::memory_order_acquire) : nullptr;
   }
   /// Number of rows whose delete is committed; older snapshots may still see these rows.
   uint32_t committedCount() const { return committed_.load(std::memory_order_relaxed); }
   bool isEmpty() const { return slots_.load(std::memory_order_acquire) == nullptr; }

   /// Begin a move. From here on a thread that marks or locks a row takes its mark back and waits until endMove(). Open
   /// marks found after hasOpen() has returned false are about to be taken back.
   void beginMove();
   bool hasOpen(uint32_t rows) const;
   /// End the move. 0: the rows keep their ids; else snapshots from this published timestamp on see the rows in other
   /// segments.
   void endMove(Timestamp timestamp);
   /// Wait until no move is under way; returns the timestamp of the last move, 0: the rows have not moved.
   Timestamp awaitMove();

   /// How many of the first `rows` rows are deleted for the snapshot.
   uint32_t count(uint32_t rows, const Snapshot& snapshot) const;
   /// Call `body` for the rows among the first `rows` whose delete is committed up to `timestamp`, ascending.
   void forEachCommitted(uint32_t rows, Timestamp timestamp, const std::function<void(uint32_t)>& body) const;

private:
   struct Slots {
      std::atomic<VectorMarks*> vectors[vectorCount] = {};
   };
   static constexpr Timestamp moving = UINT64_MAX;
   VectorMarks& vectorFor(uint32_t index);
   /// Called after a mark was set in place of `before`. False: a move is under way or has ended, and the mark was taken
   /// back. Both sides are sequentially consistent: either the marking thread sees the move, or the moving thread sees
   /// the mark.
   bool mayKeep(std::atomic<DeleteWord>& word, DeleteWord before) {
      if (movedAt_.load() == 0) [[likely]]
         return true;
      word.store(before);
      return false;
   }

   std::atomic<Slots*> slots_{nullptr};
   std::atomic<uint32_t> committed_{0};
   Mutex slotsMutex_; ///< guards the allocation of slots and vectors
   std::atomic<Timestamp> movedAt_{0};
   Mutex moveMutex_; ///< guards the end of a move, so that no waiter misses it
   CondVar moveEnded_;
};

} // namespace ouzel::storage
