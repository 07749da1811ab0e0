#pragma once
#include <cstddef>
#include <utility>

#include "common/memory/ledger.hpp"

namespace ouzel::executor {

/// One zeroed allocation charged to a reservation before it is made: hash directories, pages, bitmaps. Large ones get
/// huge pages, since random access would otherwise miss the TLB on every row. Throws 53200 when the reservation cannot
/// grow.
class LargeMemory {
public:
   LargeMemory() = default;
   LargeMemory(size_t bytes, Reservation& reservation);
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

} // namespace ouzel::executor
