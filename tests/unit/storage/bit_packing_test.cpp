#include "storage/block/bit_packing.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ouzel;
using namespace ouzel::storage;

namespace {

uint64_t maskOf(uint32_t bits) {
   return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

std::vector<uint64_t> randomValues(uint32_t count, uint32_t bits) {
   std::mt19937_64 random(bits * 1000 + count);
   std::vector<uint64_t> values(count);
   for (auto& value : values)
      value = random() & maskOf(bits);
   return values;
}

} // namespace

CATCH_TEST_CASE("bit packing gives back every width and count") {
   for (uint32_t bits = 1; bits <= 64; ++bits) {
      for (const uint32_t count : {1u, 2u, 63u, 64u, 65u, 255u, 256u, 257u, 2047u, 2048u}) {
         const auto values = randomValues(count, bits);
         std::vector<char> packed(packedBytes(bits, count) + 32);
         packBits(values.data(), count, bits, packed.data());
         alignas(32) int64_t out[2048];
         unpackInts<int64_t>(packed.data(), count, bits, 0, 1, out);
         bool same = true, single = true;
         for (uint32_t i = 0; i < count; ++i)
            same &= static_cast<uint64_t>(out[i]) == values[i];
         std::vector<RowIndex> every;
         for (uint32_t i = 0; i < count; ++i)
            every.push_back(static_cast<RowIndex>(i));
         alignas(32) int64_t some[2048];
         unpackIntsAt<int64_t>(packed.data(), Selection::list(every), bits, 0, 1, some);
         for (const RowIndex i : every)
            single &= static_cast<uint64_t>(some[i]) == values[i];
         CATCH_INFO("bits " << bits << ", count " << count);
         CATCH_REQUIRE(same);
         CATCH_REQUIRE(single);
      }
   }
}

CATCH_TEST_CASE("unpacking adds the reference and multiplies by the factor in every type") {
   const uint32_t count = 300;
   const auto values = randomValues(count, 5);
   std::vector<char> packed(packedBytes(5, count) + 32);
   packBits(values.data(), count, 5, packed.data());
   alignas(32) int16_t narrow[512];
   alignas(32) int32_t middle[512];
   alignas(32) int64_t wide[512];
   unpackInts<int16_t>(packed.data(), count, 5, -700, 100, narrow);
   unpackInts<int32_t>(packed.data(), count, 5, -700, 1'000'000, middle);
   unpackInts<int64_t>(packed.data(), count, 5, INT64_MIN, 86'400'000'000, wide);
   for (uint32_t i = 0; i < count; ++i) {
      const auto v = static_cast<int64_t>(values[i]);
      CATCH_REQUIRE(narrow[i] == -700 + v * 100);
      CATCH_REQUIRE(middle[i] == -700 + v * 1'000'000);
      CATCH_REQUIRE(wide[i] == INT64_MIN + v * 86'400'000'000);
   }
}

CATCH_TEST_CASE("ranges are compared on packed values") {
   for (uint32_t bits = 1; bits <= 64; ++bits) {
      const uint32_t count = 512;
      const auto values = randomValues(count, bits);
      std::vector<char> packed(packedBytes(bits, count) + 32);
      packBits(values.data(), count, bits, packed.data());
      const uint64_t lower = std::min(values[0], values[1]), upper = std::max(values[0], values[1]);
      uint64_t mask[8];
      compareRange(packed.data(), 2, bits, lower, upper, mask);
      for (uint32_t i = 0; i < count; ++i)
         CATCH_REQUIRE(((mask[i / 64] >> (i % 64)) & 1) == (values[i] >= lower && values[i] <= upper));
   }
}

CATCH_TEST_CASE("masks become row lists from any position") {
   std::mt19937_64 random(7);
   uint64_t mask[33];
   for (auto& word : mask)
      word = random();
   for (const uint32_t first : {0u, 1u, 63u, 64u, 100u}) {
      for (const uint32_t count : {1u, 2u, 63u, 64u, 65u, 1000u, 1948u}) {
         RowIndex rows[2048 + 64];
         const uint32_t n = maskToRows(mask, first, count, rows);
         uint32_t expected = 0;
         for (uint32_t i = 0; i < count; ++i)
            if (mask[(first + i) / 64] >> ((first + i) % 64) & 1) CATCH_REQUIRE(rows[expected++] == i);
         CATCH_REQUIRE(n == expected);
      }
   }
}
