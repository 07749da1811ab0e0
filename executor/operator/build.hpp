#pragma once
#include "executor/pipeline/plan_builder.hpp"

// The functions that translate plan nodes into stages: one function per kind of node, each in the source file of its
// operator. The plan's nodes outlive the query.

namespace ouzel::executor {

/// Calls the function of the node's kind. PlanBuilder::produce() calls this function.
std::vector<Stage> buildOperators(PlanBuilder& builder, const sql::plan::Node& node);

std::vector<Stage> buildTableScan(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildVirtualScan(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildExternalScan(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildValues(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildTableFunction(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildProjectSet(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildFilter(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildProject(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildHashJoin(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildNestedLoopJoin(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildAggregate(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildSort(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildTopN(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildLimit(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildLockRows(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildWindow(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildDistinctOn(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildAppend(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildMaterialize(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildCteScan(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildRecursiveUnion(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildRecursiveScan(PlanBuilder& builder, const sql::plan::Node& node);
std::vector<Stage> buildDml(PlanBuilder& builder, const sql::plan::Node& node);

} // namespace ouzel::executor
