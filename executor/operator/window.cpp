#include <algorithm>
#include <mutex>

#include "catalog/builtin/builtin.hpp"
#include "executor/operator/plan_builder.hpp"
#include "executor/operator/sort_sink.hpp"
#include "executor/operator/window_function.hpp"

// Window: all rows are sorted by partition and order keys; then tasks mark where partitions and peer groups start, and
// others compute the calls, some partitions each. Arguments and filters are evaluated once per row before the sort.

namespace ouzel::executor {

namespace {

using sql::plan::Node;

/// What the sort is to store, and what the window does with it.
struct WindowPlan {
   std::vector<sql::ColumnId> stored;
   std::vector<sql::ExprPtr> owned; // expressions made here
   std::vector<const sql::Expr*> extras;
   std::vector<WindowCallPlan> calls;
   /// Output column i: stored column, or (from stored count on) result number.
   struct Output {
      bool isResult;
      uint32_t index;
   };
   std::vector<Output> output;
   uint32_t passedCount = 0;   // stored columns that are output
   uint32_t partitionKeys = 0; // the first of the sort keys
   FrameClause frame;
   const sql::Expr* startOffset = nullptr;
   const sql::Expr* endOffset = nullptr;
};

constexpr uint32_t extraFlag = 1u << 31; // marks the number of an extra until all stored columns are known

uint32_t store(WindowPlan& plan, const sql::Expr& expr) {
   if (expr.kind == sql::ExprKind::Column) {
      const auto found = std::find(plan.stored.begin(), plan.stored.end(), expr.column);
      if (found == plan.stored.end()) {
         plan.stored.push_back(expr.column);
         return static_cast<uint32_t>(plan.stored.size() - 1);
      }
      return static_cast<uint32_t>(found - plan.stored.begin());
   }
   for (uint32_t i = 0; i < plan.extras.size(); ++i)
      if (sql::equal(*plan.extras[i], expr) && plan.extras[i]->repr == expr.repr && !sql::isVolatile(expr))
         return i | extraFlag;
   plan.extras.push_back(&expr);
   return static_cast<uint32_t>(plan.extras.size() - 1) | extraFlag;
}

/// An argument of a filtered aggregate is evaluated only where the filter holds.
const sql::Expr& guarded(WindowPlan& plan, const sql::Expr& arg, const sql::Expr* filter) {
   if (!filter || arg.kind == sql::ExprKind::Column || arg.kind == sql::ExprKind::Constant) return arg;
   auto expr = std::make_unique<sql::Expr>(sql::ExprKind::Case, arg.type);
   expr->repr = arg.repr;
   expr->args.push_back(sql::clone(*filter));
   expr->args.push_back(sql::clone(arg));
   plan.owned.push_back(std::move(expr));
   return *plan.owned.back();
}

WindowCallPlan planCall(WindowPlan& plan, const sql::WindowCall& call, const sql::ColumnTable& columns) {
   if (call.distinct) throwNotSupported("DISTINCT in window functions");
   if (!call.function) throwInternal("a window call without a function");
   WindowCallPlan out;
   const Representation result = columns[call.column].repr;
   out.type = result.physical;
   std::vector<Representation> representations;
   for (const sql::ExprPtr& arg : call.args) {
      out.args.push_back(store(plan, guarded(plan, *arg, call.filter.get())));
      out.argTypes.push_back(arg->type);
      out.argPhysical.push_back(arg->repr.physical);
      representations.push_back(arg->repr);
   }
   if (call.filter) out.filter = store(plan, *call.filter);
   if (call.function->kind == catalog::FunctionKind::Aggregate) {
      out.kernel = findAggregate(call.function->name, out.argTypes, representations, result);
      if (!out.kernel) throwNotSupported("aggregate " + std::string(call.function->name));
   } else {
      out.source = call.function->source;
      const bool givesArgument = out.source.starts_with("window_l") || out.source.ends_with("_value");
      if (givesArgument && representations.at(0) != result)
         throwInternal("a window function that changes the representation of its argument");
   }
   return out;
}

WindowPlan planWindow(const Node& node, const sql::ColumnTable& columns) {
   WindowPlan plan;
   const sql::WindowSpec& spec = node.windowSpec;
   const auto isCall = [&](sql::ColumnId column) {
      return std::find_if(node.windowCalls.begin(), node.windowCalls.end(),
                          [&](const sql::WindowCall& call) { return call.column == column; });
   };
   for (const sql::ColumnId column : node.output) {
      const auto call = isCall(column);
      if (call != node.windowCalls.end()) {
         plan.output.push_back({true, static_cast<uint32_t>(call - node.windowCalls.begin())});
      } else {
         plan.output.push_back({false, static_cast<uint32_t>(plan.stored.size())});
         plan.stored.push_back(column);
      }
   }
   plan.passedCount = static_cast<uint32_t>(plan.stored.size());
   plan.partitionKeys = static_cast<uint32_t>(spec.partitionBy.size());
   for (const sql::WindowCall& call : node.windowCalls)
      plan.calls.push_back(planCall(plan, call, columns));

   FrameClause& frame = plan.frame;
   frame.mode = spec.mode;
   frame.start = spec.start.kind;
   frame.end = spec.end.kind;
   frame.exclusion = spec.exclusion;
   plan.startOffset = spec.start.offset.get();
   plan.endOffset = spec.end.offset.get();
   if (frame.hasRangeOffset()) {
      if (spec.orderBy.size() != 1) throwInternal("RANGE with offset over several keys");
      const sql::SortKey& key = spec.orderBy[0];
      frame.keyColumn = store(plan, *key.expr);
      frame.keyType = key.expr->type;
      frame.descending = key.descending;
      frame.nullsFirst = key.nullsFirst;
   }
   // Now that it is known how many columns are stored, extras have their places behind them.
   const auto place = [&](uint32_t& number) {
      if (number != UINT32_MAX && (number & extraFlag) != 0)
         number = static_cast<uint32_t>(plan.stored.size()) + (number & ~extraFlag);
   };
   for (WindowCallPlan& call : plan.calls) {
      for (uint32_t& arg : call.args)
         place(arg);
      place(call.filter);
   }
   place(frame.keyColumn);
   return plan;
}

/// Sorts, then computes. Rounds 0 and 1 are the sort's, 2 marks boundaries, 3 evaluates partitions.
class WindowSink final : public SortSink {
public:
   WindowSink(SortInput input, SortBuffer& buffer, WindowPlan plan)
      : SortSink(std::move(input), buffer), plan_(std::move(plan)), results_(plan_.calls.size()) {
      for (size_t i = 0; i < plan_.calls.size(); ++i)
         results_[i].type = plan_.calls[i].type;
      usesFrame_ = std::any_of(plan_.calls.begin(), plan_.calls.end(), usesFrame);
   }

