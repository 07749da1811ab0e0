#include "storage/block/landing.hpp"

#include <cstdlib>
#include <new>

#include "common/thread/interruption.hpp"

namespace ouzel::storage {

Landing::Landing(uint64_t offset, size_t size)
   : offset_(offset), size_(size), data_(static_cast<char*>(std::aligned_alloc(64, (size + 63) / 64 * 64))) {
   if (!data_) throw std::bad_alloc();
}

Landing::~Landing() {
   // Also when the bytes are here: whoever brought them may not have let go of the mutex yet.
   if (pending_) pending_->cancel();
   std::free(data_);
}

void Landing::start(const io::ObjectReader& reader) {
   pending_ = reader.readAsync(offset_, size_, data_, [this](std::exception_ptr error) {
      const std::lock_guard lock(mutex_);
      isHere_ = true;
      error_ = std::move(error);
      arrived_.notify_all();
   });
}

bool Landing::isHere() const {
   const std::lock_guard lock(mutex_);
   return isHere_;
}

const char* Landing::wait(uint64_t offset) const {
   std::unique_lock lock(mutex_);
   waitInterruptibly(arrived_, lock, [&] { return isHere_; });
   if (error_) std::rethrow_exception(error_);
   return data_ + (offset - offset_);
}

} // namespace ouzel::storage
