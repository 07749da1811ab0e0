#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "common/memory/ledger.hpp"
#include "common/value/string_view.hpp"

namespace ouzel {

/// Bump allocator for values whose lifetimes end together. Reset keeps the chunks, but those of single large values.
/// Not thread-safe: one owner. Memory is charged to the reservation in chunks before it is used, when one is given.
class Arena {
public:
   explicit Arena(Reservation* reservation = nullptr) : reservation_(reservation) {}
   ~Arena();
   Arena(Arena&& other) noexcept;
   Arena& operator=(Arena&&) = delete;

   /// Throws 53200 when the reservation cannot grow.
   void* allocate(size_t bytes, size_t alignment = 16) {
      DCHECK(alignment != 0 && (alignment & (alignment - 1)) == 0);
      DCHECK(bytes <= SIZE_MAX / 2);
      const uintptr_t aligned = (cursor_ + alignment - 1) & ~(alignment - 1);
      if (aligned + bytes > end_) return allocateSlow(bytes, alignment);
      cursor_ = aligned + bytes;
      return reinterpret_cast<void*>(aligned);
   }
   template <typename T>
   T* allocateArray(size_t count) {
      return static_cast<T*>(allocate(count * sizeof(T), alignof(T) < 8 ? 8 : alignof(T)));
   }
   /// Copy the bytes unless they are inline; the result is valid until reset.
   StringView copyString(std::string_view text, StringView::Storage storage = StringView::Storage::Transient) {
      DCHECK(text.size() <= StringView::lengthMax);
      if (text.size() <= StringView::inlineMax) return StringView(text);
      char* target = static_cast<char*>(allocate(text.size(), 1));
      std::memcpy(target, text.data(), text.size());
      return StringView(target, static_cast<uint32_t>(text.size()), storage);
   }
   /// Makes the newest allocation, of `bytes`, larger. It stays in place or moves; a chunk that it had for itself is
   /// freed. Throws 53200.
   char* extend(char* newest, size_t bytes, size_t wanted);
   /// Takes the end of the newest allocation back.
   void giveBack(char* from, [[maybe_unused]] const char* end) {
      DCHECK(reinterpret_cast<uintptr_t>(end) == cursor_);
      cursor_ = reinterpret_cast<uintptr_t>(from);
   }
   /// Forget all values, keep the memory. Poisons it in DCHECK builds, so that a forgotten copy is seen at once.
   void reset();
   size_t chunkBytes() const { return chunkBytes_; }
   /// Null: what is allocated is charged to nobody.
   Reservation* reservation() const { return reservation_; }

private:
   struct Chunk {
      std::unique_ptr<char[]> memory;
      size_t size;
   };
   void* allocateSlow(size_t bytes, size_t alignment);
   void freeChunk(size_t index);

   Reservation* reservation_;
   std::vector<Chunk> chunks_;
   size_t current_ = 0; // index of the chunk being filled
   uintptr_t cursor_ = 0, end_ = 0;
   size_t chunkBytes_ = 0;
};

} // namespace ouzel
