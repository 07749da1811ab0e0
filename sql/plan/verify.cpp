#include "sql/plan/verify.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/representation.hpp"
#include "sql/algebra/verify_expr.hpp"

namespace ouzel::sql::plan {

namespace {

class PlanVerifier {
public:
   explicit PlanVerifier(const Plan& plan)
      : plan_(plan), columns_(plan.columns), exprs_(plan.columns, "lowering", true) {}

   void run();

private:
   void walk(const Node& node);
   void checkShape(const Node& node);
   VisibleColumns childColumns(const Node& node) const;
   void checkOwn(const Node& node, const VisibleColumns& below);
   void checkScan(const Node& node);
   void checkValues(const Node& node);
   void checkComputed(const Node& node, const VisibleColumns& below);
   void checkPredicates(const Node& node, const VisibleColumns& visible);
   void checkJoin(const Node& node, const VisibleColumns& below);
   void checkAggregate(const Node& node, const VisibleColumns& below);
   void checkCall(const AggregateCall& call, const VisibleColumns& below);
   void checkSort(const Node& node, const VisibleColumns& below);
   void checkLimit(const Node& node, const VisibleColumns& below);
   void checkWindow(const Node& node, const VisibleColumns& below);
   void checkInputs(const Node& node);
   void checkCteScan(const Node& node);
   void checkRecursiveScan(const Node& node);
   void checkDml(const Node& node, const VisibleColumns& below);
   void checkStored(const std::vector<GetColumn>& columns, const VisibleColumns& below);
   void checkOutput(const Node& node, const VisibleColumns& below);
   void checkJoinedOutput(const Node& node);
   VisibleColumns madeBy(const Node& node) const;
   void checkUses(const Node& node);
   void collectUses(const Node& node, std::vector<const Node*>& scans) const;

