#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"

// Locks of every kind in one table, with PostgreSQL's modes, conflicts and deadlock reports. Who waits for whom is one
// graph, whatever they wait for.

namespace ouzel::engine {

/// PostgreSQL's eight modes, weakest first.
enum class LockMode : uint8_t {
   AccessShare = 1,      ///< SELECT
   RowShare,             ///< SELECT FOR UPDATE / SHARE
   RowExclusive,         ///< INSERT, UPDATE, DELETE
   ShareUpdateExclusive, ///< maintenance beside writers
   Share,                ///< no writers: CREATE INDEX
   ShareRowExclusive,    ///< no writers but this one
   Exclusive,            ///< readers only
   AccessExclusive,      ///< alone: DROP, ALTER, TRUNCATE
};
constexpr size_t lockModes = 9; ///< array size; 0 is unused

/// "AccessShareLock"
const char* lockModeName(LockMode mode);
bool conflicts(LockMode a, LockMode b);

enum class LockKind : uint8_t {
   Relation,    ///< object = OID
   Transaction, ///< object = its id (31 bits, as delete marks keep it); held by it from its first write to its end
   Row,         ///< object = storage id, detail = row id: the queue of those who wait for the row
   Key,         ///< object = OID of an index, detail = hash of a key
   Advisory,    ///< object = 1: detail is a bigint; 2: detail is two integers
};

struct LockTag {
   LockKind kind;
   uint64_t object = 0, detail = 0;
   bool operator==(const LockTag&) const = default;

   static LockTag relation(Oid oid) { return {LockKind::Relation, static_cast<uint64_t>(oid), 0}; }
   static LockTag transaction(uint64_t id) { return {LockKind::Transaction, id & 0x7fffffff, 0}; }
   static LockTag row(uint64_t storage, uint64_t row) { return {LockKind::Row, storage, row}; }
   static LockTag key(Oid index, uint64_t hash) { return {LockKind::Key, static_cast<uint64_t>(index), hash}; }
};

/// How long and how to wait for a lock.
struct LockWait {
   int64_t millisMax = 0;                              ///< lock_timeout; 0: for ever
   int64_t deadlockMillis = 1000;                      ///< deadlock_timeout: look for a cycle after so long
   bool noWait = false;                                ///< rather return false
   const std::function<void()>* interrupted = nullptr; ///< called before waiting and after LockOwner::interrupt()
};

class LockOwner;

/// All locks of a database. Thread-safe, and so is taking locks for one owner from several workers at once.
///
/// Locks are in 32 partitions by tag, each with a mutex that is held for some tens of nanoseconds; an owner lists what
/// it holds, so that giving all back costs what it holds and no more. Waiters queue first come, first served; whoever
/// gives back a lock wakes exactly those who have it now. Order of mutexes: partitions by number, then an owner's.
class LockManager {
public:
   LockManager();
   ~LockManager();
   LockManager(const LockManager&) = delete;
   LockManager& operator=(const LockManager&) = delete;

   /// Wait until `owner` holds `mode`, until releaseAll(). False: `noWait` and others are in the way. Throws 40P01 when
   /// waiting closes a cycle, 55P03 when it takes too long, and what `interrupted` throws.
   bool acquire(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait);
   /// The same for a lock that outlives transactions; each call is to be undone by releaseSession().
   bool acquireSession(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait);
   /// False: the owner has no such session lock.
   bool releaseSession(LockOwner& owner, const LockTag& tag, LockMode mode);
   void releaseAllSession(LockOwner& owner);
   /// Return when transaction `id` has ended, at once if it holds no lock on itself.
   void waitForTransaction(LockOwner& owner, uint64_t id, const LockWait& wait);
   /// Those who wait for the end of the owner's transaction `id` look again: it has taken back some of its writes.
   void wakeWaiters(uint64_t id);

   /// Give back what the transaction holds; session locks stay.
   void releaseAll(LockOwner& owner) noexcept { releaseTo(owner, 0); }
   /// Give back what was taken since LockOwner::position() had this value.
   void releaseTo(LockOwner& owner, size_t position) noexcept;

   /// Give back one lock early.
   void release(LockOwner& owner, const LockTag& tag, LockMode mode) noexcept;

   struct View {
      LockTag tag;
      int32_t processId;
      uint64_t transaction; ///< of the owner, 0: none that writes
      LockMode mode;
      bool isGranted;
   };
   std::vector<View> list() const;
   /// Sessions that `processId` waits for.
   std::vector<int32_t> blockersOf(int32_t processId) const;

private:
   friend class LockOwner;
   friend class LockGraph;
   struct Lock;
   struct Waiter;
   struct Partition;
   class AllPartitions;
   /// One owner's hold on one lock; guarded by the lock's partition.
   struct Held {
      Lock* lock = nullptr; ///< null: unused
      LockOwner* owner = nullptr;
      Held *previous = nullptr, *next = nullptr; ///< holders of the lock
      uint16_t modes = 0;                        ///< bit per mode the transaction holds
      uint32_t sessionCounts[lockModes] = {};    ///< session locks
      uint16_t allModes() const;
   };
   static constexpr size_t partitionCount = 32; // AllPartitions stays below ThreadSanitizer's 64

   Partition& partitionOf(const LockTag& tag) const;
   bool acquireFor(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait, bool forSession);
   void waitUntilGranted(Waiter& waiter, const LockWait& wait);
   static Held* find(const Lock& lock, const LockOwner& owner);
   static bool isBlocked(const Lock& lock, const Held* own, LockMode mode);
   static bool enqueue(Lock& lock, Waiter& waiter, const Held* own);
   static void grant(Lock& lock, LockOwner& owner, LockMode mode, bool forSession);
   static void wakeQueue(Lock& lock);
   static void releaseHeld(Partition& partition, Held& held);
   bool resolveDeadlock(Waiter& waiter, std::string& report);

   std::unique_ptr<Partition[]> partitions_;
};

/// A session, as the lock manager knows it: what it holds and what it waits for. Outlives its locks.
class LockOwner {
public:
   explicit LockOwner(int32_t processId);
   ~LockOwner();

   int32_t processId() const { return processId_; }
   /// Wakes whatever waits for this owner's locks, to look whether it should give up. Any thread.
   void interrupt() noexcept;
   /// How many locks the transaction has taken, for releaseTo().
   size_t position() const;
   /// Id of the running transaction once it has a lock on itself, else 0. For messages.
   std::atomic<uint64_t> transaction{0};

private:
   friend class LockManager;
   friend class LockGraph;
   struct Taken {
      LockManager::Held* held;
      LockMode mode;
   };

   const int32_t processId_;
   mutable Mutex mutex_;                                     // guards what follows
   std::deque<LockManager::Held> held_ GUARDED_BY(mutex_);   // addresses stay
   std::vector<LockManager::Held*> free_ GUARDED_BY(mutex_); // unused ones among them
   std::vector<Taken> taken_ GUARDED_BY(mutex_);             // in the order they were taken by the transaction
   std::vector<LockManager::Held*>
       relations_ GUARDED_BY(mutex_); // those on relations: statements ask for them again and again
   std::vector<LockManager::Held*> session_ GUARDED_BY(mutex_);   // those with session counts
   std::vector<LockManager::Waiter*> waiters_ GUARDED_BY(mutex_); // one for each worker that waits
};

} // namespace ouzel::engine
