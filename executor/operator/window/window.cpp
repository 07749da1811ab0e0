#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/sync/mutex.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/operator/window/window_stream.hpp"
#include "executor/pipeline/plan_builder.hpp"

// Window functions. Rows are sorted by PARTITION BY and ORDER BY keys; arguments and filters are evaluated once per row
// before the sort.
//
//    rows in memory  WindowSink finishes in rounds: sort, mark the starts of partitions and peer groups, compute the
//                    calls (a task computes some whole partitions); WindowSource gives rows and results
//    rows spilled    WindowSource merges, marks and computes range by range (WindowStream)

namespace ouzel::executor {

namespace {

using sql::plan::Node;

/// The sink of a window: sorts the rows. If no row was spilled, a round of tasks marks boundaries, and another round
/// computes partitions.
class WindowSink final : public SortSink {
public:
   WindowSink(SortInput input, ExternalSort& sort, WindowPlan plan)
      : SortSink(std::move(input), sort), buffer_(sort.buffer()), plan_(std::move(plan)), results_(plan_.calls.size()) {
      for (size_t i = 0; i < plan_.calls.size(); ++i)
         results_[i].type = plan_.calls[i].type;
      // Bytes per row of marks, peer groups and frames; of results; of gathered arguments.
      size_t bytes = 1 + 4 * sizeof(uint32_t);
      for (const WindowCallPlan& call : plan_.calls) {
         bytes += physicalSize(call.type) + 1;
         if (call.kernel)
            for (const PhysicalType type : call.argPhysical)
               bytes += physicalSize(type) + 1;
      }
      sort_.setBytesPerRow(bytes);
   }

   void prepare(QueryContext& context) override {
      SortSink::prepare(context);
      round_ = Round::Sort;
      {
         const MutexLock lock(mutex_);
         arenas_.clear();
      }
      if (plan_.startOffset) plan_.frame.startOffset = offset(context, *plan_.startOffset, "starting");
      if (plan_.endOffset) plan_.frame.endOffset = offset(context, *plan_.endOffset, "ending");
   }

   uint32_t finishTasks(QueryContext& context, uint32_t round) override {
      if (round_ == Round::Sort) {
         if (const uint32_t tasks = SortSink::finishTasks(context, round)) return tasks;
         buffer_.finishSort();
      }
      const uint64_t rows = buffer_.rowCount();
      if (rows == 0 || sort_.hasSpilled() || round_ == Round::Evaluate) return 0;
      if (round_ == Round::Sort) {
         round_ = Round::Mark;
         marks_ = LargeMemory(rows, sort_.memory());
         return static_cast<uint32_t>((rows + markRows - 1) / markRows);
      }
      round_ = Round::Evaluate;
      for (WindowResult& result : results_)
         result.allocate(rows, sort_.memory());
      chooseUnits();
      return static_cast<uint32_t>(units_.size() - 1);
   }
   void finishTask(QueryContext& context, uint32_t round, uint32_t task) override {
      if (round_ == Round::Sort)
         SortSink::finishTask(context, round, task);
      else if (round_ == Round::Mark)
         mark(uint64_t{task} * markRows);
      else
         evaluate(context, units_[task], units_[task + 1]);
   }
   void finish(QueryContext& context) override {
      SortSink::finish(context);
      marks_.release();
      units_.clear();
   }
   void describe(OperatorProfile& profile) const override {
      if (!sort_.hasSpilled()) profile.notes.emplace_back("Partitions", std::to_string(partitionCount_));
      sort_.describe(profile);
   }

   const WindowPlan& plan() const { return plan_; }
   std::span<const WindowResult> results() const { return results_; }

private:
   static constexpr uint64_t markRows = 1 << 16;
   enum class Round : uint8_t { Sort, Mark, Evaluate };

   Value offset(QueryContext& context, const sql::Expr& expr, const char* which) const {
      auto program = ExpressionProgram::compile(expr, ColumnSlots(), context.columns());
      ExpressionState state(program, context.functions(), context.memory());
      Batch one;
      one.setDense(1);
      Value value = Value::fromVector(program->evaluate(state, one, one.selection), 0);
      const std::string name = std::string("frame ") + which + " offset must not be ";
      if (value.isNull) throw SqlError(sqlstate::nullValueNotAllowed, name + "null");
      if (plan_.frame.mode != sql::FrameMode::Range && value.i64 < 0)
         throw SqlError(sqlstate::invalidPrecedingOrFollowingSize, name + "negative");
      return value;
   }

   void mark(uint64_t from) {
      const auto order = buffer_.order();
      const RowOrder compare = buffer_.rowOrder();
      const auto keys = static_cast<uint32_t>(buffer_.layout().key.columns().size());
      auto* marks = marks_.as<uint8_t>();
      for (uint64_t row = from; row < std::min<uint64_t>(from + markRows, order.size()); ++row) {
         if (row == 0 || compare.compare(order[row - 1], order[row], 0, plan_.partitionKeys) != 0)
            marks[row] = PartitionStart | PeerStart;
         else if (compare.compare(order[row - 1], order[row], plan_.partitionKeys, keys) != 0)
            marks[row] = PeerStart;
      }
   }

