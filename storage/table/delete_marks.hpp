#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/version/snapshot.hpp"

namespace ouzel::storage {

/// Who deleted a row. 0: nobody. Else the commit's timestamp, or, with openBit, the transaction that is about to
/// (31 bits of its id) and the command (31 bits). With lockBit besides the transaction only keeps others from it.
using DeleteWord = uint64_t;

/// Versioned delete marks of one segment. A vector of 2,048 rows takes no memory until one of them is deleted.
///
/// Threads: marking is lock-free per row (the first compare-and-swap wins); reading never waits. Marks of a committing
/// transaction are settled before its timestamp is published, so a snapshot sees all of them or none.
class DeleteMarks {
public:
   static constexpr DeleteWord openBit = DeleteWord{1} << 63;
   static constexpr DeleteWord lockBit = DeleteWord{1} << 31;
   static constexpr uint32_t vectorCount = (1u << rowIdBits) / vectorRows;
   struct VectorMarks {
      std::atomic<DeleteWord> words[vectorRows];
   };
   enum class Outcome : uint8_t {
      Marked,
      Held,     ///< lock() only: the same transaction has locked it before
      Gone,     ///< deleted by the same transaction, or by one the snapshot sees
      Conflict, ///< deleted or locked by another transaction, open or committed after the snapshot
      Moved     ///< the row has another id now, for snapshots from `seen` on
   };

   DeleteMarks() = default;
   ~DeleteMarks();
   DeleteMarks(const DeleteMarks&) = delete;
   DeleteMarks& operator=(const DeleteMarks&) = delete;

   static DeleteWord openWord(TransactionId transaction, uint32_t command) {
      return openBit | (transaction & 0x7fffffff) << 32 | command;
   }
   static bool isOpenBy(DeleteWord word, TransactionId transaction) {
      return (word & openBit) != 0 && ((word >> 32) & 0x7fffffff) == (transaction & 0x7fffffff);
   }
   static DeleteWord lockWord(TransactionId transaction, uint32_t command) {
      return openWord(transaction, command) | lockBit;
   }
   static bool isLock(DeleteWord word) { return (word & (openBit | lockBit)) == (openBit | lockBit); }
   /// 31 bits of the id of the open transaction that set the mark; 0: it is committed.
   static TransactionId holderOf(DeleteWord word) { return (word & openBit) ? word >> 32 & 0x7fffffff : 0; }
   static uint32_t commandOf(DeleteWord word) { return static_cast<uint32_t>(word & ~lockBit); }
   static bool isDeletedFor(DeleteWord word, const Snapshot& snapshot) {
      if ((word & openBit) == 0) return word != 0 && word <= snapshot.commitTimestamp;
      return snapshot.transactionId != 0 && isOpenBy(word, snapshot.transactionId) && (word & lockBit) == 0 &&
             commandOf(word) < snapshot.commandId;
   }

   /// Delete the row, which the transaction may have locked before. `seen`: the mark that was there.
   Outcome mark(uint32_t row, const Snapshot& snapshot, uint32_t command, DeleteWord& seen);
   /// Keep others from deleting or locking the row.
   Outcome lock(uint32_t row, const Snapshot& snapshot, uint32_t command, DeleteWord& seen);
   /// Replace the open mark of `row` by the commit's timestamp, by 0 to take it back, or by a lock.
   void settle(uint32_t row, DeleteWord word);
   DeleteWord word(uint32_t row) const;
   /// Null: no row of the vector was ever deleted.
   const VectorMarks* vector(uint32_t index) const {
      const Slots* slots = slots_.load(std::memory_order_acquire);
      return slots ? slots->vectors[index].load(std::memory_order_acquire) : nullptr;
   }
   /// Rows whose delete is committed, whoever may still see them.
   uint32_t settledCount() const { return settled_.load(std::memory_order_relaxed); }
   bool isEmpty() const { return slots_.load(std::memory_order_acquire) == nullptr; }

   /// Rows are about to get other ids. Whoever marks or locks one waits until endMove(), having taken its mark back:
   /// open marks found after hasOpen() has returned false do not count.
   void beginMove();
   bool hasOpen(uint32_t rows) const;
   /// 0: they stay; else snapshots from this timestamp on, which is published, see them elsewhere.
   void endMove(Timestamp timestamp);

   /// How many of the first `rows` rows are deleted for the snapshot.
   uint32_t count(uint32_t rows, const Snapshot& snapshot) const;
   /// Rows among the first `rows` whose delete is committed up to `timestamp`, ascending.
   void forEachCommitted(uint32_t rows, Timestamp timestamp, const std::function<void(uint32_t)>& body) const;

private:
   struct Slots {
      std::atomic<VectorMarks*> vectors[vectorCount] = {};
   };
   static constexpr Timestamp moving = UINT64_MAX;
   VectorMarks& vectorFor(uint32_t index);
   /// After a mark was set in place of `before`. False: it was taken back. Sequential consistency between marks and
   /// movedAt_ makes sure that either the marker sees the move or the mover the mark.
   bool mayKeep(std::atomic<DeleteWord>& word, DeleteWord before) {
      if (movedAt_.load() == 0) [[likely]]
         return true;
      word.store(before);
      return false;
   }
   /// Wait until no move is under way; returns when the last one happened, 0: never.
   Timestamp awaitMove();

   std::atomic<Slots*> slots_{nullptr};
   std::atomic<uint32_t> settled_{0};
   Mutex slotsMutex_; ///< guards the allocation of what slots_ leads to
   std::atomic<Timestamp> movedAt_{0};
   Mutex moveMutex_; ///< guards the end of a move, so that no waiter misses it
   CondVar moveEnded_;
};

} // namespace ouzel::storage
