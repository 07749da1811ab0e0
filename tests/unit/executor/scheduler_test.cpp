#include "executor/schedule/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <thread>

#include "executor/schedule/pipeline_run.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "tests/unit/executor/expression_support.hpp"

using namespace ouzel::executor;

namespace {

/// A query with one lane. A worker that finds the lane taken returns Nothing, which may be out of date by then.
class OneLane final : public Schedulable {
public:
   static constexpr uint32_t slices = 200;

   Outcome runSlice() override {
      if (taken_.exchange(true)) {
         std::this_thread::sleep_for(std::chrono::microseconds(50)); // makes the result out of date
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

/// A query whose every slice waits, on each worker that enters it, until it is let go.
class Waits final : public Schedulable {
public:
   Outcome runSlice() override {
      ++inside;
      while (!isLetGo)
         std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
      return Outcome::Nothing;
   }
   std::atomic<uint32_t> inside{0};
   std::atomic<bool> isLetGo{false};
};

/// A source whose first lane is blocked until the second lane has ended, as when another worker holds a partition. The
/// sink needs only one batch, so the first lane is not needed any more.
class WaitsForTheOther final : public Source {
public:
   struct Local final : LocalState {
      uint32_t number = 0;
   };
   uint32_t workersMax() const override { return 2; }
   LocalStatePtr makeLocal(QueryContext&) override {
      auto local = std::make_unique<Local>();
      local->number = lanes_++;
      return local;
   }
   SourceStatus next(QueryContext&, LocalState& local, ouzel::Batch& out) override {
      if (static_cast<Local&>(local).number == 0) return SourceStatus::Blocked;
      out.setDense(1);
      return SourceStatus::HaveOutput;
   }

private:
   uint32_t lanes_ = 0;
};

class WantsOneBatch final : public Sink {
public:
   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<LocalState>(); }
   SinkStatus consume(QueryContext&, LocalState&, const ouzel::Batch&) override { return SinkStatus::Done; }
};

std::unique_ptr<Pipeline> pipelineOf(Source& source, Sink& sink) {
   auto pipeline = std::make_unique<Pipeline>();
   pipeline->stages.push_back({&source, {}, UINT32_MAX, {}, {}});
   pipeline->sink = &sink;
   return pipeline;
}

struct TestQuery {
   ouzel::MemoryLedger ledger{size_t{1} << 30};
   ouzel::Reservation memory{ledger};
   ouzel::sql::plan::Plan plan;
   ExecutionContext execution;
   std::unique_ptr<RunningQueryState> state;

   TestQuery() {
      plan.root = std::make_unique<ouzel::sql::plan::Node>(ouzel::sql::plan::Values{});
      execution.functions = ouzel::test::testContext();
      execution.memory = &memory;
      state = std::make_unique<RunningQueryState>(plan, execution);
   }
};

} // namespace

/// A query of `slices` slices that each overrun: the workers are replaced meanwhile.
class Overruns final : public Schedulable {
public:
   static constexpr uint32_t slices = 6;
   Outcome runSlice() override {
      if (begun_.fetch_add(1) >= slices) return Outcome::Nothing;
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      return ++ended_ < slices ? Outcome::Ran : Outcome::Nothing;
   }
   bool hasEnded() const { return ended_ >= slices; }

private:
   std::atomic<uint32_t> begun_{0}, ended_{0};
};

CATCH_TEST_CASE("a query whose replaced workers park is gone on with") {
   for (int round = 0; round < 3; ++round) {
      Scheduler scheduler(2);
      Overruns slow;
      scheduler.add(slow);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      OneLane quick; // its workers look for work when `slow` has no room for them
      scheduler.add(quick);
      const auto giveUpAt = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!slow.hasEnded() && std::chrono::steady_clock::now() < giveUpAt)
         std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CATCH_CHECK(slow.hasEnded());
      CATCH_CHECK(quick.hasEnded());
      scheduler.remove(slow);
      scheduler.remove(quick);
   }
}

CATCH_TEST_CASE("queries that wait on every worker leave the others their cores") {
   Scheduler scheduler(2);
   std::deque<Waits> waiting(5);
   for (Waits& query : waiting)
      scheduler.add(query);
   OneLane busy;
   scheduler.add(busy);
   std::atomic<bool> hasRun{false};
   scheduler.submit([&] { hasRun = true; });
   while (!busy.hasEnded() || !hasRun)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
   for (const Waits& query : waiting)
      CATCH_CHECK(query.inside <= 2); // operators expect no more threads than workerCount()
   CATCH_CHECK(scheduler.workerCount() == 2);
   CATCH_CHECK(scheduler.threadCount() >= 3);
   CATCH_CHECK(scheduler.threadCount() <= 2 + 2 * waiting.size());
   scheduler.remove(busy);
   for (Waits& query : waiting)
      query.isLetGo = true;
   for (Waits& query : waiting)
      scheduler.remove(query);
}

CATCH_TEST_CASE("who waits is told when enough has come", "[scheduler]") {
   const TestQuery query;
   WaitsForTheOther source;
   WantsOneBatch sink;
   std::vector<OperatorProfile> profile;
   PipelineRun run(pipelineOf(source, sink), *query.state, profile, 2, nullptr);
   PipelineRun::Outcome outcome = PipelineRun::Outcome::Nothing;
   for (int slice = 0; slice < 100 && outcome != PipelineRun::Outcome::Ended; ++slice)
      outcome = run.run(1000);
   CATCH_CHECK(outcome == PipelineRun::Outcome::Ended);
}

// unblock() is what the session's thread calls when it takes a batch from a full queue. A sanitizer detects accesses to
// destroyed lanes.
CATCH_TEST_CASE("a pipeline may be woken while it ends", "[scheduler]") {
   const TestQuery query;
   for (int round = 0; round < 200; ++round) {
      WaitsForTheOther source;
      WantsOneBatch sink;
      std::vector<OperatorProfile> profile;
      PipelineRun run(pipelineOf(source, sink), *query.state, profile, 2, nullptr);
      std::atomic<bool> hasEnded{false};
      std::thread waker([&] {
         while (!hasEnded)
            run.unblock();
      });
      while (run.run(1000) != PipelineRun::Outcome::Ended) {
      }
      hasEnded = true;
      waker.join();
   }
}

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

namespace {

/// A query whose slices take half a millisecond each. Without an end it has always more to do.
class Works final : public Schedulable {
public:
   explicit Works(uint32_t slices) : slices_(slices) {}

