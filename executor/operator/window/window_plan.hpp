#pragma once
#include <memory>
#include <span>
#include <vector>

#include "executor/operator/window/window_carry.hpp"
#include "executor/operator/window/window_function.hpp"
#include "executor/pipeline/operator.hpp"
#include "sql/plan/plan.hpp"

namespace ouzel::executor {

/// A window node, planned: the columns that the sort stores, the calls over them, and the output.
struct WindowPlan {
   std::vector<sql::ColumnId> stored;
   std::vector<sql::ExprPtr> owned; // expressions made by planWindow()
   std::vector<const sql::Expr*> extras;
   std::vector<WindowCallPlan> calls;
   /// An output column: a stored column, or the result of a call, by number.
   struct Output {
      bool isResult;
      uint32_t index;
   };
   std::vector<Output> output;
   uint32_t passedCount = 0;   // number of stored columns in the output; they are the first ones
   uint32_t partitionKeys = 0; // number of PARTITION BY keys, the first sort keys
   FrameClause frame;
   const sql::Expr* startOffset = nullptr;
   const sql::Expr* endOffset = nullptr;
};

WindowPlan planWindow(const sql::plan::Node& node, QueryContext& context);

/// Computes all calls for one worker, partition by partition. Keeps its scratch memory between partitions.
class WindowEvaluation {
public:
   WindowEvaluation(const WindowPlan& plan, WindowPartition partition, FunctionContext& functions, Reservation& memory);
   /// Of paged rows: the blocks that come next are of the partition with rows [begin, begin + count).
   void openPaged(uint32_t begin, uint32_t count);
   /// Compute a block of the partition that openPaged() named; its blocks must come in order.
   void evaluate(const WindowBlock& block, std::span<WindowResult> results, Arena& strings);
   /// Compute rows [from, end) of the buffer's order, which are whole partitions. New strings of results go to
   /// `strings`. `before`: the first partition has earlier rows; may be null.
   void evaluate(QueryContext& context, uint64_t from, uint64_t end, const uint8_t* marks,
                 std::span<WindowResult> results, Arena& strings, const WindowCarry* before = nullptr);
   /// What rows [from, end) of the buffer's order, all of one partition, pass on to later rows. REQUIRES: mayCarry().
   WindowCarry carryOf(uint64_t from, uint64_t end, const uint8_t* marks);

private:
   const WindowPlan& plan_;
   WindowPartition partition_;
   WindowFrames frames_;
   bool usesFrame_;
   std::vector<std::unique_ptr<WindowEvaluator>> evaluators_;
};

/// Makes output batches from stored columns and from rows [from, from + count) of the results. Used by one worker.
class WindowOutput {
public:
   explicit WindowOutput(const WindowPlan& plan) : plan_(plan), validity_(plan.output.size()) {}
   void assemble(const Batch& passed, std::span<const WindowResult> results, uint64_t from, uint32_t count, Batch& out);

private:
   const WindowPlan& plan_;
   std::vector<std::vector<ValidityWord>> validity_;
};

} // namespace ouzel::executor
