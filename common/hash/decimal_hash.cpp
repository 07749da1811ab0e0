#include "common/hash/decimal_hash.hpp"

#include <array>

#include "common/hash/hash.hpp"
#include "common/number/decimal_big.hpp"

namespace ouzel::decimal {

namespace {

constexpr uint64_t hashPrime = (uint64_t{1} << 61) - 1;

constexpr uint64_t multiplyModPrime(uint64_t a, uint64_t b) {
   const uint128 product = static_cast<uint128>(a) * b;
   uint64_t r = static_cast<uint64_t>(product & hashPrime) + static_cast<uint64_t>(product >> 61);
   r = (r & hashPrime) + (r >> 61);
   return r >= hashPrime ? r - hashPrime : r;
}
constexpr uint64_t powerModPrime(uint64_t base, uint64_t exponent) {
   uint64_t result = 1;
   for (; exponent != 0; exponent >>= 1) {
      if (exponent & 1) result = multiplyModPrime(result, base);
      base = multiplyModPrime(base, base);
   }
   return result;
}
constexpr uint64_t inverseOfTen = powerModPrime(10, hashPrime - 2);
constexpr std::array<uint64_t, 40> inversePowers = [] {
   std::array<uint64_t, 40> result{};
   uint64_t power = 1;
   for (uint64_t& p : result) {
      p = power;
      power = multiplyModPrime(power, inverseOfTen);
   }
   return result;
}();

uint64_t inversePower(int32_t scale) {
   return scale < 40 ? inversePowers[scale] : powerModPrime(inverseOfTen, static_cast<uint64_t>(scale));
}
uint64_t reduce(uint64_t v) {
   v = (v & hashPrime) + (v >> 61);
   return v >= hashPrime ? v - hashPrime : v;
}
uint64_t finishHash(uint64_t residue, int32_t scale, bool negative) {
   if (scale != 0) residue = multiplyModPrime(residue, inversePower(scale));
   return hashU64(negative && residue != 0 ? hashPrime - residue : residue);
}

} // namespace

uint64_t hashScaled(int64_t value, int32_t scale) {
   return finishHash(reduce(static_cast<uint64_t>(magnitudeOf(value))), scale, value < 0);
}

uint64_t hashScaled(int128 value, int32_t scale) {
   const uint128 m = magnitudeOf(value);
   // 2^61 is 1 modulo the prime, so the value is the sum of its 61-bit digits.
   const uint64_t sum = static_cast<uint64_t>(m & hashPrime) + static_cast<uint64_t>((m >> 61) & hashPrime) +
                        static_cast<uint64_t>(m >> 122);
   return finishHash(reduce(sum), scale, value < 0);
}

uint64_t hash(StringView v) {
   Scaled s;
   if (decode(v, s)) return hashScaled(s.value, s.scale);
   if (!isFinite(v)) return hashU64(~static_cast<uint64_t>(kind(v)));
   Integer z;
   const int32_t scale = load(v, z);
   static_assert(sizeof(unsigned long) == 8);
   return finishHash(mpz_tdiv_ui(z, hashPrime), scale, z.sign() < 0);
}

} // namespace ouzel::decimal
