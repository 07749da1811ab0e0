#pragma once
#include <atomic>
#include <cstdint>
#include <list>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::storage {

/// Scans that look rows up by the values of some columns, and the rows that they read.
struct LookupUse {
   explicit LookupUse(std::vector<uint32_t> keyColumns) : columns(std::move(keyColumns)) {}
   const std::vector<uint32_t> columns; ///< storage columns; empty: keys are computed
   std::atomic<uint64_t> scans{0}, rows{0};
};

/// What statements have done with a table since the server has started, the table got its storage, or reset(). Workers
/// count per batch or scan. Thread-safe.
struct TableUse {
   std::atomic<uint64_t> scans{0}, rowsScanned{0}; ///< of all its rows; rows that were read, whatever filters left
   std::atomic<uint64_t> inserted{0}, updated{0}, deleted{0};
   std::atomic<uint64_t> modified{0}; ///< rows written since the last ANALYZE
   std::atomic<uint64_t> analyses{0};
   std::atomic<int64_t> analyzedAt{0}; ///< microseconds since 2000-01-01 UTC; 0: not yet

   void wrote(uint64_t insertedRows, uint64_t updatedRows, uint64_t deletedRows) {
      inserted.fetch_add(insertedRows, std::memory_order_relaxed);
      updated.fetch_add(updatedRows, std::memory_order_relaxed);
      deleted.fetch_add(deletedRows, std::memory_order_relaxed);
      modified.fetch_add(insertedRows + updatedRows + deletedRows, std::memory_order_relaxed);
   }

   /// The lookups by these columns. Valid as long as the table.
   LookupUse& lookup(const std::vector<uint32_t>& columns) {
      const MutexLock lock(mutex_);
      for (LookupUse& use : lookups_)
         if (use.columns == columns) return use;
      return lookups_.emplace_back(columns);
   }
   template <typename Body>
   void forEachLookup(Body&& body) const {
      const MutexLock lock(mutex_);
      for (const LookupUse& use : lookups_)
         body(use);
   }

   void reset() {
      for (auto* counter : {&scans, &rowsScanned, &inserted, &updated, &deleted, &modified, &analyses})
         counter->store(0, std::memory_order_relaxed);
      analyzedAt.store(0, std::memory_order_relaxed);
      const MutexLock lock(mutex_);
      for (LookupUse& use : lookups_)
         use.scans = use.rows = 0;
   }

private:
   mutable Mutex mutex_;
   std::list<LookupUse> lookups_ GUARDED_BY(mutex_); ///< as many as there are sets of columns
};

} // namespace ouzel::storage
