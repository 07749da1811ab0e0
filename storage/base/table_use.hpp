#pragma once
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::storage {

using UseCounter = std::atomic<uint64_t>;

/// Scans that look rows up by the values of some columns, and the rows that they read.
struct LookupUse {
   explicit LookupUse(std::vector<uint32_t> keyColumns) : columns(std::move(keyColumns)) {}
   const std::vector<uint32_t> columns; ///< storage columns; empty: keys are computed
   UseCounter scans{0}, rows{0};
};

/// What statements have done with a relation: in one transaction, or in all that have ended since the server has
/// started, the relation was made, or reset(). Workers count per batch, page or scan. Thread-safe.
struct TableUse {
   UseCounter scans{0}, rowsScanned{0}; ///< of all its rows; rows that were read, whatever filters left
   UseCounter inserted{0}, updated{0}, deleted{0};
   UseCounter modified{0};                     ///< rows written since the last ANALYZE
   UseCounter blocksFound{0}, blocksLoaded{0}; ///< pages of blocks, and row groups in memory, which count as found
   UseCounter analyses{0};
   std::atomic<int64_t> analyzedAt{0}; ///< microseconds since 2000-01-01 UTC; 0: not yet

   void wrote(uint64_t insertedRows, uint64_t updatedRows, uint64_t deletedRows) {
      inserted.fetch_add(insertedRows, std::memory_order_relaxed);
      updated.fetch_add(updatedRows, std::memory_order_relaxed);
      deleted.fetch_add(deletedRows, std::memory_order_relaxed);
      modified.fetch_add(insertedRows + updatedRows + deletedRows, std::memory_order_relaxed);
   }

   struct Written {
      uint64_t inserted = 0, updated = 0, deleted = 0, modified = 0;
   };
   /// Puts other counts of written rows in the place of these, which it returns.
   Written exchangeWritten(const Written& other) {
      return {inserted.exchange(other.inserted), updated.exchange(other.updated), deleted.exchange(other.deleted),
              modified.exchange(other.modified)};
   }

   /// The lookups by these columns. Valid as long as this.
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

   /// Adds what a transaction has done. Rows that it has written and taken back are not modified.
   void add(const TableUse& done, bool isCommitted) {
      const auto addTo = [](UseCounter& sum, const UseCounter& more) {
         if (const uint64_t count = more.load(std::memory_order_relaxed); count > 0)
            sum.fetch_add(count, std::memory_order_relaxed);
      };
      addTo(scans, done.scans);
      addTo(rowsScanned, done.rowsScanned);
      addTo(inserted, done.inserted);
      addTo(updated, done.updated);
      addTo(deleted, done.deleted);
      if (isCommitted) addTo(modified, done.modified);
      addTo(blocksFound, done.blocksFound);
      addTo(blocksLoaded, done.blocksLoaded);
      done.forEachLookup([&](const LookupUse& use) {
         LookupUse& sum = lookup(use.columns);
         addTo(sum.scans, use.scans);
         addTo(sum.rows, use.rows);
      });
   }

   void reset() {
      for (UseCounter* counter :
           {&scans, &rowsScanned, &inserted, &updated, &deleted, &modified, &blocksFound, &blocksLoaded, &analyses})
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
