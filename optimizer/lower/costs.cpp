#include <algorithm>
#include <cmath>

#include "common/thread/stack.hpp"
#include "optimizer/lower/lowering.hpp"

// The cost that EXPLAIN shows: the time of a subtree in units of about 100 ns, from estimated rows. No decision uses
// it.

namespace ouzel::optimizer {

using namespace sql;
using plan::Node;
using plan::NodeKind;

namespace {

constexpr double scanRow = 0.01, predicateRow = 0.01, computedRow = 0.02, probeRow = 0.15, buildRow = 0.4,
                 outputRow = 0.03, pairRow = 0.01, groupRow = 0.15, sortStep = 0.05, windowRow = 0.3, writtenRow = 1;

double rowsOf(const Node& node) {
   return std::max(1.0, node.estimatedRows);
}

double sortCost(double rows) {
   return rows * std::log2(std::max(2.0, rows)) * sortStep;
}

double ownCost(const Node& node) {
   const double in = node.children.empty() ? 0 : rowsOf(*node.children[0]), out = rowsOf(node);
   switch (node.kind) {
   case NodeKind::TableScan:
   case NodeKind::VirtualScan: {
      const auto& scan = node.as<plan::Scan>();
      return out * scanRow * static_cast<double>(1 + scan.columns.size()) +
             out * predicateRow * static_cast<double>(scan.predicates.size());
   }
   case NodeKind::Filter: return in * predicateRow * static_cast<double>(node.as<plan::Filter>().predicates.size());
   case NodeKind::Project:
   case NodeKind::ProjectSet:
      return out * computedRow * static_cast<double>(node.as<plan::Computing>().computed.size());
   case NodeKind::HashJoin: return in * probeRow + rowsOf(*node.children[1]) * buildRow + out * outputRow;
   case NodeKind::NestedLoopJoin: return in * rowsOf(*node.children[1]) * pairRow + out * outputRow;
   case NodeKind::Aggregate:
      return in * (groupRow + computedRow * static_cast<double>(node.as<plan::Aggregate>().aggregates.size())) +
             out * outputRow;
   case NodeKind::Sort: return sortCost(in);
   case NodeKind::TopN: return in * predicateRow + sortCost(out);
   case NodeKind::Window: return sortCost(in) + in * windowRow;
   case NodeKind::Insert:
   case NodeKind::Update:
   case NodeKind::Delete:
   case NodeKind::Merge: return in * writtenRow;
   default: return out * scanRow;
   }
}

} // namespace

void assignCosts(Node& node) {
   checkStack();
   double total = ownCost(node);
   for (plan::CtePlan& cte : node.ctes()) {
      assignCosts(*cte.plan);
      total += cte.plan->estimatedCost;
   }
   for (plan::NodePtr& child : node.children) {
      assignCosts(*child);
      total += child->estimatedCost;
   }
   node.estimatedCost = total;
}

} // namespace ouzel::optimizer
