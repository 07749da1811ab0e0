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

void Arena::freeChunk(size_t index) {
   DCHECK(index < chunks_.size());
   const size_t size = chunks_[index].size;
   chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(index));
   if (current_ > index) --current_;
   chunkBytes_ -= size;
   if (reservation_) reservation_->shrink(size);
}

char* Arena::extend(char* newest, size_t bytes, size_t wanted) {
   DCHECK(reinterpret_cast<uintptr_t>(newest) + bytes == cursor_);
   DCHECK(wanted >= bytes);
   if (reinterpret_cast<uintptr_t>(newest) + wanted <= end_) {
      cursor_ = reinterpret_cast<uintptr_t>(newest) + wanted;
      return newest;
   }
   const size_t before = current_;
   const bool isAlone = newest == chunks_[before].memory.get();
   char* moved = static_cast<char*>(allocate(wanted, 1));
   std::memcpy(moved, newest, bytes);
   if (isAlone && bytes > chunkSizeMax) freeChunk(before);
   return moved;
}

void Arena::reset() {
   for (size_t i = chunks_.size(); i-- > 0;)
      if (chunks_[i].size > chunkSizeMax) freeChunk(i);
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
