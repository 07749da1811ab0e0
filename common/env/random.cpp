#include "common/env/random.hpp"

#include <bit>
#include <cmath>
#include <random>

namespace ouzel {

namespace {

uint64_t splitMix(uint64_t& state) {
   uint64_t v = state += 0x9e3779b97f4a7c15ULL;
   v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ULL;
   v = (v ^ (v >> 27)) * 0x94d049bb133111ebULL;
   return v ^ (v >> 31);
}

} // namespace

void SessionRandom::reset(uint64_t seed) {
   state0_ = splitMix(seed);
   state1_ = splitMix(seed);
}

void SessionRandom::setSeed(double seed) {
   const std::lock_guard guard(mutex_);
   reset(static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>((uint64_t{1} << 52) - 1) * seed)));
}

double SessionRandom::next() {
   const std::lock_guard guard(mutex_);
   const uint64_t s0 = state0_, mixed = state1_ ^ s0;
   const uint64_t value = std::rotl(s0 * 5, 7) * 9;
   state0_ = std::rotl(s0, 24) ^ mixed ^ (mixed << 16);
   state1_ = std::rotl(mixed, 37);
   return std::ldexp(static_cast<double>(value >> 12), -52);
}

uint64_t unpredictableSeed() {
   std::random_device device;
   return (static_cast<uint64_t>(device()) << 32) | device();
}

} // namespace ouzel
