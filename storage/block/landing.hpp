#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include "common/sync/mutex.hpp"
#include "io/object_store/object_store.hpp"
#include "storage/buffer/frame_cache.hpp"

namespace ouzel::storage {

/// A stretch of an object on its way into memory of the cache, or arrived there.
///
///    tryMake() ──> start() ──bytes arrive──> isHere() ──> wait() returns ──keep()──> pages are in the cache
///                     └──the read fails──> isHere(), hasFailed() ──> wait() throws
///
/// Threads: one thread calls start(); then any thread may wait. The destructor cancels the read. Pages that were kept
/// stay in the cache.
class Landing {
public:
   /// `mayKeep`: pages may stay in this memory, as one frame (see Block::page). Null when the ledger refuses the
   /// memory.
   static std::shared_ptr<Landing> tryMake(FrameCache& cache, uint64_t offset, size_t size, bool mayKeep);
   ~Landing();
   Landing(const Landing&) = delete;
   Landing& operator=(const Landing&) = delete;

   /// Start the read. `reader` must outlive this.
   void start(const io::ObjectReader& reader);
   bool contains(uint64_t offset, size_t size) const {
      return offset >= offset_ && offset - offset_ <= size_ && size <= size_ - (offset - offset_);
   }
   bool isHere() const;
   bool hasFailed() const; ///< the read has failed: wait() throws
   /// Wait for the read; returns the bytes at `offset` of the object. Throws the errors of the read, and what the
   /// thread's Interruptible throws. REQUIRES: contains().
   const char* wait(uint64_t offset) const;
   size_t size() const { return size_; }
   bool mayKeep() const { return mayKeep_; }
   /// List a page that has arrived in the cache, without copying it. REQUIRES: mayKeep().
   PagePin keep(const PageKey& key, const char* page) const { return cache_.adopt(memory_, key, page); }

private:
   Landing(FrameCache& cache, PagePin memory, char* data, uint64_t offset, size_t size, bool mayKeep);

   FrameCache& cache_;
   const PagePin memory_;
   const uint64_t offset_;
   const size_t size_;
   const bool mayKeep_;
   char* const data_;                   ///< as far behind a multiple of pageAlignment as offset_
   std::optional<FetchScope> fetching_; ///< from start() until the callback
   std::unique_ptr<io::PendingRead> pending_;
   mutable Mutex mutex_; ///< guards the members below
   mutable CondVar arrived_;
   bool isHere_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