   /// Divide the rows into units, the tasks of computing: some whole partitions each.
   void chooseUnits() {
      const uint64_t rows = buffer_.rowCount();
      const auto* marks = marks_.as<uint8_t>();
      const uint64_t share = std::max<uint64_t>(1024, rows / (uint64_t{sort_.workers()} * 4));
      units_.assign(1, 0);
      partitionCount_ = 1;
      for (uint64_t row = 1; row < rows; ++row) {
         if ((marks[row] & PartitionStart) == 0) continue;
         ++partitionCount_;
         if (row - units_.back() >= share) units_.push_back(row);
      }
      units_.push_back(rows);
   }

   void evaluate(QueryContext& context, uint64_t from, uint64_t end) {
      WindowEvaluation evaluation(plan_, WindowPartition(buffer_, sort_.memory()), context.functions(), sort_.memory());
      auto strings = std::make_unique<Arena>(&sort_.memory());
      evaluation.evaluate(context, from, end, marks_.as<uint8_t>(), results_, *strings);
      const MutexLock lock(mutex_);
      arenas_.push_back(std::move(strings));
   }

   SortBuffer& buffer_;
   WindowPlan plan_;
   Round round_ = Round::Sort;
   std::vector<WindowResult> results_;
   LargeMemory marks_;
   std::vector<uint64_t> units_; // first row of each unit, then the number of rows
   uint64_t partitionCount_ = 0;
   Mutex mutex_;
   std::vector<std::unique_ptr<Arena>> arenas_ GUARDED_BY(mutex_);
};

struct SourceLocal final : LocalState {
   SourceLocal(GatherSpace s, const WindowPlan& plan) : space(std::move(s)), output(plan) {}
   GatherSpace space;
   Batch passed;
   WindowOutput output;
   std::unique_ptr<WindowStream::Lane> stream; // null: no rows were spilled
};

/// Gives rows in sort order, with the results. With few rows, or over a window without keys, one worker gives all rows,
/// so that they come in order. For few rows the order is a courtesy to clients of PostgreSQL, not a promise.
class WindowSource final : public Source {
public:
   WindowSource(ExternalSort& sort, const WindowSink& sink) : sort_(sort), buffer_(sort.buffer()), sink_(sink) {}
   void prepare(QueryContext& context) override {
      next_.store(0);
      if (sort_.hasSpilled()) stream_ = std::make_unique<WindowStream>(context, sort_, sink_.plan());
   }
   uint32_t workersMax() const override {
      const uint64_t rows = sort_.rowCount();
      if (buffer_.layout().key.columns().empty() || rows < 1 << 16) return 1;
      const auto lanes = static_cast<uint32_t>(std::min<uint64_t>(1024, rows / batchRowsMax));
      return stream_ ? std::min(lanes, stream_->lanesMax()) : lanes;
   }
   LocalStatePtr makeLocal(QueryContext& context) override {
      auto local = std::make_unique<SourceLocal>(
          GatherSpace(buffer_.layout().columns, sink_.plan().passedCount, context.memory()), sink_.plan());
      if (stream_) local->stream = stream_->makeLane(context);
      return local;
   }
   SourceStatus next(QueryContext& context, LocalState& state, Batch& out) override {
      auto& local = static_cast<SourceLocal&>(state);
      if (local.stream) return local.stream->next(context, out);
      const uint64_t step = context.settings().batchRows, from = next_.fetch_add(step);
      if (from >= buffer_.rowCount()) return SourceStatus::Done;
      const auto count = static_cast<uint32_t>(std::min(step, buffer_.rowCount() - from));
      local.space.gather(buffer_, buffer_.order().subspan(from, count), local.passed);
      local.output.assemble(local.passed, sink_.results(), from, count, out);
      return SourceStatus::HaveOutput;
   }
   void describe(OperatorProfile& profile) const override {
      if (stream_) stream_->describe(profile);
   }

private:
   ExternalSort& sort_;
   const SortBuffer& buffer_;
   const WindowSink& sink_;
   std::unique_ptr<WindowStream> stream_;
   std::atomic<uint64_t> next_{0};
};

} // namespace

std::vector<Stage> buildWindow(PlanBuilder& builder, const Node& node) {
   const Node& child = *node.children[0];
   std::vector<Stage> input = builder.produce(child);
   const sql::ColumnTable& columns = builder.context().columns();
   WindowPlan plan = planWindow(node, builder.context());
   const auto& window = node.as<sql::plan::Window>();
   const sql::WindowSpec& spec = window.spec;
   std::vector<SortOrder> orders;
   for (const sql::ExprPtr& expr : spec.partitionBy)
      orders.push_back({expr.get(), false, false});
   for (const SortOrder& order : sortOrders(spec.orderBy))
      orders.push_back(order);
   SortInput sortInput = makeSortInput(child.output, plan.stored, orders, columns, plan.extras);
   auto* sort = builder.own<ExternalSort>(sortInput.layout, builder.context().budget());
   if (window.rowsWanted > 0)
      sort->limitPartitions({.rows = static_cast<uint64_t>(window.rowsWanted),
                             .partitionKeys = static_cast<uint32_t>(spec.partitionBy.size()),
                             .withTies = window.calls[window.ranking].function->source == "window_rank"});
   auto* sink = builder.own<WindowSink>(std::move(sortInput), *sort, std::move(plan));
   builder.addPipeline(std::move(input), sink, builder.profileOf(node));
   Stage stage;
   stage.source = builder.own<WindowSource>(*sort, *sink);
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> stages;
   stages.push_back(std::move(stage));
   return stages;
}

} // namespace ouzel::executor
