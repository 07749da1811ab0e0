#include "executor/operator/build.hpp"
#include "executor/operator/flow/project.hpp"
#include "executor/pipeline/plan_builder.hpp"

// UNION ALL: the stages of all children, one child after the other, each with columns in the order of the output.

namespace ouzel::executor {

std::vector<Stage> buildAppend(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& inputs = node.as<sql::plan::Append>().inputs;
   std::vector<Stage> all;
   for (size_t child = 0; child < node.children.size(); ++child) {
      std::vector<Stage> stages = builder.produce(*node.children[child]);
      if (inputs[child] != node.children[child]->output)
         PlanBuilder::append(stages, makeColumnPick(builder, node.children[child]->output, inputs[child]), UINT32_MAX);
      for (Stage& stage : stages)
         all.push_back(std::move(stage));
   }
   return all;
}

} // namespace ouzel::executor