   void prepare(QueryContext& context) override {
      SortSink::prepare(context);
      arenas_.clear();
      if (plan_.startOffset) plan_.frame.startOffset = offset(context, *plan_.startOffset, "starting");
      if (plan_.endOffset) plan_.frame.endOffset = offset(context, *plan_.endOffset, "ending");
   }

   uint32_t finishTasks(QueryContext& context, uint32_t round) override {
      const uint64_t rows = buffer_.rowCount();
      if (rows == 0) return 0;
      switch (round) {
      case 0:
      case 1:
         return SortSink::finishTasks(context, round);
      case 2:
         buffer_.finishSort();
         marks_ = LargeMemory(rows, context.memory());
         return static_cast<uint32_t>((rows + markRows - 1) / markRows);
      case 3:
         for (WindowResult& result : results_)
            result.allocate(rows, context.memory());
         chooseUnits();
         return static_cast<uint32_t>(units_.size() - 1);
      default:
         return 0;
      }
   }
   void finishTask(QueryContext& context, uint32_t round, uint32_t task) override {
      if (round < SortBuffer::sortRounds)
         SortSink::finishTask(context, round, task);
      else if (round == SortBuffer::sortRounds)
         mark(uint64_t{task} * markRows);
      else
         evaluate(context, units_[task], units_[task + 1]);
   }
   void finish(QueryContext&) override {
      buffer_.finishSort();
      buffer_.releaseKeys();
      marks_.release();
      units_.clear();
   }
   void describe(OperatorProfile& profile) const override {
      profile.notes.emplace_back("Partitions", std::to_string(partitionCount_));
   }

   const std::vector<WindowPlan::Output>& output() const { return plan_.output; }
   uint32_t passedCount() const { return plan_.passedCount; }
   const WindowResult& result(uint32_t index) const { return results_[index]; }

private:
   static constexpr uint64_t markRows = 1 << 16;