   const Plan& plan_;
   const ColumnTable& columns_;
   ExprVerifier exprs_;
   std::unordered_map<uint32_t, std::vector<ColumnId>> ctes_;          ///< materialised by a node above
   std::unordered_map<uint32_t, std::vector<ColumnId>> workingTables_; ///< of the recursions above
   VisibleColumns filters_, lookups_;                                  ///< ids that joins have published so far
   std::vector<uint32_t> usedLookups_;                                 ///< ids of lookups that scans use
};

bool isSource(NodeKind kind) {
   return kind == NodeKind::TableScan || kind == NodeKind::VirtualScan || kind == NodeKind::Values ||
          kind == NodeKind::CteScan || kind == NodeKind::RecursiveScan;
}

bool isJoin(NodeKind kind) {
   return kind == NodeKind::HashJoin || kind == NodeKind::NestedLoopJoin;
}

bool isWrite(NodeKind kind) {
   return kind == NodeKind::Insert || kind == NodeKind::Update || kind == NodeKind::Delete || kind == NodeKind::Merge;
}

/// A filter's or lookup's id as a ColumnId, so that VisibleColumns can hold it.
ColumnId numbered(uint32_t id) {
   return ColumnId{id};
}

void PlanVerifier::run() {
   exprs_.enter("the plan");
   exprs_.ensure(plan_.root != nullptr, "a plan has a root");
   walk(*plan_.root);
   exprs_.enter("the result");
   const VisibleColumns given(plan_.root->output);
   for (const OutputColumn& column : plan_.output)
      exprs_.checkColumn(column.column, given);
   for (uint32_t id = 0; id < plan_.runtimeFilterCount; ++id)
      exprs_.ensure(filters_.has(numbered(id)), "a runtime filter that is counted is published", id);
   for (const uint32_t id : usedLookups_)
      exprs_.ensure(lookups_.has(numbered(id)), "a key lookup that a scan waits for is published", id);
}

void PlanVerifier::walk(const Node& node) {
   // The name of a write node includes the table of its `dml`, which may be missing here.
   std::string above = exprs_.enter(isWrite(node.kind) && !node.dml ? "a write" : nodeName(node));
   checkShape(node);
   for (const CtePlan& cte : node.ctes) {
      exprs_.ensure(cte.plan != nullptr, "a CTE has a plan", cte.name);
      exprs_.ensure(!ctes_.contains(cte.id), "a CTE is materialised once", cte.name);
      walk(*cte.plan);
      const VisibleColumns given(cte.plan->output);
      for (const ColumnId column : cte.columns)
         exprs_.checkColumn(column, given);
      ctes_.emplace(cte.id, cte.columns);
   }
   if (node.kind == NodeKind::RecursiveUnion) workingTables_.emplace(node.cte, node.output);
   for (const NodePtr& child : node.children)
      walk(*child);
   if (node.kind == NodeKind::RecursiveUnion) workingTables_.erase(node.cte);
   const VisibleColumns below = childColumns(node);
   checkOwn(node, below);
   checkOutput(node, below);
   checkUses(node);
   exprs_.enter(std::move(above));
}

void PlanVerifier::checkShape(const Node& node) {
   const size_t children = node.children.size();
   if (isSource(node.kind))
      exprs_.ensure(children == 0, "a source has no child");
   else if (isJoin(node.kind) || node.kind == NodeKind::RecursiveUnion)
      exprs_.ensure(children == 2, "a join or recursion has two children");
   else if (node.kind == NodeKind::TableFunction)
      exprs_.ensure(children <= 1, "a table function has one child at most");
   else if (node.kind == NodeKind::Append)
      exprs_.ensure(children >= 1, "an append has children");
   else
      exprs_.ensure(children == 1, "a node has one child");
   for (const NodePtr& child : node.children)
      exprs_.ensure(child != nullptr, "a child is there");
   exprs_.ensure(node.ctes.empty() || node.kind == NodeKind::Materialize, "only With materialises CTEs");
   exprs_.ensure((node.dml != nullptr) == isWrite(node.kind), "writing nodes and only they say what they write");
}

VisibleColumns PlanVerifier::childColumns(const Node& node) const {
   VisibleColumns below;
   for (const NodePtr& child : node.children)
      below.add(child->output);
   return below;
}

void PlanVerifier::checkOwn(const Node& node, const VisibleColumns& below) {
   switch (node.kind) {
   case NodeKind::TableScan:
   case NodeKind::VirtualScan: return checkScan(node);
   case NodeKind::Values: return checkValues(node);
   case NodeKind::TableFunction:
      exprs_.ensure(node.function != nullptr, "a table function is known");
      return exprs_.check(node.args, below);
   case NodeKind::Filter:
      exprs_.ensure(!node.predicates.empty(), "a filter has predicates");
      return checkPredicates(node, below);
   case NodeKind::ProjectSet:
   case NodeKind::Project: return checkComputed(node, below);
   case NodeKind::HashJoin:
   case NodeKind::NestedLoopJoin: return checkJoin(node, below);
   case NodeKind::Aggregate: return checkAggregate(node, below);
   case NodeKind::Sort:
   case NodeKind::TopN: return checkSort(node, below);
   case NodeKind::Limit: return checkLimit(node, below);
   case NodeKind::Window: return checkWindow(node, below);
   case NodeKind::DistinctOn:
      for (const ColumnId column : node.columns)
         exprs_.checkColumn(column, below);
      return;
   case NodeKind::Append:
   case NodeKind::RecursiveUnion: return checkInputs(node);
   case NodeKind::Materialize: return exprs_.ensure(!node.ctes.empty(), "With materialises a CTE");
   case NodeKind::CteScan: return checkCteScan(node);
   case NodeKind::RecursiveScan: return checkRecursiveScan(node);
   case NodeKind::LockRows:
      for (const RowLock& lock : node.rowLocks)
         exprs_.checkColumn(lock.rowId, below);
      return;
   case NodeKind::Insert:
   case NodeKind::Update:
   case NodeKind::Delete:
   case NodeKind::Merge: return checkDml(node, below);
   }
}

void PlanVerifier::checkScan(const Node& node) {
   VisibleColumns scanned;
   for (const ScanColumn& column : node.scanColumns) {
      exprs_.ensure(scanned.add(column.column), "a column is scanned once", column.column);
      exprs_.ensure(column.attribute > 0 || column.attribute == rowIdAttribute,
                    "a scan reads attributes or the row id");
      exprs_.ensure(columns_[column.column].repr == storedRepresentation(columns_[column.column].type),
                    "a scan gives columns as they are stored", column.column);
   }
   checkPredicates(node, scanned);
   for (const RuntimeFilterUse& use : node.runtimeFilters) {
      exprs_.checkColumn(use.column, scanned);
      exprs_.ensure(use.filter < plan_.runtimeFilterCount, "a runtime filter's id is one of the plan's");
   }
   if (node.keyLookup == 0) return;
   usedLookups_.push_back(node.keyLookup);
   exprs_.ensure(!node.keyLookupAttributes.empty(), "a key lookup is by attributes");
   exprs_.ensure(node.lookupAttributes.empty(), "rows are looked up in one way");
}

void PlanVerifier::checkValues(const Node& node) {
   for (const auto& row : node.rows) {
      exprs_.ensure(row.size() == node.output.size(), "a row has a value for each column");
      exprs_.check(row, {});
      for (size_t i = 0; i < row.size(); ++i)
         exprs_.ensure(row[i]->repr == columns_[node.output[i]].repr, "a value has its column's representation",
                       node.output[i]);
   }
}

void PlanVerifier::checkComputed(const Node& node, const VisibleColumns& below) {
   exprs_.ensure(node.kind == NodeKind::Project || !node.computed.empty(), "ProjectSet computes something");
   for (const ComputedColumn& computed : node.computed)
      exprs_.checkComputed(computed, below);
}

void PlanVerifier::checkPredicates(const Node& node, const VisibleColumns& visible) {
   for (const ExprPtr& predicate : node.predicates) {
      exprs_.checkPredicate(predicate, visible);
      exprs_.ensure(predicate->repr.physical == PhysicalType::Bool, "a predicate is represented as a boolean");
   }
}

void PlanVerifier::checkJoin(const Node& node, const VisibleColumns& below) {
   const VisibleColumns probe(node.children[0]->output), build(node.children[1]->output);
   for (const ColumnId column : node.children[1]->output)
      exprs_.ensure(!probe.has(column), "a column comes from one side of a join", column);
   exprs_.ensure((node.kind == NodeKind::HashJoin) == !node.joinKeys.empty(), "hash joins and only they have keys");
   for (const JoinKey& key : node.joinKeys) {
      exprs_.check(key.probe, probe);
      exprs_.check(key.build, build);
      exprs_.ensure(isCompatible(key.probe->type, key.build->type), "a join's keys are of one type");
      exprs_.ensure(key.probe->repr == key.build->repr, "a join's keys have one representation");
   }
   checkPredicates(node, below);
   const bool isMark = node.joinKind == JoinKind::Mark;
   exprs_.ensure(isMark == (node.markColumn != noColumn), "mark joins and only they have a mark");
   exprs_.ensure(!isMark || columns_[node.markColumn].repr.physical == PhysicalType::Bool, "a mark is a boolean");
   exprs_.ensure(!node.nullAware || isMark || node.joinKind == JoinKind::Anti, "only NOT IN and marks heed NULL keys");
   exprs_.ensure(!node.nullAware || (node.joinKeys.size() == 1 && node.predicates.empty()),
                 "NOT IN over NULLs has one key and nothing else");
}

void PlanVerifier::checkAggregate(const Node& node, const VisibleColumns& below) {
   for (const ComputedColumn& key : node.keys)
      exprs_.checkComputed(key, below);
   for (const AggregateCall& call : node.aggregates)
      checkCall(call, below);
   for (const auto& set : node.groupingSets)
      for (const uint32_t key : set)
         exprs_.ensure(key < node.keys.size(), "a grouping set names keys that exist");
   for (const Rel::GroupingCall& call : node.groupingCalls) {
      exprs_.ensure(columns_[call.column].repr.physical == PhysicalType::I32, "GROUPING is integer");
      for (const uint32_t key : call.keys)
         exprs_.ensure(key < node.keys.size(), "GROUPING names keys that exist");
   }
}

void PlanVerifier::checkCall(const AggregateCall& call, const VisibleColumns& below) {
   exprs_.ensure(call.function != nullptr, "an aggregate has a function");
   exprs_.check(call.args, below);
   exprs_.check(call.directArgs, below);
   for (const SortKey& key : call.orderBy)
      exprs_.check(key.expr, below);
   if (call.filter) exprs_.checkPredicate(call.filter, below);
   std::vector<Representation> args;
   for (const ExprPtr& arg : call.args)
      args.push_back(arg->repr);
   exprs_.ensure(columns_[call.column].repr == aggregateResult(call.function->name, call.type, args),
                 "an aggregate's column is represented as its kernel gives it", call.column);
}

void PlanVerifier::checkSort(const Node& node, const VisibleColumns& below) {
   exprs_.ensure(!node.sortKeys.empty(), "a sort has keys");
   VisibleColumns seen;
   for (const SortKey& key : node.sortKeys) {
      exprs_.check(key.expr, below);
      exprs_.ensure(key.expr->kind == ExprKind::Column, "a sort's keys are columns");
      exprs_.ensure(seen.add(key.expr->column), "a sort's key stands once", key.expr->column);
   }
   if (node.kind != NodeKind::TopN) return;
   exprs_.ensure(node.limit && node.limit->kind == ExprKind::Constant, "a Top N knows its limit");
   exprs_.ensure(!node.offset || node.offset->kind == ExprKind::Constant, "a Top N knows its offset");
}

void PlanVerifier::checkLimit(const Node& node, const VisibleColumns& below) {
   for (const ExprPtr* bound : {&node.limit, &node.offset}) {
      if (!*bound) continue;
      exprs_.check(*bound, {});
      exprs_.ensure((*bound)->repr.physical == PhysicalType::I64, "LIMIT and OFFSET are bigint");
   }
   for (const SortKey& key : node.sortKeys)
      exprs_.check(key.expr, below);
}

void PlanVerifier::checkWindow(const Node& node, const VisibleColumns& below) {
   exprs_.ensure(!node.windowCalls.empty(), "a window computes something");
   exprs_.check(node.windowSpec.partitionBy, below);
   for (const SortKey& key : node.windowSpec.orderBy)
      exprs_.check(key.expr, below);
   for (const FrameBound* bound : {&node.windowSpec.start, &node.windowSpec.end})
      if (bound->offset) exprs_.check(bound->offset, below);
   for (const WindowCall& call : node.windowCalls) {
      exprs_.ensure(call.function != nullptr, "a window call has a function");
      exprs_.check(call.args, below);
      if (call.filter) exprs_.checkPredicate(call.filter, below);
   }
}

/// Append and RecursiveUnion: output[i] is fed from appendInputs[child][i].
void PlanVerifier::checkInputs(const Node& node) {
   exprs_.ensure(node.appendInputs.size() == node.children.size(), "each child of an append feeds columns");
   for (size_t child = 0; child < node.children.size(); ++child) {
      const std::vector<ColumnId>& inputs = node.appendInputs[child];
      const VisibleColumns given(node.children[child]->output);
      exprs_.ensure(inputs.size() == node.output.size(), "a child feeds every column of an append");
      for (size_t i = 0; i < inputs.size(); ++i) {
         exprs_.checkColumn(inputs[i], given);
         exprs_.ensure(columns_[inputs[i]].repr == columns_[node.output[i]].repr,
                       "a child feeds columns of an append in their representation", node.output[i]);
      }
   }
}

void PlanVerifier::checkCteScan(const Node& node) {
   const auto found = ctes_.find(node.cte);
   exprs_.ensure(found != ctes_.end(), "a CTE is materialised before it is scanned", node.cte);
   exprs_.ensure(node.cteColumns.size() == node.output.size(), "each column of a CTE scan stands for one of the CTE");
   const VisibleColumns given(found->second);
   for (size_t i = 0; i < node.output.size(); ++i) {
      exprs_.checkColumn(node.cteColumns[i], given);
      exprs_.ensure(columns_[node.cteColumns[i]].repr == columns_[node.output[i]].repr,
                    "a column of a CTE scan has the CTE's representation", node.output[i]);
   }
}

void PlanVerifier::checkRecursiveScan(const Node& node) {
   const auto found = workingTables_.find(node.cte);
   exprs_.ensure(found != workingTables_.end(), "a working table is scanned inside its recursion");
   exprs_.ensure(node.cteSlots.size() == node.output.size(), "each column of a working table's scan has a slot");
   for (size_t i = 0; i < node.output.size(); ++i) {
      exprs_.ensure(node.cteSlots[i] < found->second.size(), "a slot is one of the working table");
      exprs_.ensure(columns_[found->second[node.cteSlots[i]]].repr == columns_[node.output[i]].repr,
                    "a column of a working table's scan has the table's representation", node.output[i]);
   }
}

void PlanVerifier::checkStored(const std::vector<GetColumn>& columns, const VisibleColumns& below) {
   for (const GetColumn& column : columns) {
      exprs_.checkColumn(column.column, below);
      exprs_.ensure(columns_[column.column].repr == storedRepresentation(columns_[column.column].type),
                    "a written column is represented as it is stored", column.column);
   }
}

void PlanVerifier::checkDml(const Node& node, const VisibleColumns& below) {
   const Dml& dml = *node.dml;
   checkStored(dml.target, below);
   checkStored(dml.proposed, below);
   const bool changesRows = node.kind == NodeKind::Update || node.kind == NodeKind::Delete;
   exprs_.ensure(!changesRows || dml.rowId != noColumn, "UPDATE and DELETE know the row");
   if (dml.rowId != noColumn) exprs_.checkColumn(dml.rowId, below);
   if (dml.clause != noColumn) exprs_.checkColumn(dml.clause, below);
   exprs_.ensure((dml.input != nullptr) == (dml.inputLine != noColumn), "an input and its line come together");
   if (dml.inputLine != noColumn) exprs_.checkColumn(dml.inputLine, below);
   for (const auto* checks : {&dml.checks, &dml.proposedChecks})
      for (const Dml::Check& check : *checks)
         if (check.expr) exprs_.checkPredicate(check.expr, below);
   for (const ComputedColumn& computed : dml.returning)
      exprs_.checkComputed(computed, below);
}

/// The columns that the node makes, not those that its children give.
VisibleColumns PlanVerifier::madeBy(const Node& node) const {
   VisibleColumns made;
   for (const ScanColumn& column : node.scanColumns)
      made.add(column.column);
   if (node.kind == NodeKind::TableFunction) made.add(node.columns);
   if (node.ordinality != noColumn) made.add(node.ordinality);
   for (const ComputedColumn& computed : node.computed)
      made.add(computed.column);
   if (node.markColumn != noColumn) made.add(node.markColumn);
   for (const ComputedColumn& key : node.keys)
      made.add(key.column);
   for (const AggregateCall& call : node.aggregates)
      made.add(call.column);
   for (const Rel::GroupingCall& call : node.groupingCalls)
      made.add(call.column);
   for (const WindowCall& call : node.windowCalls)
      made.add(call.column);
   if (node.dml)
      for (const ComputedColumn& computed : node.dml->returning)
         made.add(computed.column);
   return made;
}

void PlanVerifier::checkOutput(const Node& node, const VisibleColumns& below) {
   VisibleColumns seen;
   for (const ColumnId column : node.output) {
      exprs_.ensure(static_cast<uint32_t>(column) < columns_.size(), "a column is in the plan's table of columns");
      exprs_.ensure(seen.add(column), "a node gives a column once", column);
   }
   const bool renames = node.kind == NodeKind::Values || node.kind == NodeKind::Append ||
                        node.kind == NodeKind::CteScan || node.kind == NodeKind::RecursiveUnion ||
                        node.kind == NodeKind::RecursiveScan;
   if (renames) return;
   if (isJoin(node.kind)) return checkJoinedOutput(node);
   VisibleColumns given = madeBy(node);
   if (node.kind != NodeKind::Aggregate && !node.dml) given.add(below);
   for (const ColumnId column : node.output)
      exprs_.checkColumn(column, given);
}

/// Ensures that a join gives only columns of the sides that its kind keeps.
void PlanVerifier::checkJoinedOutput(const Node& node) {
   const bool probeOnly =
       node.joinKind == JoinKind::Semi || node.joinKind == JoinKind::Anti || node.joinKind == JoinKind::Mark;
   const bool buildOnly = node.joinKind == JoinKind::RightSemi || node.joinKind == JoinKind::RightAnti;
   VisibleColumns given = madeBy(node);
   if (!buildOnly) given.add(node.children[0]->output);
   if (!probeOnly) given.add(node.children[1]->output);
   for (const ColumnId column : node.output)
      exprs_.checkColumn(column, given);
}

void PlanVerifier::collectUses(const Node& node, std::vector<const Node*>& scans) const {
   if (node.kind == NodeKind::TableScan) scans.push_back(&node);
   for (const NodePtr& child : node.children)
      collectUses(*child, scans);
}

/// Ensures that no other join publishes this join's filters and lookups, and that a scan of its probe side uses them.
void PlanVerifier::checkUses(const Node& node) {
   exprs_.ensure(node.runtimeFilterSources.empty() || node.kind == NodeKind::HashJoin, "only hash joins make filters");
   if (node.kind != NodeKind::HashJoin) return;
   exprs_.ensure(node.keyLookupKeys.empty() == (node.keyLookup == 0), "a key lookup has keys");
   if (node.runtimeFilterSources.empty() && node.keyLookup == 0) return;
   std::vector<const Node*> scans;
   collectUses(*node.children[0], scans);
   for (const RuntimeFilterSource& source : node.runtimeFilterSources) {
      exprs_.ensure(source.key < node.joinKeys.size(), "a runtime filter is of a join key");
      exprs_.ensure(!node.joinKeys[source.key].nullsEqual, "a runtime filter is of a key that drops NULLs");
      exprs_.ensure(filters_.add(numbered(source.filter)), "a runtime filter is published by one join", source.filter);
      const bool isUsed = std::any_of(scans.begin(), scans.end(), [&](const Node* scan) {
         return std::any_of(scan->runtimeFilters.begin(), scan->runtimeFilters.end(),
                            [&](const RuntimeFilterUse& use) { return use.filter == source.filter; });
      });
      exprs_.ensure(isUsed, "a runtime filter is used by a scan of the probe side", source.filter);
   }
   if (node.keyLookup == 0) return;
   exprs_.ensure(lookups_.add(numbered(node.keyLookup)), "a key lookup is published by one join");
   const auto scan =
       std::find_if(scans.begin(), scans.end(), [&](const Node* one) { return one->keyLookup == node.keyLookup; });
   exprs_.ensure(scan != scans.end(), "a key lookup is used by a scan of the probe side");
   exprs_.ensure((*scan)->keyLookupAttributes.size() == node.keyLookupKeys.size(),
                 "a key lookup has a key for each attribute of the index");
   for (const uint32_t key : node.keyLookupKeys)
      exprs_.ensure(key < node.joinKeys.size(), "a key lookup is by join keys");
}

} // namespace

void verify(const Plan& plan) {
   PlanVerifier(plan).run();
}

} // namespace ouzel::sql::plan
