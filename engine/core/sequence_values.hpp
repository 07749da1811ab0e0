#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "catalog/object/objects.hpp"
#include "common/sync/mutex.hpp"
#include "storage/database/database.hpp"

namespace ouzel::engine {

/// The current values of sequences, for all sessions. Values are taken outside transactions and never returned. When
/// the log covers no further value, next() logs the value `loggedAhead` steps ahead, so that most calls only touch
/// memory; after a crash the sequence goes on from the logged value, which leaves a gap. Thread-safe.
class SequenceValues {
public:
   explicit SequenceValues(storage::Database& storage) : storage_(storage) {}

   /// The next value; none while a transaction holds the sequence. Throws 2200H at the end of a sequence that does not
   /// cycle.
   std::optional<int64_t> next(const catalog::Relation& sequence);
   /// False, and nothing is set, while a transaction holds the sequence.
   bool set(Oid sequence, storage::Counter counter);
   /// A transaction has restarted the sequence: until it ends, nobody draws from the values here.
   void hold(Oid sequence);
   void release(Oid sequence);
   /// The holder has committed; release() follows.
   void setHeld(Oid sequence, storage::Counter counter);
   /// Log the present value: the logged one is ahead by steps of an increment that has changed.
   void logAnew(const catalog::Relation& sequence);
   /// The counter that `SELECT last_value, is_called FROM sequence` shows.
   storage::Counter current(const catalog::Relation& sequence);
   /// Drop the values in memory. For a read-only server, after it has followed the writer's counters.
   void forget();
   /// Log the current values, so that a clean close leaves no gaps.
   void logExactValues();

private:
   static constexpr int64_t loggedAhead = 32;
   struct State {
      storage::Counter counter;
      int64_t ahead = 0; ///< how many further values the log already covers
   };
   State& stateOf(const catalog::Relation& sequence) REQUIRES(mutex_);

   storage::Database& storage_;
   Mutex mutex_;
   std::map<Oid, State> states_ GUARDED_BY(mutex_);
   std::set<Oid> held_ GUARDED_BY(mutex_);
};

/// Counters that RESTART has set in a transaction that may still be rolled back. Until the transaction ends, only its
/// own session draws from them, and the others wait for the lock that RESTART has taken. Thread-safe: workers of one
/// statement share it.
class RestartedSequences {
public:
   using Counters = std::map<Oid, storage::Counter>;

   explicit RestartedSequences(SequenceValues& shared) : shared_(shared) {}
   /// REQUIRES: the transaction has locked the sequence (AccessExclusive).
   void restart(Oid sequence, storage::Counter counter);
   /// As SequenceValues. Empty or false: the transaction has not restarted the sequence.
   std::optional<int64_t> next(const catalog::Relation& sequence);
   bool set(Oid sequence, storage::Counter counter);
   std::optional<storage::Counter> current(Oid sequence) const;

   Counters counters() const;
   /// Takes back what has changed since counters() returned these.
   void restore(const Counters& counters) noexcept;

private:
   SequenceValues& shared_;
   mutable Mutex mutex_;
   Counters counters_ GUARDED_BY(mutex_);
};

/// The values that currval() and lastval() of one session return. Thread-safe: workers of one statement share it.
class SessionSequences {
public:
   void remember(Oid sequence, int64_t value);
   /// setval() counts for currval(), not for lastval().
   void rememberSet(Oid sequence, int64_t value);
   std::optional<int64_t> last(Oid sequence) const;
   struct Last {
      Oid sequence;
      int64_t value;
   };
   std::optional<Last> last() const;
   void clear(); ///< DISCARD SEQUENCES

private:
   mutable Mutex mutex_;
   std::map<Oid, int64_t> values_ GUARDED_BY(mutex_);
   Oid last_ GUARDED_BY(mutex_) = invalidOid;
};

} // namespace ouzel::engine
