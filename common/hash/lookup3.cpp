#include "common/hash/lookup3.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "common/number/decimal.hpp"

namespace ouzel {

namespace {

struct State {
   uint32_t a, b, c;

   State(uint32_t size, uint64_t seed) : a(0x9e3779b9U + size + 3923095U), b(a), c(a) {
      if (seed == 0) return;
      a += static_cast<uint32_t>(seed >> 32);
      b += static_cast<uint32_t>(seed);
      mix();
   }
   /// One of six like steps: x takes z away, is mixed with it, and z grows by y.
   static void step(uint32_t& x, uint32_t y, uint32_t& z, int bits) {
      x -= z;
      x ^= std::rotl(z, bits);
      z += y;
   }
   void mix() {
      step(a, b, c, 4);
      step(b, c, a, 6);
      step(c, a, b, 8);
      step(a, b, c, 16);
      step(b, c, a, 19);
      step(c, a, b, 4);
   }
   static void finalStep(uint32_t& x, uint32_t y, int bits) {
      x ^= y;
      x -= std::rotl(y, bits);
   }
   uint64_t finish() {
      finalStep(c, b, 14);
      finalStep(a, c, 11);
      finalStep(b, a, 25);
      finalStep(c, b, 16);
      finalStep(a, c, 4);
      finalStep(b, a, 14);
      finalStep(c, b, 24);
      return static_cast<uint64_t>(b) << 32 | c;
   }
};

} // namespace

uint64_t lookup3(std::string_view bytes, uint64_t seed) {
   State state(static_cast<uint32_t>(bytes.size()), seed);
   const auto word = [](std::string_view from) {
      uint32_t value;
      std::memcpy(&value, from.data(), sizeof(value));
      return value;
   };
   for (; bytes.size() >= 12; bytes.remove_prefix(12)) {
      state.a += word(bytes);
      state.b += word(bytes.substr(4));
      state.c += word(bytes.substr(8));
      state.mix();
   }
   // The lowest byte of c is the length's: the last word begins one byte later.
   for (size_t i = 0; i < bytes.size(); ++i) {
      const auto byte = static_cast<uint32_t>(static_cast<uint8_t>(bytes[i]));
      if (i < 4)
         state.a += byte << (8 * i);
      else if (i < 8)
         state.b += byte << (8 * (i - 4));
      else
         state.c += byte << (8 * (i - 7));
   }
   return state.finish();
}

uint64_t lookup3(uint32_t value, uint64_t seed) {
   State state(sizeof(value), seed);
   state.a += value;
   return state.finish();
}

uint64_t lookup3OfInteger(int64_t value, uint64_t seed) {
   const auto low = static_cast<uint32_t>(value);
   const auto high = static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
   return lookup3(low ^ (value >= 0 ? high : ~high), seed);
}

uint64_t lookup3OfFloat(double value, uint64_t seed) {
   if (value == 0) return seed; // both zeros
   if (std::isnan(value)) value = std::nan("");
   char bytes[sizeof(value)];
   std::memcpy(bytes, &value, sizeof(value));
   return lookup3(std::string_view(bytes, sizeof(bytes)), seed);
}

/// By the digits of base 10,000, without the zeros at both ends, and the place of the first.
uint64_t lookup3OfDecimal(StringView value, uint64_t seed) {
   if (!decimal::isFinite(value)) return seed;
   std::string binary;
   decimal::appendBinary(binary, value);
   const auto word = [&](size_t i) {
      return static_cast<uint16_t>(static_cast<uint8_t>(binary[2 * i]) << 8 | static_cast<uint8_t>(binary[2 * i + 1]));
   };
   constexpr size_t headWords = 4; // digits, weight, sign, scale
   size_t first = headWords, end = headWords + word(0);
   int weight = static_cast<int16_t>(word(1));
   while (first < end && word(first) == 0) {
      ++first;
      --weight;
   }
   while (first < end && word(end - 1) == 0)
      --end;
   if (first == end) return seed - 1;
   std::string digits;
   for (size_t i = first; i < end; ++i) {
      const uint16_t digit = word(i);
      digits.push_back(static_cast<char>(digit & 0xff));
      digits.push_back(static_cast<char>(digit >> 8));
   }
   return lookup3(digits, seed) ^ static_cast<uint64_t>(static_cast<int64_t>(weight));
}

} // namespace ouzel
