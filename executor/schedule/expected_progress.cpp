#include "executor/schedule/expected_progress.hpp"

#include <algorithm>
#include <cmath>

#include "common/thread/stack.hpp"

namespace ouzel::executor {

using sql::plan::Node;
using sql::plan::NodeKind;

namespace {

/// What a node is in a pipeline.
enum class Role : uint8_t { Source, Operator, Sink };

/// The part of sorting and windows that is done before the first row is given.
constexpr double collectingPart = 0.95;
/// The part of a pipeline's time that a join takes after the last row to build its table.
constexpr double buildingPart = 0.3;
/// How long sorting takes by the time in which its rows came, per doubling of the rows (measured with keys of numbers
/// and texts: 0.2 to 0.5).
constexpr double sortingByCollecting = 0.4;
/// The part of grouping that giving a group takes, by rows.
constexpr double groupPart = 0.3;
/// What a row costs that is put into a hash table, in rows that are looked up.
constexpr double probesPerBuild = 2.7;
/// What is left of a scan's and a join's cost at least, where the join's filter drops rows as the scan reads them.
/// Costs of the plan are those of all rows.
constexpr double passingMin = 0.1;
/// Even what costs nothing takes a moment.
constexpr double costMin = 0.01;

double ownCost(const Node& node) {
   double cost = node.estimatedCost;
   for (const auto& child : node.children)
      cost -= child->estimatedCost;
   for (const auto& cte : node.ctes())
      cost -= cte.plan->estimatedCost;
   return std::max(cost, costMin);
}

double groupsByRows(const Node& aggregate) {
   return std::clamp(aggregate.estimatedRows / std::max(1.0, aggregate.children[0]->estimatedRows), 0.0, 1.0);
}

double sortingPart(double rows) {
   const double sorting = sortingByCollecting * std::log2(std::max(2.0, rows));
   return sorting / (1 + sorting);
}

double costIn(const Node& node, Role role) {
   const double cost = ownCost(node);
   switch (node.kind) {
   case NodeKind::HashJoin: {
      const double build = std::max(1.0, node.children[1]->estimatedRows) * probesPerBuild;
      const double probe = std::max(1.0, node.children[0]->estimatedRows);
      return role == Role::Sink ? cost * build / (build + probe) : cost * probe / (build + probe);
   }
   case NodeKind::Aggregate: {
      const double giving = cost * groupsByRows(node) * groupPart;
      return role == Role::Source ? giving : cost - giving;
   }
   case NodeKind::Sort:
   case NodeKind::TopN:
   case NodeKind::Window:
      return role == Role::Sink ? cost * collectingPart : role == Role::Source ? cost * (1 - collectingPart) : cost;
   default: return cost;
   }
}

/// What a join lets through of the rows of `scan` that come to it, if it hands its keys to the scan as a filter;
/// else 1.
double passingPart(const Node& join, const Node& scan) {
   const auto* hashJoin = join.getIf<sql::plan::HashJoin>();
   const auto* table = scan.getIf<sql::plan::TableScan>();
   if (!hashJoin || !table) return 1;
   for (const auto& source : hashJoin->runtimeFilterSources)
      for (const auto& use : table->runtimeFilters)
         if (use.filter == source.filter)
            return std::clamp(join.estimatedRows / std::max(1.0, join.children[0]->estimatedRows), passingMin, 1.0);
   return 1;
}

std::string sourceText(const Node& node) {
   if (const auto* scan = node.getIf<sql::plan::TableScan>())
      return (scan->looksUp() ? "Index Scan on " : "Seq Scan on ") + scan->table.name;
   if (const auto* scan = node.getIf<sql::plan::VirtualScan>()) return "Seq Scan on " + scan->table.name;
   return sql::plan::nodeName(node);
}

void number(const Node& node, std::vector<const Node*>& nodes) {
   checkStack();
   nodes.push_back(&node);
   for (const auto& child : node.children)
      number(*child, nodes);
   for (const auto& cte : node.ctes())
      number(*cte.plan, nodes);
}

} // namespace

std::vector<const Node*> nodesByProfile(const Node& root) {
   std::vector<const Node*> nodes;
   number(root, nodes);
   return nodes;
}

QueryProgress::Collecting expectedRows(const Pipeline& pipeline, const std::vector<const Node*>& nodes) {
   if (pipeline.sinkProfile >= nodes.size()) return {};
   const Node& sink = *nodes[pipeline.sinkProfile];
   QueryProgress::Collecting collecting{pipeline.sinkProfile, 0, 0};
   switch (sink.kind) {
   case NodeKind::HashJoin:
      collecting.rowsExpected = sink.children[1]->estimatedRows;
      collecting.finishingPart = buildingPart;
      break;
   case NodeKind::Aggregate:
      collecting.rowsExpected = sink.children[0]->estimatedRows;
      collecting.finishingPart = buildingPart * groupsByRows(sink);
      break;
   case NodeKind::Sort:
   case NodeKind::Window:
      collecting.rowsExpected = sink.children[0]->estimatedRows;
      collecting.finishingPart = sortingPart(collecting.rowsExpected);
      break;
   default: break;
   }
   return collecting;
}

std::vector<QueryProgress::Stage> expectedStages(const Pipeline& pipeline, const std::vector<const Node*>& nodes) {
   const auto known = [&](uint32_t profile) { return profile < nodes.size() ? nodes[profile] : nullptr; };
   const Node* sink = known(pipeline.sinkProfile);
   std::vector<QueryProgress::Stage> stages;
   for (const Stage& stage : pipeline.stages) {
      QueryProgress::Stage expected{"Result", 0, {{costMin, QueryProgress::noNode}}};
      const Node* source = known(stage.sourceProfile);
      // A join's partitions on disk, and its build rows without a match: nobody expects either.
      if (source && source->kind == NodeKind::HashJoin) {
         expected.source = sourceText(*source);
         stages.push_back(std::move(expected));
         continue;
      }
      double passing = 1; // the part of the rows that filters of joins to come leave
      if (source)
         for (const uint32_t profile : stage.operatorProfiles)
            if (const Node* node = known(profile)) passing *= passingPart(*node, *source);
      if (source) {
         expected.source = sourceText(*source);
         expected.rowsExpected = source->estimatedRows;
         expected.works.push_back({costIn(*source, Role::Source) * std::max(passing, passingMin), stage.sourceProfile});
      }
      for (const uint32_t profile : stage.operatorProfiles)
         if (const Node* node = known(profile)) {
            expected.works.push_back({costIn(*node, Role::Operator) * passing, profile});
            if (source) passing /= passingPart(*node, *source);
         }
      if (sink)
         expected.works.push_back(
             {costIn(*sink, Role::Sink) / static_cast<double>(pipeline.stages.size()), QueryProgress::noNode});
      stages.push_back(std::move(expected));
   }
   return stages;
}

} // namespace ouzel::executor