   Value offset(QueryContext& context, const sql::Expr& expr, const char* which) const {
      auto program = ExpressionProgram::compile(expr, ColumnSlots(), context.columns());
      ExpressionState state(program, context.functions());
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

   /// Cut the rows into pieces of whole partitions.
   void chooseUnits() {
      const uint64_t rows = buffer_.rowCount();
      const auto* marks = marks_.as<uint8_t>();
      const uint64_t share = std::max<uint64_t>(1024, rows / (uint64_t{workers_} * 4));
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
      WindowPartition partition(buffer_, context.memory());
      WindowFrames frames(plan_.frame, context.functions());
      std::vector<std::unique_ptr<WindowEvaluator>> evaluators;
      for (const WindowCallPlan& call : plan_.calls)
         evaluators.push_back(makeWindowEvaluator(call, context.functions(), context.memory()));
      auto strings = std::make_unique<Arena>(&context.memory());
      const auto* marks = marks_.as<uint8_t>();
      while (from < end) {
         context.checkCancelled();
         uint64_t next = from + 1;
         while (next < end && (marks[next] & PartitionStart) == 0)
            ++next;
         if (next - from > INT32_MAX) throwNotSupported("a window partition of more than 2147483647 rows");
         partition.reset(from, static_cast<uint32_t>(next - from), marks);
         if (usesFrame_) frames.compute(partition);
         for (size_t i = 0; i < evaluators.size(); ++i)
            evaluators[i]->evaluate(partition, frames, results_[i], *strings);
         from = next;
      }
      const std::lock_guard lock(mutex_);
      arenas_.push_back(std::move(strings));
   }

   WindowPlan plan_;
   bool usesFrame_ = false;
   std::vector<WindowResult> results_;
   LargeMemory marks_;
   std::vector<uint64_t> units_; // first row of each, and the end
   uint64_t partitionCount_ = 0;
   std::mutex mutex_; // guards arenas_
   std::vector<std::unique_ptr<Arena>> arenas_;
};

struct SourceLocal final : LocalState {
   explicit SourceLocal(GatherSpace s) : space(std::move(s)) {}
   GatherSpace space;
   Batch passed;
   std::vector<std::vector<ValidityWord>> validity;
};

/// Rows in sort order with the results beside them. Small results come in order, out of one worker, as clients of
/// PostgreSQL are used to; nobody may rely on it but over a window without keys.
class WindowSource final : public Source {
public:
   WindowSource(const SortBuffer& buffer, const WindowSink& sink) : buffer_(buffer), sink_(sink) {}
   void prepare(QueryContext&) override { next_.store(0); }
   uint32_t workersMax() const override {
      if (buffer_.layout().key.columns().empty() || buffer_.rowCount() < 1 << 16) return 1;
      return static_cast<uint32_t>(std::min<uint64_t>(1024, buffer_.rowCount() / batchRowsMax));
   }
   LocalStatePtr makeLocal(QueryContext& context) override {
      auto local =
          std::make_unique<SourceLocal>(GatherSpace(buffer_.layout().columns, sink_.passedCount(), context.memory()));
      local->validity.resize(sink_.output().size());
      return local;
   }
   SourceStatus next(QueryContext& context, LocalState& state, Batch& out) override {
      auto& local = static_cast<SourceLocal&>(state);
      const uint64_t step = context.settings().batchRows, from = next_.fetch_add(step);
      if (from >= buffer_.rowCount()) return SourceStatus::Done;
      const auto count = static_cast<uint32_t>(std::min(step, buffer_.rowCount() - from));
      local.space.gather(buffer_, buffer_.order().subspan(from, count), local.passed);
      out.columns.clear();
      for (size_t i = 0; i < sink_.output().size(); ++i) {
         const WindowPlan::Output& column = sink_.output()[i];
         if (!column.isResult) {
            out.columns.push_back(local.passed.columns[column.index]);
            continue;
         }
         const WindowResult& result = sink_.result(column.index);
         const ValidityWord* validity = nullptr;
         if (result.hasNulls.load(std::memory_order_relaxed)) {
            local.validity[i].assign(validityWords(count), ~ValidityWord{0});
            for (uint32_t row = 0; row < count; ++row)
               if (result.nulls.as<uint8_t>()[from + row] != 0) setValidBit(local.validity[i].data(), row, false);
            validity = local.validity[i].data();
         }
         out.columns.push_back(Vector::flat(result.type, result.at(from), validity));
      }
      out.setDense(count);
      return SourceStatus::HaveOutput;
   }

private:
   const SortBuffer& buffer_;
   const WindowSink& sink_;
   std::atomic<uint64_t> next_{0};
};

} // namespace

std::vector<Stage> buildWindow(PlanBuilder& builder, const Node& node) {
   const Node& child = *node.children[0];
   std::vector<Stage> input = builder.produce(child);
   const sql::ColumnTable& columns = builder.context().columns();
   WindowPlan plan = planWindow(node, columns);
   std::vector<SortOrder> orders;
   for (const sql::ExprPtr& expr : node.windowSpec.partitionBy)
      orders.push_back({expr.get(), false, false});
   for (const SortOrder& order : sortOrders(node.windowSpec.orderBy))
      orders.push_back(order);
   SortInput sortInput = makeSortInput(child.output, plan.stored, orders, columns, plan.extras);
   auto* buffer = builder.own<SortBuffer>(sortInput.layout);
   auto* sink = builder.own<WindowSink>(std::move(sortInput), *buffer, std::move(plan));
   builder.addPipeline(std::move(input), sink, builder.profileOf(node));
   Stage stage;
   stage.source = builder.own<WindowSource>(*buffer, *sink);
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> stages;
   stages.push_back(std::move(stage));
   return stages;
}

} // namespace ouzel::executor
