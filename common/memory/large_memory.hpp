#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/memory/ledger.hpp"

namespace ouzel {

/// One allocation, charged to a reservation before it is made: hash directories, pages, bitmaps. Throws 53200 when the
/// reservation cannot grow.
///
/// Large allocations get huge pages, since random access would otherwise miss the TLB on every row. Freed allocations
/// of usual sizes are kept for the next allocation of their size, since fresh memory costs a fault for every 4 KiB,
/// and the kernel may have to move other pages to make a huge one, for tens of milliseconds.
/// Kept memory is charged to no reservation; the process keeps keptBytesMax at most, or less after keepAtMost(), and
/// gives back what it does not need for a while (dropUnneeded()).
class LargeMemory {
public:
   enum class Fill : uint8_t { Zero, Anything };
   static constexpr size_t keptBytesMax = size_t{256} << 20;
   /// The usual sizes are multiples of it below 2 MiB. Larger allocations are of whole huge pages, up to 64 MiB usual.
   static constexpr size_t usualStep = 16 * 1024;

   /// Keep at most `bytes` of freed memory from now on. Thread-safe.
   static void keepAtMost(size_t bytes);
   /// Free the kept memory that was not taken since the last call: as much as was kept all the time. Thread-safe.
   static void dropUnneeded();
   static size_t keptBytes(); ///< kept now; thread-safe
   /// Free all kept memory. Thread-safe.
   static void dropKept();

   LargeMemory() = default;
   LargeMemory(size_t bytes, Reservation& reservation, Fill fill = Fill::Zero);
   ~LargeMemory() { release(); }
   LargeMemory(LargeMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
        reservation_(other.reservation_) {}
   LargeMemory& operator=(LargeMemory&& other) noexcept {
      if (this != &other) {
         release();
         data_ = std::exchange(other.data_, nullptr);
         bytes_ = std::exchange(other.bytes_, 0);
         reservation_ = other.reservation_;
      }
      return *this;
   }

   void* data() const { return data_; }
   template <typename T>
   T* as() const {
      return static_cast<T*>(data_);
   }
   size_t bytes() const { return bytes_; }
   void release();

private:
   void* data_ = nullptr;
   size_t bytes_ = 0;
   Reservation* reservation_ = nullptr;
};

} // namespace ouzel
