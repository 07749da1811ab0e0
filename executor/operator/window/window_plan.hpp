#pragma once
#include <memory>
#include <span>
#include <vector>

#include "executor/operator/window/window_function.hpp"
#include "executor/pipeline/operator.hpp"
#include "sql/plan/plan.hpp"

namespace ouzel::executor {

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

WindowPlan planWindow(const sql::plan::Node& node, const sql::ColumnTable& columns);

/// One worker's computation of all calls, partition by partition. Keeps its scratch between them.
class WindowEvaluation {
public:
   WindowEvaluation(const WindowPlan& plan, WindowPartition partition, FunctionContext& functions, Reservation& memory);
   /// Some rows of a paged partition; blocks come in order.
   void evaluate(const WindowBlock& block, std::span<WindowResult> results, Arena& strings);
   /// Rows [from, end) of the buffer's order are whole partitions. Strings of results that are new go to `strings`.
   void evaluate(QueryContext& context, uint64_t from, uint64_t end, const uint8_t* marks,
                 std::span<WindowResult> results, Arena& strings);

private:
   WindowPartition partition_;
   WindowFrames frames_;
   bool usesFrame_;
   std::vector<std::unique_ptr<WindowEvaluator>> evaluators_;
};

/// Puts output columns together: passed ones of `passed`, and of rows [from, from + count) of the results.
class WindowOutput {
public:
   explicit WindowOutput(const WindowPlan& plan) : plan_(plan), validity_(plan.output.size()) {}
   void assemble(const Batch& passed, std::span<const WindowResult> results, uint64_t from, uint32_t count, Batch& out);

private:
   const WindowPlan& plan_;
   std::vector<std::vector<ValidityWord>> validity_;
};

} // namespace ouzel::executor
