#include "executor/pipeline/plan_builder.hpp"

#include "executor/pipeline/key_lookup.hpp"
#include "executor/pipeline/runtime_filter.hpp"

namespace ouzel::executor {

using sql::plan::Node;
using sql::plan::NodeKind;

std::vector<Stage> PlanBuilder::produce(const Node& node) {
   switch (node.kind) {
   case NodeKind::TableScan:
      return buildTableScan(*this, node);
   case NodeKind::VirtualScan:
      return node.table.external ? buildExternalScan(*this, node) : buildVirtualScan(*this, node);
   case NodeKind::Values:
      return buildValues(*this, node);
   case NodeKind::TableFunction:
      return buildTableFunction(*this, node);
   case NodeKind::ProjectSet:
      return buildProjectSet(*this, node);
   case NodeKind::Filter:
      return buildFilter(*this, node);
   case NodeKind::Project:
      return buildProject(*this, node);
   case NodeKind::HashJoin:
      return buildHashJoin(*this, node);
   case NodeKind::NestedLoopJoin:
      return buildNestedLoopJoin(*this, node);
   case NodeKind::Aggregate:
      return buildAggregate(*this, node);
   case NodeKind::Sort:
      return buildSort(*this, node);
   case NodeKind::TopN:
      return buildTopN(*this, node);
   case NodeKind::Limit:
      return buildLimit(*this, node);
   case NodeKind::Window:
      return buildWindow(*this, node);
   case NodeKind::DistinctOn:
      return buildDistinctOn(*this, node);
   case NodeKind::Append:
      return buildAppend(*this, node);
   case NodeKind::Materialize:
      return buildMaterialize(*this, node);
   case NodeKind::CteScan:
      return buildCteScan(*this, node);
   case NodeKind::RecursiveUnion:
      return buildRecursiveUnion(*this, node);
   case NodeKind::RecursiveScan:
      return buildRecursiveScan(*this, node);
   case NodeKind::LockRows:
      return buildLockRows(*this, node);
   case NodeKind::Insert:
   case NodeKind::Update:
   case NodeKind::Delete:
   case NodeKind::Merge:
      return buildDml(*this, node);
   }
   return {};
}

void PlanBuilder::addPipeline(std::vector<Stage> stages, Sink* sink, uint32_t sinkProfile) {
   Step step;
   step.pipeline = std::make_unique<Pipeline>();
   step.pipeline->stages = std::move(stages);
   step.pipeline->sink = sink;
   step.pipeline->sinkProfile = sinkProfile;
   steps_.push_back(std::move(step));
}

void PlanBuilder::addAction(std::function<void()> action) {
   Step step;
   step.action = std::move(action);
   steps_.push_back(std::move(step));
}

std::vector<Step> PlanBuilder::takeSteps() {
   return std::exchange(steps_, {});
}

void PlanBuilder::append(std::vector<Stage>& stages, StreamingOperator* op, uint32_t profile) {
   for (Stage& stage : stages) {
      stage.operators.push_back(op);
      stage.operatorProfiles.push_back(profile);
   }
}

void PlanBuilder::numberNodes(const Node& root) {
   profiles_.emplace(&root, static_cast<uint32_t>(profiles_.size()));
   for (const auto& child : root.children)
      numberNodes(*child);
   for (const auto& cte : root.ctes)
      numberNodes(*cte.plan);
}

uint32_t PlanBuilder::profileOf(const Node& node) const {
   const auto found = profiles_.find(&node);
   return found == profiles_.end() ? UINT32_MAX : found->second;
}

RuntimeFilter& PlanBuilder::runtimeFilter(uint32_t id) {
   RuntimeFilter*& filter = filters_[id];
   if (!filter) filter = own<RuntimeFilter>();
   return *filter;
}

KeyLookup& PlanBuilder::keyLookup(uint32_t id) {
   KeyLookup*& lookup = keyLookups_[id];
   if (!lookup) lookup = own<KeyLookup>();
   return *lookup;
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

std::vector<sql::ColumnId> scanLayout(const sql::plan::Node& node) {
   std::vector<sql::ColumnId> layout;
   for (const sql::plan::ScanColumn& column : node.scanColumns)
      layout.push_back(column.column);
   return layout;
}

std::vector<Stage> stagesOfScan(PlanBuilder& builder, const sql::plan::Node& node, Source* source) {
   const std::vector<sql::ColumnId> layout = scanLayout(node);
   Stage stage;
   stage.source = source;
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> stages;
   stages.push_back(std::move(stage));
   if (!node.predicates.empty()) PlanBuilder::append(stages, makeFilter(builder, node.predicates, layout), UINT32_MAX);
   if (node.output != layout) PlanBuilder::append(stages, makeColumnPick(builder, layout, node.output), UINT32_MAX);
   return stages;
}

} // namespace ouzel::executor
