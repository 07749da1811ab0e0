#include "common/hash/hyper_log_log.hpp"

#include <catch2/catch.hpp>

using namespace ouzel;

CATCH_TEST_CASE("distinct counts are estimated over the whole range") {
   for (const uint64_t distinct : {0ull, 1ull, 2ull, 10ull, 100ull, 1000ull, 5000ull, 100'000ull, 3'000'000ull}) {
      HyperLogLog sketch;
      for (uint64_t i = 0; i < distinct; ++i) {
         sketch.add(hashU64(i));
         if (i % 3 == 0) sketch.add(hashU64(i));
      }
      CATCH_CHECK(sketch.estimate() == Approx(static_cast<double>(distinct)).epsilon(0.1).margin(0.1));
      CATCH_CHECK(sketch.isEmpty() == (distinct == 0));
   }
}

CATCH_TEST_CASE("merged sketches estimate the union; bytes give back the sketch") {
   HyperLogLog a, b, both;
   for (uint64_t i = 0; i < 3000; ++i) {
      (i % 2 ? a : b).add(hashU64(i));
      a.add(hashU64(i / 4));
      both.add(hashU64(i));
   }
   a.merge(b);
   CATCH_CHECK(a.estimate() == both.estimate());
   for (const uint64_t count : {0ull, 20ull, 3000ull}) {
      HyperLogLog sketch, back;
      for (uint64_t i = 0; i < count; ++i)
         sketch.add(hashU64(i));
      std::string bytes;
      sketch.serialize(bytes);
      for (size_t cut = 0; cut < bytes.size(); cut += 97) {
         std::string_view part = std::string_view(bytes).substr(0, cut);
         CATCH_CHECK_FALSE(back.deserialize(part));
      }
      std::string_view all = bytes;
      CATCH_REQUIRE(back.deserialize(all));
      CATCH_CHECK(all.empty());
      CATCH_CHECK(back.estimate() == sketch.estimate());
   }
}
