#include <algorithm>

#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/plan_builder.hpp"

// WITH: each CTE is materialised once, before what reads it.

namespace ouzel::executor {

std::vector<Stage> buildMaterialize(PlanBuilder& builder, const sql::plan::Node& node) {
   for (const sql::plan::CtePlan& cte : node.ctes) {
      auto* buffer = builder.own<RowBuffer>();
      std::vector<Stage> stages = builder.produce(*cte.plan);
      auto* sink = builder.own<BufferSink>(*buffer, slotsOf(cte.columns, cte.plan->output),
                                           representationsOf(cte.columns, builder.context().columns()));
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
   RowBuffer* buffer = builder.cteBuffers.at(node.cte);
   Stage stage;
   stage.source = builder.own<BufferSource>(*buffer, slotsOf(node.cteColumns, builder.cteColumns.at(node.cte)), true);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

} // namespace ouzel::executor
