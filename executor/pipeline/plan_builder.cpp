#include "executor/pipeline/plan_builder.hpp"

#include <numeric>

#include "common/thread/stack.hpp"
#include "executor/pipeline/key_lookup.hpp"
#include "executor/pipeline/runtime_filter.hpp"

namespace ouzel::executor {

using sql::plan::Node;

std::vector<Stage> PlanBuilder::produce(const Node& node) {
   checkStack();
   std::vector<Stage> stages = build_(*this, node);
   if constexpr (hasDchecks) declare(stages, node);
   return stages;
}

/// Note the types of the node's columns; PipelineRun compares them with each batch.
void PlanBuilder::declare(std::vector<Stage>& stages, const Node& node) const {
   for (Stage& stage : stages) {
      DCHECK(stage.source != nullptr);
      DCHECK(stage.operatorProfiles.size() == stage.operators.size());
      stage.declared.resize(stage.operators.size() + 1);
      Stage::Declared& declared = stage.declared.back();
      declared = {sql::plan::nodeName(node), {}, true};
      for (const Representation& repr : representationsOf(node.output, context_.columns()))
         declared.types.push_back(repr.physical);
   }
}

void PlanBuilder::addPipeline(std::vector<Stage> stages, Sink* sink, uint32_t sinkProfile) {
   DCHECK(sink != nullptr);
   DCHECK(!stages.empty());
   Step step;
   step.pipeline = std::make_unique<Pipeline>();
   step.pipeline->stages = std::move(stages);
   step.pipeline->sink = sink;
   step.pipeline->deferred = deferred_;
   step.pipeline->sinkProfile = sinkProfile;
   steps_.push_back(std::move(step));
}

void PlanBuilder::addAction(std::function<void()> action) {
   DCHECK(action != nullptr);
   Step step;
   step.action = std::move(action);
   steps_.push_back(std::move(step));
}

std::vector<Step> PlanBuilder::takeSteps() {
   return std::exchange(steps_, {});
}

void PlanBuilder::append(std::vector<Stage>& stages, StreamingOperator* op, uint32_t profile) {
   DCHECK(op != nullptr);
   for (Stage& stage : stages) {
      stage.operators.push_back(op);
      stage.operatorProfiles.push_back(profile);
   }
}

void PlanBuilder::numberNodes(const Node& root) {
   const bool isNew = profiles_.emplace(&root, static_cast<uint32_t>(profiles_.size())).second;
   if (!isNew) throwInternal("a plan node that has two parents");
   for (const auto& child : root.children)
      numberNodes(*child);
   for (const auto& cte : root.ctes())
      numberNodes(*cte.plan);
}

uint32_t PlanBuilder::profileOf(const Node& node) const {
   const auto found = profiles_.find(&node);
   return found == profiles_.end() ? UINT32_MAX : found->second;
}

RuntimeFilter& PlanBuilder::runtimeFilter(uint32_t id) {
   return shared(filters_, id);
}

KeyLookup& PlanBuilder::keyLookup(uint32_t id) {
   return shared(keyLookups_, id);
}

void PlanBuilder::destroySince(size_t count) {
   DCHECK(count <= owned_.size());
   std::erase_if(filters_, [count](const auto& entry) { return entry.second.place >= count; });
   std::erase_if(keyLookups_, [count](const auto& entry) { return entry.second.place >= count; });
   while (owned_.size() > count)
      owned_.pop_back(); // in reverse order: a later object may refer to an earlier one
}

std::vector<uint32_t> identitySlots(size_t count) {
   std::vector<uint32_t> slots(count);
   std::iota(slots.begin(), slots.end(), 0u);
   return slots;
}

std::vector<uint32_t> slotsOf(const std::vector<sql::ColumnId>& wanted, const std::vector<sql::ColumnId>& layout) {
   const ColumnSlots slots{std::span(layout)};
   std::vector<uint32_t> out;
   for (const sql::ColumnId column : wanted) {
      const auto slot = slots.find(column);
      if (!slot) throwInternal("a column that no operator below gives");
      out.push_back(*slot);
   }
   return out;
}

std::vector<Representation> representationsOf(const std::vector<sql::ColumnId>& columns,
                                              const sql::ColumnTable& table) {
   std::vector<Representation> out;
   for (const sql::ColumnId column : columns)
      out.push_back(table[column].repr);
   return out;
}

} // namespace ouzel::executor
