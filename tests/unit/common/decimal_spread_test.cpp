#include "common/number/decimal_spread.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "common/error/sql_error.hpp"
#include "common/number/decimal_big.hpp"
#include "common/number/decimal_divisor.hpp"
#include "common/number/decimal_exact_divisor.hpp"
#include "common/number/decimal_quotient.hpp"
#include "common/number/decimal_small.hpp"

using namespace ouzel;
using decimal::Spread;

namespace {

constexpr int rounds = 1'000'000;
constexpr uint64_t seed = 11;

/// Of any length up to `bits`, often next to a power of two or of ten.
int128 number(std::mt19937_64& rng, uint32_t bits) {
   const uint128 mask = (uint128{1} << bits) - 1;
   uint128 magnitude = ((static_cast<uint128>(rng()) << 64) | rng()) & mask;
   switch (rng() % 4) {
   case 0: magnitude >>= rng() % bits; break;
   case 1: magnitude = (uint128{1} << (rng() % bits)) + rng() % 3 - 1; break;
   case 2: magnitude = decimal::powers[rng() % decimal::powersOfTen] + rng() % 3 - 1; break;
   default: magnitude = rng() % 1000;
   }
   magnitude &= mask;
   return decimal::withSign(magnitude, rng() % 2 == 0);
}

int32_t someScale(std::mt19937_64& rng) {
   return static_cast<int32_t>(rng() % 8 == 0 ? rng() % 120 : rng() % 22);
}

} // namespace

CATCH_TEST_CASE("quotients within 128 bits have the digits of long quotients") {
   std::mt19937_64 rng(seed);
   int within = 0;
   for (int i = 0; i < rounds; ++i) {
      Arena arena;
      const decimal::Scaled a{number(rng, 127), someScale(rng)};
      decimal::Scaled b{number(rng, 127), someScale(rng)}, quotient;
      if (b.value == 0) b.value = 1;
      if (!decimal::divideSmall(a, b, quotient)) continue;
      ++within;
      const StringView x = decimal::fromInt128(a.value, a.scale, arena),
                       y = decimal::fromInt128(b.value, b.scale, arena);
      const StringView small = decimal::fromInt128(quotient.value, quotient.scale, arena);
      const StringView big = decimal::divideBig(x, y, arena);
      if (!(small == big))
         CATCH_FAIL(decimal::toString(x) << " / " << decimal::toString(y) << ": " << decimal::toString(small)
                                         << ", not " << decimal::toString(big));
   }
   CATCH_CHECK(within > rounds / 4);
}

CATCH_TEST_CASE("a divisor of many values divides as one value is divided") {
   std::mt19937_64 rng(seed);
   for (int i = 0; i < rounds / 50; ++i) {
      Arena arena;
      const int128 constants[] = {2, -5, 3, 100, 7, 1, 12, 10'000, 9999, 0x7fff'ffff'ffff'ffff};
      const int128 by = rng() % 2 == 0 ? constants[rng() % std::size(constants)] : number(rng, 66);
      const StringView divisor = decimal::fromInt128(by == 0 ? 1 : by, someScale(rng), arena);
      decimal::Divisor quotients(divisor);
      for (int n = 0; n < 50; ++n) {
         const StringView value = decimal::fromInt128(number(rng, 66), static_cast<int32_t>(rng() % 10), arena);
         const StringView found = quotients.divide(value, arena), expected = decimal::divide(value, divisor, arena);
         if (!(found == expected))
            CATCH_FAIL(decimal::toString(value) << " / " << decimal::toString(divisor) << ": "
                                                << decimal::toString(found) << ", not " << decimal::toString(expected));
      }
   }
}

