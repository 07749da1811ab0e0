#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/lower/lowering.hpp"

// Assigns runtime filters: a hash join describes its build keys, and scans on its probe side drop rows without a match.
// A filter is a hint: a scan that runs before the filter is ready ignores it. On its way down, a filter may pass an
// operator only if each filtered input row would give no output row or only output rows that the join drops.

namespace ouzel::optimizer {

using namespace sql;
using plan::Node;
using plan::NodeKind;

namespace {

bool has(const Node& node, ColumnId column) {
   return std::find(node.output.begin(), node.output.end(), column) != node.output.end();
}

/// Adds the filter to the scans below that make `column`; true if there is at least one.
bool attach(Node& node, ColumnId column, uint32_t filter) {
   checkStack();
   switch (node.kind) {
   case NodeKind::VirtualScan: {
      auto& scan = node.as<plan::VirtualScan>();
      const bool isMade = std::any_of(scan.columns.begin(), scan.columns.end(), [column](const auto& scanned) {
         return scanned.column == column && scanned.attribute > 0;
      });
      if (isMade) scan.runtimeFilters.push_back({filter, column});
      return isMade;
   }
   case NodeKind::TableScan: {
      auto& scan = node.as<plan::TableScan>();
      for (const plan::ScanColumn& scanned : scan.columns)
         if (scanned.column == column && scanned.attribute > 0) {
            scan.runtimeFilters.push_back({filter, column});
            return true;
         }
      for (const plan::ScanPath& scanned : scan.paths)
         if (scanned.column == column) {
            scan.runtimeFilters.push_back({filter, column});
            return true;
         }
      return false;
   }
   case NodeKind::Filter:
   case NodeKind::Sort:
   case NodeKind::Materialize: return attach(*node.children[0], column, filter);
   case NodeKind::Project:
      for (const ComputedColumn& computed : node.as<plan::Project>().computed)
         if (computed.column == column)
            return computed.expr->kind == ExprKind::Column &&
                   attach(*node.children[0], columnOf(*computed.expr), filter);
      return attach(*node.children[0], column, filter);
   case NodeKind::Aggregate: {
      const auto& aggregate = node.as<plan::Aggregate>();
      if (!aggregate.groupingSets.empty()) return false;
      for (const ComputedColumn& key : aggregate.keys)
         if (key.column == column)
            return key.expr->kind == ExprKind::Column && attach(*node.children[0], columnOf(*key.expr), filter);
      return false;
   }
   case NodeKind::Window: {
      const auto& partition = node.as<plan::Window>().spec.partitionBy;
      const bool wholePartitions = std::any_of(partition.begin(), partition.end(),
                                               [column](const ExprPtr& expr) { return columnOf(*expr) == column; });
      return wholePartitions && attach(*node.children[0], column, filter);
   }
   case NodeKind::Append: {
      const auto& inputs = node.as<plan::Append>().inputs;
      bool any = false;
      for (size_t i = 0; i < node.output.size(); ++i)
         if (node.output[i] == column)
            for (size_t child = 0; child < node.children.size(); ++child)
               any = attach(*node.children[child], inputs[child][i], filter) || any;
      return any;
   }
   case NodeKind::HashJoin:
   case NodeKind::NestedLoopJoin: {
      const bool fromProbe = has(*node.children[0], column);
      switch (node.as<plan::Join>().kind) {
      case JoinKind::Inner: {
         // The filter also applies to an equal key of the other side.
         bool any = attach(*node.children[fromProbe ? 0 : 1], column, filter);
         const auto* hashed = node.getIf<plan::HashJoin>();
         for (const plan::JoinKey& key : hashed ? std::span(hashed->keys) : std::span<const plan::JoinKey>()) {
            const Expr& here = fromProbe ? *key.probe : *key.build;
            const Expr& there = fromProbe ? *key.build : *key.probe;
            if (!key.nullsEqual && columnOf(here) == column && there.kind == ExprKind::Column)
               any = attach(*node.children[fromProbe ? 1 : 0], columnOf(there), filter) || any;
         }
         return any;
      }
      case JoinKind::Left:
      case JoinKind::Semi:
      case JoinKind::Anti:
      case JoinKind::Mark:
      case JoinKind::Single: return fromProbe && attach(*node.children[0], column, filter);
      case JoinKind::Right:
      case JoinKind::RightSemi:
      case JoinKind::RightAnti: return !fromProbe && attach(*node.children[1], column, filter);
      case JoinKind::Full: return false;
      }
      return false;
   }
   default: return false; // among others limits, set-returning functions, CTEs
   }
}

void assign(Node& node, uint32_t& next) {
   checkStack();
   auto* join = node.getIf<plan::HashJoin>();
   if (join && sql::joinDropsUnmatchedProbe(join->kind)) {
      for (uint32_t i = 0; i < join->keys.size(); ++i) {
         const plan::JoinKey& key = join->keys[i];
         if (key.nullsEqual || key.probe->kind != ExprKind::Column) continue;
         if (attach(*node.children[0], columnOf(*key.probe), next)) join->runtimeFilterSources.push_back({next++, i});
      }
   }
   for (plan::NodePtr& child : node.children)
      assign(*child, next);
   for (plan::CtePlan& cte : node.ctes())
      assign(*cte.plan, next);
}

} // namespace

uint32_t assignRuntimeFilters(Node& root) {
   uint32_t next = 0;
   assign(root, next);
   return next;
}

} // namespace ouzel::optimizer
