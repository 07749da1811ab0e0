#pragma once
#include <cstdint>
#include <exception>
#include <memory>

#include "common/sync/mutex.hpp"
#include "io/object_store/object_store.hpp"
#include "storage/buffer/frame_cache.hpp"

namespace ouzel::storage {

/// A stretch of an object on its way into memory of the cache, or there. Started once; then any thread may wait for it.
/// Destroying it calls the read off; pages that were kept stay where they landed.
class Landing {
public:
   /// `mayKeep`: its pages are worth keeping together (see Block::page). Null when the ledger refuses the memory.
   static std::shared_ptr<Landing> tryMake(FrameCache& cache, uint64_t offset, size_t size, bool mayKeep);
   ~Landing();
   Landing(const Landing&) = delete;
   Landing& operator=(const Landing&) = delete;

   /// `reader` must outlive this.
   void start(const io::ObjectReader& reader);
   bool contains(uint64_t offset, size_t size) const {
      return offset >= offset_ && offset - offset_ <= size_ && size <= size_ - (offset - offset_);
   }
   bool isHere() const;
   bool hasFailed() const; ///< the read: wait() will throw
   /// The bytes at `offset` of the object, once they are here. Throws what reading them threw, or what
   /// the thread's Interruptible throws. REQUIRES: contains().
   const char* wait(uint64_t offset) const;
   size_t size() const { return size_; }
   bool mayKeep() const { return mayKeep_; }
   /// Let the cache have a page that has been waited for, in its place. REQUIRES: mayKeep().
   PagePin keep(const PageKey& key, const char* page) const { return cache_.adopt(memory_, key, page); }

private:
   Landing(FrameCache& cache, PagePin memory, char* data, uint64_t offset, size_t size, bool mayKeep);

   FrameCache& cache_;
   const PagePin memory_;
   const uint64_t offset_;
   const size_t size_;
   const bool mayKeep_;
   char* const data_; ///< at the same place between two multiples of pageAlignment as in the object
   std::unique_ptr<io::PendingRead> pending_;
   mutable Mutex mutex_; ///< guards what follows
   mutable CondVar arrived_;
   bool isHere_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
};

} // namespace ouzel::storage
