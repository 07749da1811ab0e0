#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"

// Locks of every kind in one table, with PostgreSQL's modes, conflicts and deadlock reports. All waits, for locks of
// any kind, are edges of one waits-for graph (lock_graph.cpp).

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
   Transaction, ///< object = its id (31 bits, as in delete marks); held by itself from first write to end
   Row,         ///< object = storage id, detail = row id: held by those who wait for the row and are next to get it
   Key,         ///< object = OID of an index, detail = hash of a key
   Advisory,    ///< object = database << 2, and 1: detail is a bigint; 2: detail is two integers
   Database,    ///< object = OID; held while sessions begin in the database, and alone by who drops or renames it
   LargeObject, ///< object = OID of the database, detail = its own; held by who writes it
};

struct LockTag {
   LockKind kind;
   uint64_t object = 0, detail = 0;
   bool operator==(const LockTag&) const = default;

   static LockTag relation(Oid oid) { return {LockKind::Relation, static_cast<uint64_t>(oid), 0}; }
   static LockTag transaction(uint64_t id) { return {LockKind::Transaction, id & 0x7fffffff, 0}; }
   static LockTag row(uint64_t storage, uint64_t row) { return {LockKind::Row, storage, row}; }
   static LockTag database(Oid oid) { return {LockKind::Database, static_cast<uint64_t>(oid), 0}; }
   static LockTag advisory(Oid database, bool isPair, uint64_t key) {
      return {LockKind::Advisory, uint64_t{database} << 2 | (isPair ? 2 : 1), key};
   }
   static LockTag largeObject(Oid database, Oid oid) { return {LockKind::LargeObject, database, oid}; }
   static LockTag key(Oid index, uint64_t hash) { return {LockKind::Key, static_cast<uint64_t>(index), hash}; }
};

/// How long and how to wait for a lock.
struct LockWait {
   int64_t millisMax = 0;                              ///< lock_timeout; 0: for ever
   int64_t deadlockMillis = 1000;                      ///< deadlock_timeout: then the waiter looks for a cycle
   bool noWait = false;                                ///< return false instead of waiting
   const std::function<void()>* interrupted = nullptr; ///< called before waiting and after LockOwner::interrupt()
   bool isLogged = false; ///< log_lock_waits: a wait longer than deadlockMillis is told to the log
};

class LockOwner;

/// All locks of a database. Thread-safe; several workers may take locks for one owner at once.
///
///    Partition (32, chosen by tag)         LockOwner (one per session)
///      mutex                                 mutex_
///      locks: tag -> Lock                    held_: stores the Held entries of this owner
///                    holders ------------->    Held: the modes of one owner on one lock
///                    queue --------------->  waiters_: Waiter, on the stack of a waiting thread
///
/// A partition's mutex guards its locks, their holders and queues, and is held for some tens of nanoseconds; an owner's
/// mutex guards its lists. An owner lists its locks, so that releasing all of them costs no search. Order of mutexes:
/// partitions by number, then an owner's, then a waiter's.
///
/// Waiters queue first come, first served. The thread that releases a lock grants it to the waiters that can have it
/// and wakes exactly those. Invariant: two owners never hold conflicting modes of a lock; the exception is
/// wakeWaiters().
class LockManager {
public:
   /// The text of the statement that a session runs, for the log's report of a deadlock. Any thread.
   using StatementOf = std::function<std::string(int32_t processId)>;

   /// Is told of each deadlock, with the database of the owner that gives up. Any thread.
   using OnDeadlock = std::function<void(Oid database)>;

   explicit LockManager(StatementOf statementOf = {}, OnDeadlock onDeadlock = {});
   ~LockManager();
   LockManager(const LockManager&) = delete;
   LockManager& operator=(const LockManager&) = delete;

