#include "common/env/random.hpp"

#include <bit>
#include <cerrno>
#include <cmath>
#include <sys/random.h>

#include "common/error/sql_error.hpp"

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
   const MutexLock guard(mutex_);
   reset(static_cast<uint64_t>(static_cast<int64_t>(static_cast<double>((uint64_t{1} << 52) - 1) * seed)));
}

double SessionRandom::next() {
   const MutexLock guard(mutex_);
   const uint64_t s0 = state0_, mixed = state1_ ^ s0;
   const uint64_t value = std::rotl(s0 * 5, 7) * 9;
   state0_ = std::rotl(s0, 24) ^ mixed ^ (mixed << 16);
   state1_ = std::rotl(mixed, 37);
   return std::ldexp(static_cast<double>(value >> 12), -52);
}

void fillRandom(void* target, size_t size) {
   auto* out = static_cast<char*>(target);
   while (size > 0) {
      const ssize_t got = getrandom(out, size, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throwInternal("no random numbers");
      out += got;
      size -= static_cast<size_t>(got);
   }
}

uint64_t unpredictableSeed() {
   uint64_t seed = 0;
   fillRandom(&seed, sizeof seed);
   return seed;
}

} // namespace ouzel
