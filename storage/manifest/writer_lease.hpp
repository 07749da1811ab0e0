#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/sync/mutex.hpp"
#include "common/thread/repeating_task.hpp"
#include "io/object_store/object_store.hpp"

// The lease of the writer: who may write to a database. The store holds a chain of small objects, writer/<16 hex digits
// of ~number>. The newest object sorts first; it names the writer, its epoch, and the duration of its lease. To renew,
// to release and to take over are the same step: put the next number if-absent, which only one of several processes can
// do. A writer whose next number another process has taken is fenced out. Only the newest object is kept. After a put
// the writer checks that its object is the newest: a number that was used and removed long ago could be put again.
//
// Clocks of two machines are never compared. A writer counts its lease from before the put that renewed it. A process
// that wants to take over watches the chain for the duration of a lease and a tenth more, and claims when the chain has
// not grown.

namespace ouzel::storage {

/// A process that writes to the database, or has written to it.
struct WriterIdentity {
   uint64_t id = 0; ///< random; identifies this lease
   std::string host;
   std::string machine;      ///< survives a reboot; empty: unknown
   std::string boot;         ///< of the running kernel; empty: unknown
   std::string pidNamespace; ///< in which the process id is valid
   int64_t processId = 0;
   uint64_t startTicks = 0; ///< tells processes with the same id apart

   static WriterIdentity ofThisProcess();
};

/// One object of the chain.
struct LeaseEntry {
   uint64_t number = 0;
   uint64_t epoch = 0;
   WriterIdentity holder;
   int64_t durationMs = 0;
   bool isReleased = false; ///< its holder has closed the database

   std::string serialize() const;
   static LeaseEntry deserialize(std::string_view bytes);
   static std::string objectName(uint64_t number);
   /// The newest object of the chain; empty when the database never had a writer. Throws XX001.
   static std::optional<LeaseEntry> newest(io::ObjectStore& store);
};

struct LeaseOptions {
   int64_t durationMs = 10'000;
   bool takesOver = false;             ///< wait for the lease of a holder that may be alive, on any machine
   bool renewsItself = true;           ///< a thread renews at a third of the duration
   std::function<int64_t()> now;       ///< nanoseconds; empty: bootNanos
   std::function<void(int64_t)> sleep; ///< nanoseconds; empty: sleep_for
   std::function<void(const std::string&)> onFenced; ///< called once, from any thread; must not wait
};

/// The right to write to a database, from claim to release. Thread-safe. The destructor stops renewing but does not
/// release: the store is then as after a crash.
///
///    (claimed) ──> valid ──time passes──> expired ──renew(), require(), confirm()──> valid
///                    └──release()──> released
///
/// When another process puts the next number, the lease is fenced for ever, whether valid or expired.
class WriterLease {
public:
   /// Claim the next epoch, above `epochBefore`. The state of the holder decides:
   ///  - released, or a process of this machine that has ended: claimed at once;
   ///  - a process of this machine whose state cannot be found out: claimed when its lease has expired;
   ///  - any other: only with options.takesOver, when its lease has expired.
   /// Throws 55006 when another process has the lease.
   WriterLease(io::ObjectStore& store, LeaseOptions options, uint64_t epochBefore);
   ~WriterLease();

   uint64_t epoch() const { return epoch_; }
   /// The holder before may not know yet that it is fenced out, and may still write to files and objects that it has
   /// open.
   bool mayPredecessorLive() const { return mayPredecessorLive_; }

   /// Return when the lease is known to be valid: at once while it has not expired, otherwise after renewing it. Throws
   /// 25006 when another server has claimed the database, or the store's error when renewing fails.
   void require();
   /// As require(), for commits that cannot be undone: renews until it succeeds or the lease is fenced. False: fenced
   /// out.
   [[nodiscard]] bool confirm();
   bool isFenced() const { return isFenced_.load(); }
   /// Fence this writer: a put if-absent has shown that another server writes.
   void fence();
   /// Put the next object of the chain now. Throws the store's errors.
   void renew();
   /// Stop the thread that renews: in tests, as if the process had stopped, and before release().
   void stopRenewing() { renewals_.stop(); }
   /// Mark the lease as released, so that the next writer claims at once. REQUIRES: this process writes nothing more.
   void release();
   /// Throws 08007, for a commit in this server's log: the server that took over may have read the commit, or not.
   [[noreturn]] static void throwTakenOver();

private:
   void claim(uint64_t epochBefore);
   /// Return the newest entry when `seen` has expired or was released. Throws 55006 when it was renewed.
   LeaseEntry watch(LeaseEntry seen);
   bool isTime() const { return now_() < validUntil_.load(); }
   /// Put `next`, or a higher number, as the newest entry. False: the newest entry is of another process.
   [[nodiscard]] bool put(LeaseEntry next) REQUIRES(mutex_);
   void removeOlder(uint64_t newest);
   [[noreturn]] void throwFenced() const;

   // PROPERTIES
   io::ObjectStore& store_;
   const LeaseOptions options_;
   const std::function<int64_t()> now_;
   const std::function<void(int64_t)> sleep_;
   bool mayPredecessorLive_ = false;
   uint64_t holderId_ = 0; ///< the random id of this lease
   uint64_t epoch_ = 0;
   // STATE
   Mutex mutex_;
   LeaseEntry own_ GUARDED_BY(mutex_); ///< the newest entry known to be of this lease
   std::atomic<int64_t> validUntil_{0};
   std::atomic<bool> isFenced_{false};
   RepeatingTask renewals_;
};

} // namespace ouzel::storage
