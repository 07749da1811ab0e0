#include <algorithm>

#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/flow/project.hpp"
#include "executor/operator/sort/row_range.hpp"
#include "executor/pipeline/plan_builder.hpp"

// WITH: each CTE is materialised once, before the plan that reads it.

namespace ouzel::executor {

namespace {

uint32_t readersOf(const sql::plan::Node& node, uint32_t cte) {
   const auto* scan = node.getIf<sql::plan::CteScan>();
   uint32_t readers = scan && scan->cte == cte ? 1 : 0;
   for (const auto& child : node.children)
      readers += readersOf(*child, cte);
   for (const sql::plan::CtePlan& other : node.ctes())
      readers += readersOf(*other.plan, cte);
   return readers;
}

/// WITH RECURSIVE ... SELECT ... FROM r LIMIT n without an order: the recursion stops after n rows. Users rely on this
/// to end an endless recursion.
void stopAtLimit(PlanBuilder& builder, const sql::plan::Node& node, const sql::plan::CtePlan& cte) {
   const auto belowProjects = [](const sql::plan::Node& top) {
      const sql::plan::Node* below = &top;
      while (below->kind == sql::plan::NodeKind::Project)
         below = below->children[0].get();
      return below;
   };
   const sql::plan::Node *recursion = belowProjects(*cte.plan), *limited = belowProjects(*node.children[0]);
   const auto* limit = limited->getIf<sql::plan::Limit>();
   if (recursion->kind != sql::plan::NodeKind::RecursiveUnion || !limit || limit->withTies) return;
   if (limited->children.size() > 1) return; // the bounds are computed after the recursion
   const auto* scan = belowProjects(*limited->children[0])->getIf<sql::plan::CteScan>();
   if (!scan || scan->cte != cte.id || readersOf(node, cte.id) != 1) return;
   const auto range = RowRange::evaluate(builder.context(), limit->offset.get(), limit->limit.get());
   builder.rowsWanted[recursion] = builder.own<uint64_t>(range.end());
}

} // namespace

std::vector<Stage> buildMaterialize(PlanBuilder& builder, const sql::plan::Node& node) {
   for (const sql::plan::CtePlan& cte : node.ctes()) {
      stopAtLimit(builder, node, cte);
      auto* buffer = builder.own<BatchStore>();
      buffer->allowSpilling(builder.context());
      std::vector<Stage> stages = builder.produce(*cte.plan);
      auto* sink = builder.own<BatchStoreSink>(*buffer, slotsOf(cte.columns, cte.plan->output),
                                               representationsOf(cte.columns, builder.context().columns()),
                                               readersOf(node, cte.id));
      builder.addPipeline(std::move(stages), sink, UINT32_MAX);
      builder.cteBuffers[cte.id] = buffer;
      builder.cteColumns[cte.id] = cte.columns;
   }
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   if (node.output != node.children[0]->output)
      PlanBuilder::append(stages, makeColumnPick(builder, node.children[0]->output, node.output), UINT32_MAX);
   return stages;
}

std::vector<Stage> buildCteScan(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& scan = node.as<sql::plan::CteScan>();
   BatchStore* buffer = builder.cteBuffers.at(scan.cte);
   Stage stage;
   stage.source = builder.own<BatchStoreSource>(*buffer, slotsOf(scan.columns, builder.cteColumns.at(scan.cte)), true);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

} // namespace ouzel::executor
