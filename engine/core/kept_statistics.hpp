#pragma once
#include <map>
#include <optional>

#include "catalog/pg_catalog/virtual_table.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::engine {

/// The statistics that a transaction has read and reads again as they were: each of them when the setting
/// stats_fetch_consistency is `cache`; with `snapshot` all stay as they were when one was first read. Thread-safe.
class KeptStatistics {
public:
   using State = catalog::SystemState;
   struct Numbers {
      std::map<catalog::StorageId, State::TableUse> tables;
      std::map<Oid, State::DatabaseUse> databases;
      std::map<Oid, std::optional<State::FunctionUse>> functions;
   };

   /// What is kept of `part` about `key`, or else what `read` returns, which is kept from now on. With `takeAll`, which
   /// reads everything, that is done first if nothing is kept. What another transaction has read is forgotten.
   template <typename Key, typename Value, typename Read, typename TakeAll>
   Value value(uint64_t transaction, std::map<Key, Value> Numbers::*part, Key key, const Read& read,
               const TakeAll* takeAll, int64_t now) {
      const MutexLock lock(mutex_);
      if (transaction_ != transaction) forget(transaction);
      if (takeAll && !takenAt_) {
         numbers_ = (*takeAll)();
         takenAt_ = now;
      }
      auto& kept = numbers_.*part;
      if (const auto found = kept.find(key); found != kept.end()) return found->second;
      return kept.emplace(key, read()).first->second;
   }
   /// When everything was read, in microseconds since 2000-01-01 UTC; empty: it was not, in this transaction.
   std::optional<int64_t> takenAt(uint64_t transaction) const {
      const MutexLock lock(mutex_);
      return transaction_ == transaction ? takenAt_ : std::nullopt;
   }
   void clear() {
      const MutexLock lock(mutex_);
      forget(transaction_);
   }

private:
   void forget(uint64_t transaction) REQUIRES(mutex_) {
      transaction_ = transaction;
      takenAt_.reset();
      numbers_ = {};
   }

   mutable Mutex mutex_;
   uint64_t transaction_ GUARDED_BY(mutex_) = 0; ///< TransactionContext::number()
   std::optional<int64_t> takenAt_ GUARDED_BY(mutex_);
   Numbers numbers_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
