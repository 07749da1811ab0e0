#include "executor/operator/window/window_plan.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "executor/operator/fold/fold_program.hpp"

namespace ouzel::executor {

namespace {

constexpr uint32_t extraFlag = 1u << 31; // marks the number of an extra expression until all stored columns are known

uint32_t store(WindowPlan& plan, const sql::Expr& expr) {
   if (const auto* reference = expr.getIf<sql::scalar::Column>()) {
      const auto found = std::find(plan.stored.begin(), plan.stored.end(), reference->column);
      if (found == plan.stored.end()) {
         plan.stored.push_back(reference->column);
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

/// With a filter: CASE WHEN filter THEN arg END, so that the argument is evaluated only where the filter holds.
const sql::Expr& guarded(WindowPlan& plan, const sql::Expr& arg, const sql::Expr* filter) {
   if (!filter || arg.kind == sql::ExprKind::Column || arg.kind == sql::ExprKind::Constant) return arg;
   auto expr = std::make_unique<sql::Expr>(sql::ExprKind::Case, arg.type);
   expr->repr = arg.repr;
   expr->args.push_back(sql::clone(*filter));
   expr->args.push_back(sql::clone(arg));
   plan.owned.push_back(std::move(expr));
   return *plan.owned.back();
}

/// Whether combined states of parts of the rows always give the same result as one state of all rows.
bool isExactInAnyOrder(std::string_view name, const std::vector<PhysicalType>& args) {
   constexpr std::string_view exact[] = {"count",   "sum",   "avg",    "min",     "max",    "bool_and",
                                         "bool_or", "every", "bit_or", "bit_and", "bit_xor"};
   return std::find(std::begin(exact), std::end(exact), name) != std::end(exact) &&
          std::none_of(args.begin(), args.end(),
                       [](PhysicalType type) { return type == PhysicalType::F32 || type == PhysicalType::F64; });
}

WindowCallPlan planCall(WindowPlan& plan, const sql::WindowCall& call, QueryContext& context) {
   if (call.distinct) throwNotSupported("DISTINCT in window functions");
   if (!call.function) throwInternal("a window call without a function");
   WindowCallPlan out;
   const Representation result = context.columns()[call.column].repr;
   out.type = result.physical;
   std::vector<Representation> representations;
   for (const sql::ExprPtr& arg : call.args) {
      out.args.push_back(store(plan, guarded(plan, *arg, call.filter.get())));
      out.argTypes.push_back(arg->type);
      out.argPhysical.push_back(arg->repr.physical);
      representations.push_back(arg->repr);
   }
   if (call.filter) out.filter = store(plan, *call.filter);
   out.number = static_cast<uint32_t>(plan.calls.size());
   if (call.function->kind == catalog::FunctionKind::Aggregate) {
      if (call.fold) out.fold = std::make_shared<FoldProgram>(*call.fold, context.functions(), context.memory());
      out.kernel =
          out.fold ? &FoldProgram::kernel() : findAggregate(call.function->name, out.argTypes, representations, result);
      if (!out.kernel) throwNotSupported("aggregate " + std::string(call.function->name));
      out.mayCombine = isExactInAnyOrder(call.function->name, out.argPhysical);
   } else {
      out.source = call.function->source;
      const bool givesArgument = out.source.starts_with("window_l") || out.source.ends_with("_value");
      if (givesArgument && representations.at(0) != result)
         throwInternal("a window function that changes the representation of its argument");
   }
   return out;
}

} // namespace

WindowPlan planWindow(const sql::plan::Node& node, QueryContext& context) {
   WindowPlan plan;
   const auto& window = node.as<sql::plan::Window>();
   const sql::WindowSpec& spec = window.spec;
   const std::vector<sql::WindowCall>& calls = window.calls;
   for (const sql::ColumnId column : node.output) {
      const auto call =
          std::find_if(calls.begin(), calls.end(), [&](const sql::WindowCall& one) { return one.column == column; });
      if (call != calls.end()) {
         plan.output.push_back({true, static_cast<uint32_t>(call - calls.begin())});
      } else {
         plan.output.push_back({false, static_cast<uint32_t>(plan.stored.size())});
         plan.stored.push_back(column);
      }
   }
   plan.passedCount = static_cast<uint32_t>(plan.stored.size());
   plan.partitionKeys = static_cast<uint32_t>(spec.partitionBy.size());
   for (const sql::WindowCall& call : calls)
      plan.calls.push_back(planCall(plan, call, context));

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
   // The number of stored columns is known now: extra expressions are the stored columns after them.
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

// ---- evaluation ----

WindowEvaluation::WindowEvaluation(const WindowPlan& plan, WindowPartition partition, FunctionContext& functions,
                                   Reservation& memory)
   : plan_(plan), partition_(std::move(partition)), frames_(plan.frame, functions),
     usesFrame_(std::any_of(plan.calls.begin(), plan.calls.end(), usesFrame)) {
   for (const WindowCallPlan& call : plan.calls)
      evaluators_.push_back(makeWindowEvaluator(call, functions, memory));
}

void WindowEvaluation::evaluate(QueryContext& context, uint64_t from, uint64_t end, const uint8_t* marks,
                                std::span<WindowResult> results, Arena& strings, const WindowCarry* before) {
   while (from < end) {
      context.checkCancelled();
      uint64_t next = from + 1;
      while (next < end && (marks[next] & PartitionStart) == 0)
         ++next;
      if (next - from > INT32_MAX) throwNotSupported("a window partition of more than 2147483647 rows");
      partition_.reset(from, static_cast<uint32_t>(next - from), marks, before);
      evaluate({0, partition_.count(), from, true}, results, strings);
      before = nullptr;
      from = next;
   }
}

WindowCarry WindowEvaluation::carryOf(uint64_t from, uint64_t end, const uint8_t* marks) {
   WindowCarry out = WindowCarry::none(plan_);
   out.rows = end - from;
   for (uint64_t row = from; row < end; ++row)
      out.groups += (marks[row] & PeerStart) != 0;
   if (std::none_of(plan_.calls.begin(), plan_.calls.end(), [](const auto& call) { return call.kernel != nullptr; }))
      return out;
   partition_.reset(from, static_cast<uint32_t>(end - from), marks);
   for (size_t i = 0; i < evaluators_.size(); ++i)
      evaluators_[i]->addAll(partition_, out.state(i));
   return out;
}

void WindowEvaluation::openPaged(uint32_t begin, uint32_t count) {
   partition_.reset(begin, count);
}

void WindowEvaluation::evaluate(const WindowBlock& block, std::span<WindowResult> results, Arena& strings) {
   if (usesFrame_) frames_.compute(partition_, block);
   for (size_t i = 0; i < evaluators_.size(); ++i)
      evaluators_[i]->evaluate(partition_, frames_, block, results[i], strings);
}

void WindowOutput::assemble(const Batch& passed, std::span<const WindowResult> results, uint64_t from, uint32_t count,
                            Batch& out) {
   out.columns.clear();
   for (size_t i = 0; i < plan_.output.size(); ++i) {
      const WindowPlan::Output& column = plan_.output[i];
      if (!column.isResult) {
         out.columns.push_back(passed.columns[column.index]);
         continue;
      }
      const WindowResult& result = results[column.index];
      const ValidityWord* validity = nullptr;
      if (result.hasNulls.load(std::memory_order_relaxed)) {
         validity_[i].assign(validityWords(count), ~ValidityWord{0});
         for (uint32_t row = 0; row < count; ++row)
            if (result.nulls.as<uint8_t>()[from + row] != 0) setValidBit(validity_[i].data(), row, false);
         validity = validity_[i].data();
      }
      out.columns.push_back(Vector::flat(result.type, result.at(from), validity));
   }
   out.setDense(count);
}

} // namespace ouzel::executor
