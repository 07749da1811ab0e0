#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/cache/disk_readers.hpp"
#include "io/cache/fetches.hpp"
#include "io/cache/object_cache.hpp"
#include "io/object_store/object_store.hpp"
#include "io/object_store/read_tally.hpp"

namespace ouzel::io {

/// What all readers of a store share.
struct CacheParts {
   explicit CacheParts(CacheOptions options) : cache(std::move(options)) {}
   ObjectCache cache;
   Fetches fetches;
   DiskReaders disk; // ends before what its jobs use
};

/// An object that is read through the cache; shared by its reader and the reads that it has started.
struct CachedObject {
   CacheParts& parts; ///< the store's
   ObjectKey key;
   std::unique_ptr<ObjectReader> inner;
};

/// One asynchronous read: pieces from the disk, pieces fetched by this read, pieces fetched by others. It ends when
/// each piece has ended, or is cancelled.
///
///  1. expect() comes before what it expects can end; pieces_ reaches zero once.
///  2. After cancel() has marked the read, done_ is not called and nothing is begun; cancel() then waits for everything
///     that may still touch the target: jobs of the disk, requests, copies by others.
///  3. No mutex is held while others are called back or the inner reader is called.
class CachedRead : public std::enable_shared_from_this<CachedRead> {
public:
   using Done = std::function<void(std::exception_ptr)>;
   CachedRead(std::shared_ptr<const CachedObject> object, Done done)
      : parts_(object->parts), tally_(ReadTallyScope::current()), object_(std::move(object)), done_(std::move(done)) {}

   /// Begin. False: it has ended already.
   bool start(uint64_t offset, uint64_t size, char* target);
   /// As PendingRead::cancel.
   void cancel() noexcept;
   void expect();
   /// A piece has ended.
   void end(std::exception_ptr error);
   /// Whoever fetched bytes for this read has given up: fetch them.
   void fetchAlone(uint64_t begin, uint64_t end, char* target) noexcept;

private:
   void readPiece(const ObjectCache::Piece& piece, char* target) noexcept;
   void begin(const std::shared_ptr<Fetch>& fetch) noexcept;
   void land(Fetch& fetch, const std::exception_ptr& error) noexcept;

   struct Own {
      std::shared_ptr<Fetch> fetch;
      std::unique_ptr<PendingRead> pending; ///< may be null
   };
   // PROPERTIES
   CacheParts& parts_;                      ///< the store's
   const std::shared_ptr<ReadTally> tally_; ///< may be null
   // Until done_ is called: whoever calls it may be a thread of the inner store, which must not be the last to hold it.
   std::shared_ptr<const CachedObject> object_;
   Done done_;

   Mutex mutex_; ///< guards what follows
   CondVar changed_;
   size_t pieces_ GUARDED_BY(mutex_) = 1; ///< that have not ended; start() is one
   size_t beginning_ GUARDED_BY(mutex_) = 0;
   bool isCancelled_ GUARDED_BY(mutex_) = false;
   bool isTelling_ GUARDED_BY(mutex_) = false;
   bool isTold_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
   std::vector<Own> own_ GUARDED_BY(mutex_);
   std::vector<std::shared_ptr<Fetch>> joined_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
