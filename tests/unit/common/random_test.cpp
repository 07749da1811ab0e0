#include "common/env/random.hpp"

#include <catch2/catch.hpp>

using namespace ouzel;

CATCH_TEST_CASE("after setseed(0.5) random() gives PostgreSQL's numbers") {
   SessionRandom random(1);
   random.setSeed(0.5);
   CATCH_CHECK(random.next() == 0.9851677175347999);
   CATCH_CHECK(random.next() == 0.825301858027981);
   CATCH_CHECK(random.next() == 0.12974610012450416);
   for (int i = 0; i < 1000; ++i) {
      const double v = random.next();
      CATCH_CHECK((v >= 0 && v < 1));
   }
}