   /// Wait until `owner` holds `mode`; the lock stays until releaseAll(). False: `noWait`, and another owner or waiter
   /// is in the way. Throws 40P01 when waiting closes a cycle, 55P03 when it takes too long, and the errors of
   /// `interrupted`.
   bool acquire(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait);
   /// The same for a lock that outlives transactions; each call needs its own releaseSession().
   bool acquireSession(LockOwner& owner, const LockTag& tag, LockMode mode, const LockWait& wait);
   /// Undo one acquireSession(). False: the owner has no session lock of this tag and mode.
   bool releaseSession(LockOwner& owner, const LockTag& tag, LockMode mode);
   void releaseAllSession(LockOwner& owner);
   /// Return when transaction `id` has ended, at once if it holds no lock on itself.
   void waitForTransaction(LockOwner& owner, uint64_t id, const LockWait& wait);
   /// Wake the waiters for the end of transaction `id`, so that they try their writes again: the transaction has taken
   /// back some of its own. They get the lock on the transaction although its owner keeps it, and release it at once.
   void wakeWaiters(uint64_t id);

   /// Release all locks of the transaction; session locks stay.
   void releaseAll(LockOwner& owner) noexcept { releaseTo(owner, 0); }
   /// Release the locks taken since LockOwner::position() had this value, the newest first.
   void releaseTo(LockOwner& owner, size_t position) noexcept;

   /// The locks of the transaction.
   std::vector<std::pair<LockTag, LockMode>> taken(const LockOwner& owner) const;
   /// Gives the locks of a transaction to another owner; those who wait for them go on waiting.
   void moveTo(LockOwner& from, LockOwner& to);
   /// Release one lock of the transaction before the transaction ends.
   void release(LockOwner& owner, const LockTag& tag, LockMode mode) noexcept;

   struct View {
      LockTag tag;
      int32_t processId;
      Oid database;         ///< of the owner
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
   /// What is reported of a cycle of waits.
   struct Deadlock {
      std::string report;             ///< a line for each wait
      std::vector<int32_t> processes; ///< in the order of the lines
   };
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
   static void grant(Lock& lock, LockOwner& owner, Held* held, LockMode mode, bool forSession);
   static void wakeQueue(Lock& lock);
   static void releaseHeld(Partition& partition, Held& held);
   bool resolveDeadlock(Waiter& waiter, Deadlock& deadlock);
   SqlError deadlockError(Deadlock deadlock) const;
   void logWait(const Waiter& waiter, int64_t startNanos) const;
   static void logAcquired(const Waiter& waiter, int64_t startNanos);

   const StatementOf statementOf_;
   const OnDeadlock onDeadlock_;
   std::unique_ptr<Partition[]> partitions_;
};

/// The lock manager's record of one session: the locks that it holds and waits for. Outlives its locks.
class LockOwner {
public:
   /// `database`: in which the session is.
   explicit LockOwner(int32_t processId, Oid database = invalidOid);
   ~LockOwner();

   int32_t processId() const { return processId_; } ///< 0: of a prepared transaction
   Oid database() const { return database_; }
   /// Wake the threads that wait for a lock on behalf of this owner, so that they call LockWait::interrupted. Any
   /// thread.
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
   using OfRelation = std::pair<uint64_t, LockManager::Held*>; ///< its OID

   /// The entry for a relation, or null.
   LockManager::Held* relation(uint64_t oid) const REQUIRES(mutex_);
   void remember(uint64_t oid, LockManager::Held* held) REQUIRES(mutex_);
   void forget(uint64_t oid) REQUIRES(mutex_);

   const int32_t processId_;
   const Oid database_;
   mutable Mutex mutex_;                                     // guards the members below
   std::deque<LockManager::Held> held_ GUARDED_BY(mutex_);   // addresses stay
   std::vector<LockManager::Held*> free_ GUARDED_BY(mutex_); // unused entries of held_
   std::vector<Taken> taken_ GUARDED_BY(mutex_);             // locks of the transaction in the order of taking
   // Locks on relations by OID: statements take them repeatedly, and thousands for a table with as many partitions. A
   // statement meets the OIDs mostly in their order, so that an insertion seldom moves others.
   std::vector<OfRelation> relations_ GUARDED_BY(mutex_);
   std::vector<LockManager::Held*> session_ GUARDED_BY(mutex_);   // entries with session counts
   std::vector<LockManager::Waiter*> waiters_ GUARDED_BY(mutex_); // one for each worker that waits
};

} // namespace ouzel::engine
