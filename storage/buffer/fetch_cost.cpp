#include "storage/buffer/fetch_cost.hpp"

#include <algorithm>
#include <utility>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"

namespace ouzel::storage {

void FetchCost::begin() {
   const MutexLock lock(mutex_);
   if (fetching_++ == 0) busySince_ = steadyNanos();
}

void FetchCost::end() {
   const MutexLock lock(mutex_);
   DCHECK(fetching_ > 0);
   if (--fetching_ == 0) busyNanos_ += steadyNanos() - busySince_;
}

void FetchCost::arrived(size_t bytes) {
   const MutexLock lock(mutex_);
   bytes_ += bytes;
   if (bytes_ < sampleBytes) return;
   if (fetching_ > 0) { // reading ahead may go on for a whole scan
      const int64_t now = steadyNanos();
      busyNanos_ += now - std::exchange(busySince_, now);
   }
   const double sample =
       static_cast<double>(std::exchange(busyNanos_, 0)) / static_cast<double>(std::exchange(bytes_, 0));
   const double before = nanosPerByte();
   average_.store(before == 0 ? sample : before + (sample - before) / 4, std::memory_order_relaxed);
}

} // namespace ouzel::storage
