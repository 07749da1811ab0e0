#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

#include "io/object_store/object_store.hpp"

namespace ouzel::storage {

/// A stretch of an object on its way into memory, or there. Started once; then any thread may wait for it. Destroying
/// it calls the read off. The memory is charged by whoever makes it.
class Landing {
public:
   Landing(uint64_t offset, size_t size);
   ~Landing();
   Landing(const Landing&) = delete;
   Landing& operator=(const Landing&) = delete;

   /// `reader` must outlive this.
   void start(const io::ObjectReader& reader);
   bool contains(uint64_t offset, size_t size) const {
      return offset >= offset_ && offset - offset_ <= size_ && size <= size_ - (offset - offset_);
   }
   bool isHere() const;
   /// The bytes at `offset` of the object, once they are here. Throws what reading them threw, or what
   /// the thread's Interruptible throws. REQUIRES: contains().
   const char* wait(uint64_t offset) const;
   size_t size() const { return size_; }

private:
   const uint64_t offset_;
   const size_t size_;
   char* const data_;
   std::unique_ptr<io::PendingRead> pending_;
   mutable std::mutex mutex_; ///< guards what follows
   mutable std::condition_variable arrived_;
   bool isHere_ = false;
   std::exception_ptr error_;
};

} // namespace ouzel::storage
