#include "common/thread/task_runner.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using namespace ouzel;

CATCH_TEST_CASE("each piece runs once, nested loops included, and the first error comes back") {
   InlineTaskRunner inlineRunner;
   ThreadTaskRunner threads(3);
   for (TaskRunner* runner : {static_cast<TaskRunner*>(&inlineRunner), static_cast<TaskRunner*>(&threads)}) {
      for (const uint64_t count : {0u, 1u, 2u, 1000u}) {
         std::vector<std::atomic<int>> runs(count);
         runner->parallelFor(count, [&](uint64_t i) { ++runs[i]; });
         bool once = true;
         for (const auto& n : runs)
            once &= n == 1;
         CATCH_CHECK(once);
      }
      std::atomic<int> inner{0};
      runner->parallelFor(8, [&](uint64_t) { runner->parallelFor(8, [&](uint64_t) { ++inner; }); });
      CATCH_CHECK(inner == 64);
      CATCH_CHECK_THROWS_AS(runner->parallelFor(10,
                                                [&](uint64_t i) {
                                                   if (i == 7) throw std::runtime_error("seven");
                                                }),
                            std::runtime_error);
   }
   std::atomic<int> submitted{0};
   {
      ThreadTaskRunner pool(2);
      for (int i = 0; i < 100; ++i)
         pool.submit([&] { ++submitted; });
   }
   CATCH_CHECK(submitted == 100);
}