CATCH_TEST_CASE("a bound orders quotients as it orders their digits") {
   std::mt19937_64 rng(seed);
   for (int i = 0; i < rounds / 10; ++i) {
      Arena arena;
      const int32_t scaleMax = rng() % 4 == 0 ? 200 : 20;
      const auto value = [&](uint32_t bits) {
         return decimal::fromInt128(number(rng, bits), static_cast<int32_t>(rng() % static_cast<uint32_t>(scaleMax)),
                                    arena);
      };
      const uint32_t bits = static_cast<uint32_t>(rng() % 126) + 1;
      const StringView a = value(bits);
      StringView b = value(bits);
      if (decimal::sign(b) == 0) b = decimal::fromInt64(1);
      const StringView quotient = decimal::divide(a, b, arena);
      // Bounds that are equal, close by a last digit, close in double precision, far.
      const StringView digit =
          decimal::fromInt64(1, std::min(decimal::scale(quotient) + static_cast<int32_t>(rng() % 3), 1000));
      const StringView bounds[] = {quotient,
                                   decimal::add(quotient, digit, arena),
                                   decimal::subtract(quotient, digit, arena),
                                   decimal::fromDouble(decimal::approximate(quotient), arena),
                                   decimal::fromInt64(0),
                                   value(20)};
      for (const StringView bound : bounds) {
         const int found = decimal::QuotientBound(bound).compare(a, b), expected = decimal::compare(quotient, bound);
         if (found != expected)
            CATCH_FAIL(decimal::toString(a) << " / " << decimal::toString(b) << " and " << decimal::toString(bound)
                                            << ": " << found << ", not " << expected);
      }
   }
   Arena arena;
   const decimal::QuotientBound one(decimal::fromInt64(1)), infinite(decimal::infinity()), unknown(decimal::nan());
   CATCH_CHECK_THROWS_AS(one.compare(decimal::fromInt64(1), decimal::fromInt64(0)), SqlError);
   CATCH_CHECK(one.compare(decimal::nan(), decimal::fromInt64(2)) == 1);
   CATCH_CHECK(one.compare(decimal::fromInt64(5), decimal::infinity()) == -1);
   CATCH_CHECK(infinite.compare(decimal::fromInt64(5), decimal::fromInt64(2)) == -1);
   CATCH_CHECK(unknown.compare(decimal::fromInt64(5), decimal::fromInt64(2)) == -1);
}

CATCH_TEST_CASE("an exact divisor gives the quotients of a division, and their scales") {
   std::mt19937_64 rng(seed);
   const char* divisors[] = {"2",  "-2",  "4",   "5",    "1",    "10",    "100",   "1000",  "-8",  "25",
                             "64", "1.0", "0.5", "0.25", "1.25", "0.001", "10000", "12500", "40.0"};
   uint32_t found = 0;
   for (const char* text : divisors) {
      for (int32_t scale = 0; scale < 19; ++scale) {
         Arena arena;
         const StringView divisor = decimal::parse(text, arena);
         const auto exact = decimal::ExactDivisor::of(divisor, scale);
         if (!exact) continue;
         ++found;
         for (int n = 0; n < rounds / 1000; ++n) {
            // Values of all sizes, and those beside powers of ten.
            int64_t value = static_cast<int64_t>(number(rng, static_cast<uint32_t>(rng() % 63) + 1));
            if (n % 3 == 0) {
               const auto power = static_cast<int64_t>(decimal::powerOfTen(static_cast<uint32_t>(rng() % 19)));
               value = power * static_cast<int64_t>(rng() % 9) + static_cast<int64_t>(rng() % 3) - 1;
            }
            const StringView quotient = decimal::divide(decimal::fromInt64(value, scale), divisor, arena);
            const auto& shape = exact->classOf(decimal::ExactDivisor::magnitudeOf(value));
            const StringView units = decimal::fromInt128(exact->divide(value), exact->unitScale(), arena);
            if (shape.displayScale != decimal::scale(quotient) || decimal::compare(units, quotient) != 0 ||
                (value != 0 && decimal::ExactDivisor::magnitudeOf(value) < shape.start))
               CATCH_FAIL(value << " of scale " << scale << " / " << text << ": " << decimal::toString(units)
                                << " of scale " << shape.displayScale << ", not " << decimal::toString(quotient));
         }
      }
   }
   CATCH_CHECK(found > 250);
   for (const char* text : {"0", "3", "-7", "0.3", "NaN", "Infinity", "128", "1e30"}) {
      Arena arena;
      CATCH_CHECK_FALSE(decimal::ExactDivisor::of(decimal::parse(text, arena), 2));
   }
}