   Outcome runSlice() override {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
      while (std::chrono::steady_clock::now() < until)
         ;
      return ++done < slices_ ? Outcome::Ran : Outcome::Nothing;
   }
   std::atomic<uint32_t> done{0};

private:
   const uint32_t slices_;
};

} // namespace

namespace {

bool waitUntil(const auto& isSo) {
   const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
   while (!isSo() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
   return isSo();
}

uint32_t doneOf(const std::deque<Works>& queries) {
   uint32_t sum = 0;
   for (const Works& query : queries)
      sum += query.done;
   return sum;
}

} // namespace

CATCH_TEST_CASE("a short query overtakes many long ones", "[scheduler]") {
   constexpr uint32_t longQueries = 16, before = 200, slices = 8;
   Scheduler scheduler(1);
   std::deque<Works> queries;
   for (uint32_t i = 0; i < longQueries; ++i)
      scheduler.add(queries.emplace_back(UINT32_MAX));
   CATCH_CHECK(waitUntil([&] { return doneOf(queries) >= longQueries * before; }));
   Works query(slices);
   const uint32_t begun = doneOf(queries);
   scheduler.add(query);
   CATCH_CHECK(waitUntil([&] { return query.done == slices; }));
   // In turns, the others would have run longQueries slices for each of its own.
   CATCH_CHECK(doneOf(queries) - begun < longQueries * slices / 2);
   scheduler.remove(query);
   for (Works& other : queries)
      scheduler.remove(other);
}

CATCH_TEST_CASE("many queries end one after the other, and short ones do not starve them", "[scheduler]") {
   constexpr uint32_t count = 16, slices = 150;
   Scheduler scheduler(1);
   std::deque<Works> queries;
   for (uint32_t i = 0; i < count; ++i)
      scheduler.add(queries.emplace_back(slices));
   std::deque<Works> shortQueries;
   const auto hasEnded = [](const Works& query, uint32_t all) { return query.done == all; };
   CATCH_CHECK(waitUntil([&] {
      if (shortQueries.size() < 200 && (shortQueries.empty() || shortQueries.back().done > 0))
         scheduler.add(shortQueries.emplace_back(3)); // there is always a short query
      return std::any_of(queries.begin(), queries.end(), [&](const Works& one) { return hasEnded(one, slices); });
   }));
   // The others have begun, and one more may have had its turn. Side by side, all would be near their ends.
   CATCH_CHECK(doneOf(queries) < count * slices / 2);
   CATCH_CHECK(waitUntil([&] { return doneOf(queries) == count * slices; }));
   for (Works& query : queries)
      scheduler.remove(query);
   for (Works& query : shortQueries)
      scheduler.remove(query);
}
