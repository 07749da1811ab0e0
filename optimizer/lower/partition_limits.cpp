#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/lower/lowering.hpp"

// SELECT ... FROM (SELECT *, rank() OVER (PARTITION BY a ORDER BY b) r FROM t) s WHERE r <= 10: of each partition only
// the first rows are needed. The window drops others before it sorts; the filter stays.

namespace ouzel::optimizer {

using namespace sql;
using plan::Node;
using plan::NodeKind;

namespace {

/// Dropping rows pays only if few are kept.
constexpr int64_t rowsWantedMax = 1 << 16;
constexpr double rowsPerWanted = 2;

/// Whether the call's value depends only on rows before it and on its peers.
bool isRanking(const WindowCall& call) {
   if (!call.function) return false;
   const std::string_view source = call.function->source;
   return source == "window_rank" || source == "window_row_number" || source == "window_dense_rank";
}

/// The column that the predicate bounds from above, and its largest value.
struct UpperBound {
   ColumnId column = noColumn;
   int64_t value = 0;
};
UpperBound upperBound(const Expr& predicate) {
   const std::optional<CompareOp> op = compareOf(predicate);
   if (!op) return {};
   const bool isTurned = columnOf(*predicate.args[0]) == noColumn;
   const Expr& left = *predicate.args[isTurned ? 1 : 0];
   const Value* value = knownValue(*predicate.args[isTurned ? 0 : 1]);
   if (columnOf(left) == noColumn || !value || value->isNull || value->type != PhysicalType::I64) return {};
   const UpperBound bound{columnOf(left), value->i64};
   if (*op == CompareOp::Eq || *op == (isTurned ? CompareOp::Ge : CompareOp::Le)) return bound;
   if (*op == (isTurned ? CompareOp::Gt : CompareOp::Lt) && bound.value > 0) return {bound.column, bound.value - 1};
   return {};
}

/// `rows`: estimated, of the window's input.
void limitPartitions(plan::Window& window, double rows, const std::vector<ExprPtr>& predicates) {
   if (!std::all_of(window.calls.begin(), window.calls.end(), isRanking)) return;
   for (const ExprPtr& predicate : predicates) {
      const UpperBound bound = upperBound(*predicate);
      if (bound.column == noColumn || bound.value < 1 || bound.value > rowsWantedMax) continue;
      if (rows < rowsPerWanted * static_cast<double>(bound.value) * window.partitions) continue;
      for (uint32_t i = 0; i < window.calls.size(); ++i) {
         if (window.calls[i].column != bound.column) continue;
         if (window.calls[i].function->source == "window_dense_rank") continue; // any number of rows has a low one
         if (window.rowsWanted != 0 && window.rowsWanted <= bound.value) continue;
         window.rowsWanted = bound.value;
         window.ranking = i;
      }
   }
}

} // namespace

void assignPartitionLimits(Node& node) {
   checkStack();
   for (const plan::CtePlan& cte : node.ctes())
      assignPartitionLimits(*cte.plan);
   for (const plan::NodePtr& child : node.children)
      assignPartitionLimits(*child);
   const auto* filter = node.getIf<plan::Filter>();
   if (!filter) return;
   Node* below = node.children[0].get();
   while (below->kind == NodeKind::Project)
      below = below->children[0].get();
   if (auto* window = below->getIf<plan::Window>())
      limitPartitions(*window, below->children[0]->estimatedRows, filter->predicates);
}

} // namespace ouzel::optimizer
