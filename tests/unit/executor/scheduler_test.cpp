#include "executor/schedule/scheduler.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <deque>

using namespace ouzel::executor;

namespace {

/// A query with one lane: a worker that finds it taken says Nothing, which by then may be out of date.
class OneLane final : public Schedulable {
public:
   static constexpr uint32_t slices = 200;

   Outcome runSlice() override {
      if (taken_.exchange(true)) {
         std::this_thread::sleep_for(std::chrono::microseconds(50)); // what it says is then out of date
         return Outcome::Nothing;
      }
      const uint32_t done = done_.load();
      if (done < slices) done_.store(done + 1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      taken_.store(false);
      return done < slices ? Outcome::Ran : Outcome::Nothing;
   }
   bool hasEnded() const { return done_.load() == slices; }

private:
   std::atomic<bool> taken_{false};
   std::atomic<uint32_t> done_{0};
};

} // namespace

CATCH_TEST_CASE("no query is forgotten among others", "[scheduler]") {
   for (const uint32_t workers : {2u, 4u}) {
      Scheduler scheduler(workers);
      std::deque<OneLane> queries(12);
      for (OneLane& query : queries)
         scheduler.add(query);
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      for (OneLane& query : queries)
         while (!query.hasEnded() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (OneLane& query : queries) {
         CATCH_CHECK(query.hasEnded());
         scheduler.remove(query);
      }
   }
}
