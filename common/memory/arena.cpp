#include "common/memory/arena.hpp"

#include <algorithm>
#include <utility>

namespace ouzel {

namespace {
constexpr size_t chunkSizeMin = 16 * 1024, chunkSizeMax = 1024 * 1024;
static_assert(chunkSizeMin <= chunkSizeMax);
} // namespace

Arena::Arena(Arena&& other) noexcept
   : reservation_(other.reservation_), chunks_(std::move(other.chunks_)), current_(other.current_),
     cursor_(other.cursor_), end_(other.end_), chunkBytes_(std::exchange(other.chunkBytes_, 0)) {
   other.chunks_.clear();
   other.current_ = 0;
   other.cursor_ = other.end_ = 0;
}

Arena::~Arena() {
   if (reservation_) reservation_->shrink(chunkBytes_);
}

void* Arena::allocateSlow(size_t bytes, size_t alignment) {
   const size_t needed = bytes + alignment;
   // Chunks left over from before a reset are tried first; one that is too small is skipped, not split.
   size_t next = chunks_.empty() || cursor_ == 0 ? current_ : current_ + 1;
   while (next < chunks_.size() && chunks_[next].size < needed)
      ++next;
   if (next >= chunks_.size()) {
      const size_t size = std::max(needed, std::clamp(chunkBytes_, chunkSizeMin, chunkSizeMax));
      if (reservation_) reservation_->grow(size);
      chunks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
      chunkBytes_ += size;
      next = chunks_.size() - 1;
   }
   DCHECK(chunks_[next].size >= needed); // else allocate() comes back here for ever
   current_ = next;
   cursor_ = reinterpret_cast<uintptr_t>(chunks_[current_].memory.get());
   end_ = cursor_ + chunks_[current_].size;
   return allocate(bytes, alignment);
}

void Arena::reset() {
#ifdef OUZEL_DCHECKS
   for (Chunk& chunk : chunks_)
      std::memset(chunk.memory.get(), 0xdb, chunk.size);
#endif
   current_ = 0;
   cursor_ = end_ = 0;
   if (chunks_.empty()) return;
   cursor_ = reinterpret_cast<uintptr_t>(chunks_[0].memory.get());
   end_ = cursor_ + chunks_[0].size;
}

} // namespace ouzel
