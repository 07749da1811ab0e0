#include "io/format/sequential_input.hpp"

#include <algorithm>

namespace ouzel::io {

namespace {

/// Pieces of objects are large enough to outweigh a request's latency. Pieces of local files fit into the processor's
/// cache.
size_t pieceSizeOf(const std::string& path) {
   return isObjectUrl(path) ? 8 << 20 : 1 << 20;
}

} // namespace

size_t SequentialInput::memoryMax(const std::string& path) {
   return 2 * pieceSizeOf(path);
}

SequentialInput::SequentialInput(const std::string& path, const ObjectAccessPtr& access, size_t pieceSizeMax)
   : object_(openInput(path, access)), pieceSize_(std::min(pieceSizeOf(path), pieceSizeMax)) {
   start();
}

SequentialInput::~SequentialInput() {
   if (pending_) pending_->cancel();
}

void SequentialInput::start() {
   coming_.resize(static_cast<size_t>(std::min<uint64_t>(pieceSize_, object_->size() - offset_)));
   if (coming_.empty()) return;
   {
      const MutexLock lock(mutex_);
      isHere_ = false;
   }
   pending_ = object_->readAsync(offset_, coming_.size(), coming_.data(), [this](std::exception_ptr given) {
      const MutexLock lock(mutex_);
      error_ = std::move(given);
      isHere_ = true;
      arrived_.notify_one();
   });
   offset_ += coming_.size();
   object_->prefetch(offset_, pieceSize_);
}

std::optional<std::string_view> SequentialInput::next() {
   {
      UniqueLock lock(mutex_);
      arrived_.wait(lock, [this]() REQUIRES(mutex_) { return isHere_; });
      if (error_) std::rethrow_exception(error_);
   }
   if (coming_.empty()) return std::nullopt;
   current_.swap(coming_);
   start();
   return std::string_view(current_);
}

} // namespace ouzel::io
