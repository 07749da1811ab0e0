#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/sync/mutex.hpp"

namespace ouzel::storage {

/// Measures what pages cost that are not in the cache: the time during which at least one thread fetched, divided by
/// the bytes that arrived. Thread-safe.
class FetchCost {
public:
   void begin();
   void end();
   void arrived(size_t bytes);
   /// Average over the last samples; 0: not known yet.
   double nanosPerByte() const { return average_.load(std::memory_order_relaxed); }

private:
   static constexpr uint64_t sampleBytes = uint64_t{4} << 20;

   Mutex mutex_; // guards the members below
   uint32_t fetching_ GUARDED_BY(mutex_) = 0;
   int64_t busySince_ GUARDED_BY(mutex_) = 0;
   int64_t busyNanos_ GUARDED_BY(mutex_) = 0; ///< of the sample, up to busySince_ while somebody fetches
   uint64_t bytes_ GUARDED_BY(mutex_) = 0;    ///< of the sample
   std::atomic<double> average_{0};
};

/// While it lives, a page is being fetched.
class FetchScope {
public:
   explicit FetchScope(FetchCost& cost) : cost_(cost) { cost_.begin(); }
   ~FetchScope() { cost_.end(); }
   FetchScope(const FetchScope&) = delete;
   FetchScope& operator=(const FetchScope&) = delete;

private:
   FetchCost& cost_;
};

} // namespace ouzel::storage
