#pragma once
#include <cstddef>
#include <cstdint>

#include "common/sync/mutex.hpp"

namespace ouzel {

/// The generator behind random(): the sequence PostgreSQL 15 gives after the same setseed(). Thread-safe; which worker
/// gets which number of the sequence is chance.
class SessionRandom {
public:
   explicit SessionRandom(uint64_t seed) { reset(seed); }
   /// setseed(): REQUIRES -1 <= seed <= 1.
   void setSeed(double seed);
   /// [0, 1)
   double next();

private:
   void reset(uint64_t seed) REQUIRES(mutex_);

   Mutex mutex_;
   uint64_t state0_ GUARDED_BY(mutex_) = 0; // of xoroshiro128** (Blackman & Vigna 2018)
   uint64_t state1_ GUARDED_BY(mutex_) = 0;
};

/// Fill memory with unpredictable bytes from the system: for salts, keys and secrets. Thread-safe.
void fillRandom(void* target, size_t size);
/// A seed of unpredictable bytes.
uint64_t unpredictableSeed();

} // namespace ouzel
