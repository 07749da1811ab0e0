#include "executor/operator/build.hpp"

namespace ouzel::executor {

using sql::plan::Node;
using sql::plan::NodeKind;

std::vector<Stage> buildOperators(PlanBuilder& builder, const Node& node) {
   switch (node.kind) {
   case NodeKind::TableScan: return buildTableScan(builder, node);
   case NodeKind::VirtualScan:
      return node.as<sql::plan::VirtualScan>().table.external ? buildExternalScan(builder, node)
                                                              : buildVirtualScan(builder, node);
   case NodeKind::Values: return buildValues(builder, node);
   case NodeKind::TableFunction: return buildTableFunction(builder, node);
   case NodeKind::ProjectSet: return buildProjectSet(builder, node);
   case NodeKind::Filter: return buildFilter(builder, node);
   case NodeKind::Project: return buildProject(builder, node);
   case NodeKind::HashJoin: return buildHashJoin(builder, node);
   case NodeKind::NestedLoopJoin: return buildNestedLoopJoin(builder, node);
   case NodeKind::Aggregate: return buildAggregate(builder, node);
   case NodeKind::Sort: return buildSort(builder, node);
   case NodeKind::TopN: return buildTopN(builder, node);
   case NodeKind::Limit: return buildLimit(builder, node);
   case NodeKind::Window: return buildWindow(builder, node);
   case NodeKind::DistinctOn: return buildDistinctOn(builder, node);
   case NodeKind::Append: return buildAppend(builder, node);
   case NodeKind::Materialize: return buildMaterialize(builder, node);
   case NodeKind::CteScan: return buildCteScan(builder, node);
   case NodeKind::RecursiveUnion: return buildRecursiveUnion(builder, node);
   case NodeKind::RecursiveScan: return buildRecursiveScan(builder, node);
   case NodeKind::LockRows: return buildLockRows(builder, node);
   case NodeKind::Insert:
   case NodeKind::Update:
   case NodeKind::Delete:
   case NodeKind::Merge: return buildDml(builder, node);
   }
   return {};
}

} // namespace ouzel::executor