CATCH_TEST_CASE("spreads within 128 bits have the digits of long spreads") {
   std::mt19937_64 rng(seed);
   for (int i = 0; i < rounds / 4; ++i) {
      Arena arena;
      const uint32_t bits = static_cast<uint32_t>(rng() % decimal::Moments::valueBits) + 1;
      const int64_t count = static_cast<int64_t>(rng() % 6) + 2;
      const int32_t scale = static_cast<int32_t>(rng() % (rng() % 8 == 0 ? 39 : 5));
      const int128 base = number(rng, bits);
      decimal::Moments moments;
      StringView sum, squares;
      for (int64_t n = 0; n < count; ++n) {
         // Values that are close to each other make the difference of squares small.
         int128 value = rng() % 2 == 0 ? number(rng, bits) : base + static_cast<int128>(rng() % 5);
         value = std::clamp(value, -(int128{1} << decimal::Moments::valueBits) + 1,
                            (int128{1} << decimal::Moments::valueBits) - 1);
         if (value == static_cast<int64_t>(value))
            moments.add(static_cast<int64_t>(value));
         else
            moments.add(value);
         const StringView v = decimal::fromInt128(value, scale, arena);
         sum = decimal::add(sum, v, arena);
         squares = decimal::add(squares, decimal::multiply(v, v, arena), arena);
      }
      for (const Spread spread : {Spread::VarPop, Spread::VarSamp, Spread::StddevPop, Spread::StddevSamp}) {
         const std::string expected = decimal::toString(decimal::spreadBig(sum, squares, count, spread, arena));
         if (decimal::toString(decimal::spreadOf(moments, scale, spread, arena)) != expected ||
             decimal::toString(decimal::spreadOf(sum, squares, count, spread, arena)) != expected)
            CATCH_FAIL("sum " << decimal::toString(sum) << ", squares " << decimal::toString(squares) << " of " << count
                              << ": not " << expected);
      }
   }
}

CATCH_TEST_CASE("roots within 128 bits are rounded half away from zero") {
   std::mt19937_64 rng(seed);
   int within = 0;
   for (int i = 0; i < rounds; ++i) {
      decimal::Scaled root;
      // Around a square and around the middle of two squares, where one unit decides.
      const int128 near = decimal::withSign(decimal::magnitudeOf(number(rng, 63)), false);
      const int128 value = near * near + (rng() % 2 == 0 ? near : 0) + static_cast<int128>(rng() % 3) - 1;
      const int32_t scale = static_cast<int32_t>(rng() % 2 == 0 ? 0 : rng() % 20);
      if (value <= 0 || !decimal::rootSmall({value, scale}, root)) continue;
      ++within;
      decimal::Integer radicand, floor, rest;
      radicand.setInt128(value);
      decimal::scaleUp(radicand, static_cast<uint32_t>(scale));
      mpz_sqrtrem(floor, rest, radicand);
      if (mpz_cmp(rest, floor) > 0) mpz_add_ui(floor, floor, 1);
      decimal::Integer found;
      found.setInt128(root.value);
      if (mpz_cmp(floor, found) != 0) {
         Arena arena;
         CATCH_FAIL("the root of " << decimal::toString(decimal::fromInt128(value, scale, arena)));
      }
   }
   CATCH_CHECK(within > rounds / 4);
}

CATCH_TEST_CASE("moments that are merged are the moments of all values") {
   std::mt19937_64 rng(seed);
   decimal::Moments all, parts[3];
   for (int i = 0; i < 1000; ++i) {
      const int128 value = number(rng, decimal::Moments::valueBits);
      all.add(value);
      parts[rng() % 3].add(value);
   }
   parts[0].merge(parts[1]);
   parts[0].merge(parts[2]);
   CATCH_CHECK(parts[0].sum == all.sum);
   CATCH_CHECK(parts[0].squaresLow == all.squaresLow);
   CATCH_CHECK(parts[0].squaresHigh == all.squaresHigh);
   CATCH_CHECK(parts[0].count == all.count);
}
