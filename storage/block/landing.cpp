#include "storage/block/landing.hpp"

#include "common/thread/interruption.hpp"
#include "storage/block/format.hpp"

namespace ouzel::storage {

std::shared_ptr<Landing> Landing::tryMake(FrameCache& cache, uint64_t offset, size_t size, bool mayKeep) {
   const size_t shift = offset % pageAlignment;
   char* data = nullptr;
   PagePin memory = cache.tryAllocate(shift + size + pagePadding, data);
   if (!memory) return nullptr;
   return std::shared_ptr<Landing>(new Landing(cache, std::move(memory), data + shift, offset, size, mayKeep));
}

Landing::Landing(FrameCache& cache, PagePin memory, char* data, uint64_t offset, size_t size, bool mayKeep)
   : cache_(cache), memory_(std::move(memory)), offset_(offset), size_(size), mayKeep_(mayKeep), data_(data) {}

Landing::~Landing() {
   // Also when the bytes have arrived: the callback may still hold the mutex, and cancel() waits for its end.
   if (pending_) pending_->cancel();
}

void Landing::start(const io::ObjectReader& reader) {
   fetching_.emplace(cache_.fetchCost());
   pending_ = reader.readAsync(offset_, size_, data_, [this](std::exception_ptr error) {
      const MutexLock lock(mutex_);
      fetching_.reset();
      isHere_ = true;
      error_ = std::move(error);
      arrived_.notify_all();
   });
}

bool Landing::isHere() const {
   const MutexLock lock(mutex_);
   return isHere_;
}

bool Landing::hasFailed() const {
   const MutexLock lock(mutex_);
   return error_ != nullptr;
}

const char* Landing::wait(uint64_t offset) const {
   UniqueLock lock(mutex_);
   waitInterruptibly(arrived_, lock, [&]() REQUIRES(mutex_) { return isHere_; });
   if (error_) std::rethrow_exception(error_);
   return data_ + (offset - offset_);
}

} // namespace ouzel::storage
