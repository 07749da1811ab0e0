#include "io/s3/thread_spread.hpp"

#include <algorithm>

namespace ouzel::io {

namespace {
constexpr double saturated = 0.85;
/// A thread is taken out of use only if the load of each other thread then stays below this share: well below
/// saturation, or the thread would come and go.
constexpr double relaxed = 0.6;
} // namespace

ThreadSpread::ThreadSpread(uint32_t least, uint32_t most)
   : least_(std::max(least, 1U)), loads_(std::max(least_, most)), used_(least_) {}

uint32_t ThreadSpread::choose(size_t bytes) {
   const MutexLock lock(mutex_);
   double sum = 0, lowest = 1;
   for (uint32_t thread = 0; thread < used_; ++thread) {
      sum += loads_[thread].busy;
      lowest = std::min(lowest, loads_[thread].busy);
   }
   if (lowest > saturated && used_ < loads_.size())
      loads_[used_++].busy = 0;
   else if (used_ > least_ && sum < relaxed * (used_ - 1))
      --used_;
   const auto chosen = std::min_element(loads_.begin(), loads_.begin() + used_,
                                        [](const Load& a, const Load& b) { return a.bytes < b.bytes; });
   chosen->bytes += bytes;
   return static_cast<uint32_t>(chosen - loads_.begin());
}

void ThreadSpread::ended(uint32_t thread, size_t bytes) {
   const MutexLock lock(mutex_);
   loads_[thread].bytes -= bytes;
}

void ThreadSpread::setBusy(uint32_t thread, double share) {
   const MutexLock lock(mutex_);
   loads_[thread].busy = share;
}

uint32_t ThreadSpread::used() const {
   const MutexLock lock(mutex_);
   return used_;
}

} // namespace ouzel::io
