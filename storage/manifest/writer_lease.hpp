#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/sync/mutex.hpp"
#include "common/thread/repeating_task.hpp"
#include "io/object_store/object_store.hpp"

// Who may write to a database. The store holds a chain of small objects, writer/<16 hex digits of ~number>; the newest
// sorts first and says who is the writer, in which epoch, and how long its lease lasts. To renew, to release and to
// take over are the same step: put the next number if-absent, which one of several can do. So a writer whose number
// somebody else has taken knows that it is fenced out. Only the newest object is kept; after a put one looks whether
// it is, so that a number used long ago and removed since deceives nobody.
//
// No clocks are compared. A writer counts its lease from before the put that renewed it; who wants to take over watches
// the chain for a whole lease and a bit, and goes on when nothing was added.

namespace ouzel::storage {

/// A process that writes, or wrote.
struct WriterIdentity {
   uint64_t id = 0; ///< random, of this lease
   std::string host;
   std::string machine;      ///< survives a reboot; empty: unknown
   std::string boot;         ///< of the running kernel; empty: unknown
   std::string pidNamespace; ///< where the process id means something
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
   /// Empty when there never was a writer. Throws XX001.
   static std::optional<LeaseEntry> newest(io::ObjectStore& store);
};

struct LeaseOptions {
   int64_t durationMs = 10'000;
   bool takesOver = false;             ///< wait for the lease of a holder that may be alive, elsewhere too
   bool renewsItself = true;           ///< a thread renews at a third of the duration
   std::function<int64_t()> now;       ///< nanoseconds; empty: bootNanos
   std::function<void(int64_t)> sleep; ///< nanoseconds; empty: really
   std::function<void(const std::string&)> onFenced; ///< once, from any thread; must not wait
};

/// The right to write, from claim to release. Thread-safe. The destructor does not release: that is what a crash
/// leaves.
class WriterLease {
public:
   /// Claim the next epoch, above `epochBefore`. A released lease, or that of a process of this machine that is gone,
   /// is claimed at once; one of a process of this machine that cannot be looked for, after it has expired; any other
   /// only when options.takesOver. Throws 55006 when somebody has it.
   WriterLease(io::ObjectStore& store, LeaseOptions options, uint64_t epochBefore);
   ~WriterLease();

   uint64_t epoch() const { return epoch_; }
   /// The holder before may not know yet that it is fenced out, and write to what it has open.
   bool mayPredecessorLive() const { return mayPredecessorLive_; }

   /// Return when the lease is known to be valid: at once while it has not expired, else after renewing it. Throws
   /// 25006 when somebody else has claimed the database, or the store's error when it cannot be renewed now.
   void require();
   /// The same for what cannot be taken back: tries until it is known. False: fenced out.
   [[nodiscard]] bool confirm();
   bool isFenced() const { return isFenced_.load(); }
   /// A put if-absent has shown that somebody else writes.
   void fence();
   /// Put the next object of the chain now. Throws what the store throws.
   void renew();
   /// As if the process had been stopped: for tests, and before release().
   void stopRenewing() { renewals_.stop(); }
   /// Let the next one claim at once. REQUIRES: nothing more is written.
   void release();
   /// 08007, for a commit that is in our log: whoever took over may have read it, or not.
   [[noreturn]] static void throwTakenOver();

private:
   void claim(uint64_t epochBefore);
   /// Returns when `seen` has expired or was released. Throws 55006 when it was renewed.
   LeaseEntry watch(LeaseEntry seen);
   bool isTime() const { return now_() < validUntil_.load(); }
   /// False: somebody else has put one.
   [[nodiscard]] bool put(LeaseEntry next) REQUIRES(mutex_);
   void removeOlder(uint64_t newest);
   [[noreturn]] void throwFenced() const;

   // PROPERTIES
   io::ObjectStore& store_;
   const LeaseOptions options_;
   const std::function<int64_t()> now_;
   const std::function<void(int64_t)> sleep_;
   bool mayPredecessorLive_ = false;
   uint64_t holderId_ = 0; ///< of this process in its entries
   uint64_t epoch_ = 0;
   // STATE
   Mutex mutex_;
   LeaseEntry own_ GUARDED_BY(mutex_); ///< the newest that we know to be ours
   std::atomic<int64_t> validUntil_{0};
   std::atomic<bool> isFenced_{false};
   RepeatingTask renewals_;
};

} // namespace ouzel::storage
