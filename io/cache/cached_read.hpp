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

/// Parts of a CachedStore that all its readers share.
struct CacheParts {
   explicit CacheParts(CacheOptions options) : cache(std::move(options)) {}
   ObjectCache cache;
   Fetches fetches;
   DiskReaders disk; // declared last: its jobs use the cache and the fetches
};

/// An object that is read through the cache. Its reader and the reads that the reader started share it.
struct CachedObject {
   CacheParts& parts; ///< the store's
   ObjectKey key;
   std::unique_ptr<ObjectReader> inner;
};

/// One asynchronous read through the cache. The range is cut into pieces: pieces in the cache's file are read by a
/// thread of DiskReaders, pieces that another read is fetching are copied when they arrive, and the other pieces are
/// fetched from the inner store. The read ends when every piece has ended, or when it is cancelled. Thread-safe.
///
///  1. expect() is called before the piece that it announces can end, so pieces_ reaches zero only once.
///  2. After cancel() has marked the read, done_ is not called and no piece begins. cancel() then waits for all
///     that may still write to the target: jobs of the disk's threads, requests of this read, copies by other reads.
///  3. mutex_ is not held while done_, another read or the inner reader is called.
class CachedRead : public std::enable_shared_from_this<CachedRead> {
public:
   using Done = std::function<void(std::exception_ptr)>;
   CachedRead(std::shared_ptr<const CachedObject> object, Done done)
      : parts_(object->parts), tally_(ReadTallyScope::current()), object_(std::move(object)), done_(std::move(done)) {}

   /// Starts all pieces. False: the read has ended already.
   bool start(uint64_t offset, uint64_t size, char* target);
   /// Does what PendingRead::cancel promises.
   void cancel() noexcept;
   void expect();
   /// Reports the end of one piece; null: the piece is in the target.
   void end(std::exception_ptr error);
   /// Fetches [begin, end) by a request of this read, because the read that fetched these bytes was cancelled, or
   /// because the cache's file could not deliver them.
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
   // Null once done_ is called: a thread of the inner store may call done_, and that thread must not hold the last
   // reference, since it cannot destroy its own store's reader.
   std::shared_ptr<const CachedObject> object_;
   Done done_;

   Mutex mutex_; ///< guards the members below
   CondVar changed_;
   size_t pieces_ GUARDED_BY(mutex_) = 1; ///< pieces that have not ended; start() counts as one
   size_t beginning_ GUARDED_BY(mutex_) = 0;
   bool isCancelled_ GUARDED_BY(mutex_) = false;
   bool isTelling_ GUARDED_BY(mutex_) = false;
   bool isTold_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
   std::vector<Own> own_ GUARDED_BY(mutex_);
   std::vector<std::shared_ptr<Fetch>> joined_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
