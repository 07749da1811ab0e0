#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "catalog/object/objects.hpp"
#include "common/sync/mutex.hpp"
#include "storage/database/database.hpp"

namespace ouzel::engine {

/// What sequences have come to, for all sessions. Values are taken outside transactions and never given back. The log
/// is written ahead by `loggedAhead` values, so that most calls touch memory only; after a crash those are skipped.
/// Thread-safe.
class SequenceValues {
public:
   explicit SequenceValues(storage::Database& storage) : storage_(storage) {}

   /// The next value. Throws 2200H at the end of a sequence that does not cycle.
   int64_t next(const catalog::Relation& sequence);
   void set(Oid sequence, storage::Counter counter);
   /// What `SELECT last_value, is_called FROM sequence` shows.
   storage::Counter current(const catalog::Relation& sequence);
   /// Others count: what is stored may have changed.
   void forget();
   /// Log the values as they are, for a close without gaps.
   void settle();

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
};

/// What currval() and lastval() remember in one session. Thread-safe: workers of one statement share it.
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
