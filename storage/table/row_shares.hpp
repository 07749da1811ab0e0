#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/table/segment.hpp"
#include "storage/version/lock_strength.hpp"

namespace ouzel::storage {

/// The locks KeyShare and Share on the rows of one table; several transactions may hold those of a row. A lock of one
/// transaction alone is the row's mark (DeleteMarks).
///
/// An UPDATE that keeps the keys goes on beside a KeyShare and gives the row another id. So a KeyShare is on the hash
/// of a key, which finds the new version, too: the row's, or that of another row with this hash, which waits without
/// need. Rows without a key, or with a NULL in it, and Share, are locked by their ids; no other transaction can then
/// update the row.
///
/// A transaction may update a row, keep its key, and then delete the new version or lock it for itself alone. The mark
/// of the old version still lets others share it. So the transaction claims its own row here: a key of a claimed row is
/// not shared by the mark of the transaction that has claimed it.
///
/// Who shares a row and who marks it meet in this way: the one adds its share and then looks at the mark, with the
/// mutex held; the other sets its mark and then asks for shares. All of these steps are sequentially consistent, so
/// that one of them finds the other, and never both.
///
/// Memory: each lock and each claim is charged before it is made; the calls that make one throw 53200.
///
/// Threads: all.
class RowShares {
public:
   explicit RowShares(Reservation& memory) : memory_(memory) {}
   ~RowShares();
   RowShares(const RowShares&) = delete;
   RowShares& operator=(const RowShares&) = delete;

   /// What is shared.
   struct Place {
      uint32_t key = 0;   ///< number of the key's columns from keyOf(); 0: `value` is a row id
      uint64_t value = 0; ///< the hash of the key
      bool operator==(const Place&) const = default;
   };

   /// Whether nobody shares a row. The only cost of a table without shares.
   bool isEmpty() const { return count_.load() == 0; }
   /// A number for storage columns that are a key, from 1 on.
   uint32_t keyOf(const std::vector<uint32_t>& columns);
   uint32_t keyCount() const; ///< the largest number of a key
   std::vector<uint32_t> key(uint32_t number) const;

   /// Adds a lock if `mayShare()`, called while it is there, lets it; else takes it back. `mayShare` returns the open
   /// transaction whose mark lets the row be shared, 0: there is no mark, or nothing: it may not. `isNew`: the
   /// transaction has not held the lock.
   template <typename MayShare>
   bool add(const Place& place, TransactionId transaction, LockStrength strength, bool& isNew, MayShare mayShare) {
      memory_.grow(lockBytes); // may wait: not with the mutex
      const MutexLock lock(mutex_);
      isNew = insert(place, transaction, strength);
      if (!isNew) memory_.shrink(lockBytes);
      const std::optional<TransactionId> updater = mayShare();
      if (updater && !(*updater != 0 && isClaimed(*updater, place))) return true;
      if (isNew) erase(place, transaction, strength);
      return false;
   }
   /// A mark is in the way of a lock at `place`. While another transaction holds a lock there that the mark conflicts
   /// with, who has set it is about to find that lock and to take the mark back: waits a moment. False: the mark stays,
   /// or it has waited long enough. `looks`: 0 at first.
   bool lookAgain(const Place& place, TransactionId marker, LockStrength ofMark, uint32_t& looks) const;
   void remove(const Place& place, TransactionId transaction, LockStrength strength);

   /// What is found of other transactions' locks.
   struct Found {
      TransactionId holder = 0; ///< one whose lock conflicts; 0: there is none
      bool isShared = false;    ///< the asking transaction has a lock, too
   };
   /// Looks for locks at `place` that conflict with `wanted` and that are not of `transaction`.
   void find(const Place& place, TransactionId transaction, LockStrength wanted, Found& found) const;
   /// Whether a row of the segment is locked by its id.
   bool hasRowsOf(SegmentId segment) const;

   using Definitions = std::shared_ptr<const std::vector<ColumnDefinition>>;
   /// Claims a row that `transaction` has inserted. The claim comes before the look for the locks of others.
   void claim(TransactionId transaction, const SegmentPtr& segment, uint32_t row, uint32_t command,
              const Definitions& definitions);
   /// Takes the claim made last of the row back.
   void unclaim(TransactionId transaction, SegmentId segment, uint32_t row);
   /// Takes back the claims of commands from `command` on. REQUIRES: the rows are still there.
   void unclaimSince(TransactionId transaction, uint32_t command);
   bool hasClaims(TransactionId transaction) const;
   /// Whether the transaction has claimed a row with the key.
   bool hasClaimed(TransactionId transaction, const Place& place) {
      const MutexLock lock(mutex_);
      return isClaimed(transaction, place);
   }

private:
   struct Lock {
      TransactionId transaction;
      LockStrength strength;
      bool operator==(const Lock&) const = default;
   };
   struct Hash {
      size_t operator()(const Place& place) const { return (place.value ^ place.key) * 0x9e3779b97f4a7c15; }
   };
   struct Claim {
      SegmentPtr segment;
      uint32_t row, command;
   };
   struct Claims {
      std::vector<Claim> rows;
      Definitions definitions;
      struct Hashes {
         size_t rowCount = 0;
         std::unordered_set<uint64_t> all; ///< of the first `rowCount` rows
      };
      std::vector<Hashes> ofKey; ///< by number of the key - 1; made when they are asked for
   };
   /// What a lock takes: its node and bucket, and the transaction's note of it.
   static constexpr size_t lockBytes = sizeof(Place) + sizeof(Lock) + 96;
   /// What a claim takes: itself, and the hash of a key.
   static constexpr size_t claimBytes = sizeof(Claim) + 64;
   static TransactionId claimant(TransactionId transaction) { return transaction & 0x7fffffff; } ///< as in marks
   bool isClaimed(TransactionId updater, const Place& place) REQUIRES(mutex_);
   bool insert(const Place& place, TransactionId transaction, LockStrength strength) REQUIRES(mutex_);
   void erase(const Place& place, TransactionId transaction, LockStrength strength) REQUIRES(mutex_);

   Reservation& memory_;
   std::atomic<size_t> count_{0}; ///< of locks_
   mutable Mutex mutex_;          ///< guards the members below
   std::vector<std::vector<uint32_t>> keys_ GUARDED_BY(mutex_);
   std::unordered_multimap<Place, Lock, Hash> locks_ GUARDED_BY(mutex_);
   std::unordered_map<SegmentId, size_t> rowLocks_ GUARDED_BY(mutex_); ///< how many locks by row id a segment has
   std::unordered_map<TransactionId, Claims> claims_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
