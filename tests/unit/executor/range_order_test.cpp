#include "executor/schedule/range_order.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "executor/schedule/pipeline_run.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "tests/unit/executor/expression_support.hpp"

// Pipelines whose source has ranges: what lanes give at the same time reaches the sink in order.

namespace ouzel::executor {
namespace {

/// Gives the numbers from 0 on, in ranges of different lengths, some of them empty.
class Numbers final : public Source {
public:
   explicit Numbers(std::vector<uint32_t> ends) : ends_(std::move(ends)) {}
   uint32_t openRanges(QueryContext&) override { return static_cast<uint32_t>(ends_.size()); }
   uint32_t workersMax() const override { return ends_.size() > 1 ? 4 : 1; }
   uint32_t rangeOf(const LocalState& local) const override { return static_cast<const Local&>(local).range; }
   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<Local>(); }
   SourceStatus next(QueryContext& context, LocalState& state, Batch& out) override {
      auto& local = static_cast<Local&>(state);
      if (!local.isOpen) {
         local.range = next_.fetch_add(1);
         if (local.range >= ends_.size()) return SourceStatus::Done;
         local.isOpen = true;
         local.at = local.range == 0 ? 0 : ends_[local.range - 1];
      }
      if (local.random() % 8 == 0) {
         context.wake();
         return SourceStatus::Blocked;
      }
      const auto count = std::min<uint32_t>(static_cast<uint32_t>(local.random() % 700), ends_[local.range] - local.at);
      if (count == 0 && local.at == ends_[local.range]) {
         local.isOpen = false;
         return SourceStatus::RangeEnd;
      }
      local.numbers.resize(std::max(count, 1u));
      for (uint32_t i = 0; i < count; ++i)
         local.numbers[i] = local.at++;
      out.columns.assign(1, Vector::flat(PhysicalType::I64, local.numbers.data(), nullptr));
      out.setDense(count);
      return SourceStatus::HaveOutput;
   }

private:
   struct Local final : LocalState {
      std::mt19937 random{5};
      bool isOpen = false;
      uint32_t range = 0, at = 0;
      std::vector<int64_t> numbers;
   };
   const std::vector<uint32_t> ends_;
   std::atomic<uint32_t> next_{0};
};

/// Passes each batch in two parts.
class Halves final : public StreamingOperator {
public:
   explicit Halves(bool takesAnyOrder) : takesAnyOrder_(takesAnyOrder) {}
   bool takesAnyOrder() const override { return takesAnyOrder_; }
   LocalStatePtr makeLocal(QueryContext&) override {
      ++lanes;
      return std::make_unique<Local>();
   }
   OperatorStatus process(QueryContext&, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<Local&>(state);
      const uint32_t rows = in.liveRows(), half = rows / 2;
      local.rows.clear();
      for (uint32_t i = local.isSecond ? half : 0; i < (local.isSecond ? rows : half); ++i)
         local.rows.push_back(in.selection.row(i));
      out.columns = in.columns;
      out.rowCount = in.rowCount;
      out.selection = Selection::list(local.rows);
      local.isSecond = !local.isSecond;
      return local.isSecond ? OperatorStatus::HaveOutput : OperatorStatus::NeedInput;
   }
   std::atomic<uint32_t> lanes{0};

private:
   struct Local final : LocalState {
      bool isSecond = false;
      std::vector<RowIndex> rows;
   };
   const bool takesAnyOrder_;
};

/// Wants the numbers in order. It is Blocked now and then, and done after `rowsMax` rows.
class InOrder final : public Sink {
public:
   explicit InOrder(int64_t rowsMax) : rowsMax_(rowsMax) {}
   LocalStatePtr makeLocal(QueryContext&) override {
      ++lanes;
      return std::make_unique<LocalState>();
   }
   SinkStatus consume(QueryContext& context, LocalState&, const Batch& in) override {
      if (random_() % 4 == 0) {
         context.wake();
         return SinkStatus::Blocked;
      }
      const auto* numbers = static_cast<const int64_t*>(in.columns[0].data);
      for (uint32_t i = 0; i < in.liveRows() && count < rowsMax_; ++i, ++count)
         isOrdered = isOrdered && numbers[in.selection.row(i)] == count;
      return count == rowsMax_ ? SinkStatus::Done : SinkStatus::NeedInput;
   }
   std::atomic<uint32_t> lanes{0};
   int64_t count = 0;
   bool isOrdered = true;

private:
   const int64_t rowsMax_;
   std::mt19937 random_{9};
};

void check(uint32_t ranges, uint32_t rowsPerRange, int64_t rowsMax, uint32_t workers) {
   CATCH_INFO(ranges << " ranges of " << rowsPerRange << ", limit " << rowsMax << ", " << workers << " workers");
   MemoryLedger ledger{size_t{1} << 30};
   Reservation memory{ledger};
   sql::plan::Plan plan;
   plan.root = std::make_unique<sql::plan::Node>(sql::plan::Values{});
   ExecutionContext execution;
   execution.functions = ouzel::test::testContext();
   execution.memory = &memory;
   execution.memoryLimit = size_t{1} << 20; // few batches may wait
   RunningQueryState state(plan, execution);

   std::mt19937 random(ranges + rowsPerRange);
   std::vector<uint32_t> ends;
   uint32_t end = 0;
   for (uint32_t range = 0; range < ranges; ++range)
      ends.push_back(end += static_cast<uint32_t>(random() % (2 * rowsPerRange + 1)));
   Numbers source(ends);
   Halves anyOrder(true), ordered(false);
   InOrder sink(rowsMax);
   auto pipeline = std::make_unique<Pipeline>();
   pipeline->stages.push_back({&source, {&anyOrder, &ordered}, UINT32_MAX, {UINT32_MAX, UINT32_MAX}, {}});
   pipeline->sink = &sink;
   std::vector<OperatorProfile> profile;
   {
      PipelineRun run(std::move(pipeline), state, profile, workers, nullptr);
      std::atomic<bool> hasEnded{false};
      std::vector<std::thread> threads;
      for (uint32_t i = 0; i < workers; ++i)
         threads.emplace_back([&] {
            while (!hasEnded)
               switch (run.run(1000)) {
               case PipelineRun::Outcome::Ran: break;
               case PipelineRun::Outcome::Nothing: run.unblock(); break;
               case PipelineRun::Outcome::Ended: hasEnded = true; break;
               }
         });
      for (std::thread& thread : threads)
         thread.join();
   }
   CATCH_CHECK(sink.isOrdered);
   CATCH_CHECK(sink.count == std::min<int64_t>(rowsMax, end));
   CATCH_CHECK(sink.lanes == 1);
   CATCH_CHECK(ordered.lanes == 1);
   CATCH_CHECK(anyOrder.lanes >= 1);
   CATCH_CHECK(memory.peak() < size_t{1} << 20);
   CATCH_CHECK(memory.used() == 0);
}

CATCH_TEST_CASE("ranges reach the sink in order", "[scheduler]") {
   for (const uint32_t workers : {1u, 2u, 4u}) {
      check(1, 5000, INT64_MAX, workers);
      check(2, 30'000, INT64_MAX, workers);
      check(300, 10, INT64_MAX, workers);
      check(60, 9000, INT64_MAX, workers);
      check(60, 9000, 100'000, workers);
      check(40, 3000, 1, workers);
   }
}

} // namespace
} // namespace ouzel::executor
