#pragma once
#include <cstdint>
#include <mutex>

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
   void reset(uint64_t seed);

   std::mutex mutex_;
   uint64_t state0_ = 0, state1_ = 0; // of xoroshiro128** (Blackman & Vigna 2018)
};

/// A seed nobody can foresee.
uint64_t unpredictableSeed();

} // namespace ouzel
