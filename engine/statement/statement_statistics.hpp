#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/hash/hash.hpp"
#include "common/memory/ledger.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"
#include "engine/statement/statement_use.hpp"

// The statistics that pg_stat_statements shows.

namespace ouzel::engine {

/// Whose runs of a statement are counted together.
struct StatementKey {
   Oid role = invalidOid, database = invalidOid;
   uint64_t queryId = 0;
   bool isTopLevel = true; ///< not run by a function

   bool operator==(const StatementKey&) const = default;
};

/// The number and the spread of durations.
class DurationSummary {
public:
   void add(double millis);

   int64_t count() const { return count_; }
   double total() const { return total_; }
   double min() const { return min_; }
   double max() const { return max_; }
   double mean() const { return mean_; }
   double deviation() const; ///< of the population

private:
   int64_t count_ = 0;
   double total_ = 0, min_ = 0, max_ = 0, mean_ = 0;
   double squares_ = 0; ///< of the distances from the mean, summed (Welford 1962)
};

/// Counts what statements of all sessions take, by role, database and query id. A table of a fixed number of entries:
/// when it is full, the statements that were run least give way, those of long ago first. Gone when the server
/// ends. Thread-safe; counting a known statement costs a look-up under a mutex.
class StatementStatistics {
public:
   struct Entry {
      StatementKey key;
      std::shared_ptr<const std::string> text;
      DurationSummary plans, calls;
      uint64_t rows = 0, pagesHit = 0, pagesRead = 0, spillBytesWritten = 0, spillBytesRead = 0;
      double weight = 0; ///< calls, of which older ones count less with each eviction
   };
   struct Info {
      int64_t evictions = 0;
      int64_t resetAt = 0; ///< microseconds since 2000-01-01 UTC
   };

   /// `ledger` is charged for the entries, and outlives this object.
   StatementStatistics(MemoryLedger& ledger, size_t entriesMax);

   /// Counts a run. `makeText` is called if the statement is not known, and returns the text to show. A statement for
   /// which there is no memory is not counted.
   template <typename MakeText>
   void add(const StatementKey& key, const StatementUse& use, MakeText&& makeText) EXCLUDES(mutex_) {
      if (!addKnown(key, use)) addNew(key, use, makeText());
   }
   std::vector<Entry> list() const EXCLUDES(mutex_);
   Info info() const EXCLUDES(mutex_);
   /// Bytes charged for the entries.
   size_t memory() const { return memory_.used(); }
   /// Forgets the statements of this role, database and query id, of which 0 means any.
   void reset(Oid role, Oid database, uint64_t queryId) EXCLUDES(mutex_);

   /// Longer texts are cut.
   static constexpr size_t textBytesMax = size_t{64} << 10;

private:
   struct KeyHash {
      size_t operator()(const StatementKey& key) const {
         return hashCombine(key.queryId, (uint64_t{key.role} << 32 | key.database) + (key.isTopLevel ? 1 : 0));
      }
   };
   using Entries = std::unordered_map<StatementKey, Entry, KeyHash>;

   bool addKnown(const StatementKey& key, const StatementUse& use) EXCLUDES(mutex_);
   void addNew(const StatementKey& key, const StatementUse& use, std::string text) EXCLUDES(mutex_);
   void evict() REQUIRES(mutex_);
   Entries::iterator erase(Entries::iterator entry) REQUIRES(mutex_);

   const size_t entriesMax_;
   mutable Mutex mutex_;
   Reservation memory_;
   Entries entries_ GUARDED_BY(mutex_);
   Info info_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
