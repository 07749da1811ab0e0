#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"

// How far the running COPY commands have come, for pg_stat_progress_copy.

namespace ouzel::engine {

/// What does not change while a COPY runs.
struct CopyDescription {
   int32_t processId = 0;
   Oid relation = invalidOid; ///< invalidOid: COPY of a query
   bool isFrom = false, isFile = false, hasCondition = false;
   uint64_t bytesTotal = 0; ///< of the file that is read; 0: unknown
};

/// The counters of one COPY. Its session and workers count per chunk or batch, other sessions read.
struct CopyProgress {
   CopyDescription description;
   std::atomic<uint64_t> bytes{0};
   std::atomic<uint64_t> tuples{0}; ///< written
   std::atomic<uint64_t> parsed{
       0}; ///< of the input; those that WHERE keeps are written, at most a batch per worker later
   uint64_t excluded() const {
      const uint64_t written = tuples, read = parsed;
      return description.hasCondition && read > written ? read - written : 0;
   }
};

/// The COPY commands of a database. Thread-safe.
class CopyProgressList {
public:
   /// Lists a COPY as long as it lives.
   class Entry {
   public:
      Entry(CopyProgressList& list, const CopyDescription& description) : list_(list) {
         progress.description = description;
         const MutexLock lock(list_.mutex_);
         list_.running_.push_back(&progress);
      }
      ~Entry() {
         const MutexLock lock(list_.mutex_);
         std::erase(list_.running_, &progress);
      }
      Entry(const Entry&) = delete;
      Entry& operator=(const Entry&) = delete;

      CopyProgress progress;

   private:
      CopyProgressList& list_;
   };

   void forEach(const std::function<void(const CopyProgress&)>& visit) const {
      const MutexLock lock(mutex_);
      for (const CopyProgress* progress : running_)
         visit(*progress);
   }

private:
   mutable Mutex mutex_;
   std::vector<const CopyProgress*> running_ GUARDED_BY(mutex_);
};

} // namespace ouzel::engine
