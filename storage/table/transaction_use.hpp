#pragma once
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/base/ids.hpp"
#include "storage/base/table_use.hpp"

namespace ouzel::storage {

/// What one transaction does with relations. Their own counters take it when the transaction ends. Thread-safe.
class TransactionUse {
public:
   /// The transaction's counters of the relation that `total` counts; made on first use.
   std::shared_ptr<TableUse> of(const std::shared_ptr<TableUse>& total) {
      const MutexLock lock(mutex_);
      for (const Entry& entry : entries_)
         if (entry.total == total) return entry.own;
      return entries_.emplace_back(Entry{total, std::make_shared<TableUse>()}).own;
   }
   /// Null: the transaction has not used the relation.
   std::shared_ptr<const TableUse> find(const TableUse& total) const {
      const MutexLock lock(mutex_);
      for (const Entry& entry : entries_)
         if (entry.total.get() == &total) return entry.own;
      return nullptr;
   }
   /// TRUNCATE has given the relation the storage `fresh`: rows that were written before count no more, as in
   /// PostgreSQL.
   void truncate(StorageId fresh, const std::shared_ptr<TableUse>& total) {
      const auto own = of(total);
      const MutexLock lock(mutex_);
      truncated_.push_back({fresh, own, own->exchangeWritten({})});
   }
   /// The storage is taken back. If it came by TRUNCATE, the rows written before that count again, and none since.
   void takeBack(StorageId fresh) {
      const MutexLock lock(mutex_);
      for (const Truncated& one : truncated_)
         if (one.fresh == fresh) one.own->exchangeWritten(one.before);
   }
   void end(bool isCommitted) {
      const MutexLock lock(mutex_);
      for (const Entry& entry : entries_)
         entry.total->add(*entry.own, isCommitted);
      entries_.clear();
      truncated_.clear();
   }

private:
   struct Entry {
      std::shared_ptr<TableUse> total, own;
   };
   struct Truncated {
      StorageId fresh;
      std::shared_ptr<TableUse> own;
      TableUse::Written before;
   };
   mutable Mutex mutex_;
   std::vector<Truncated> truncated_ GUARDED_BY(mutex_);
   std::vector<Entry> entries_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
