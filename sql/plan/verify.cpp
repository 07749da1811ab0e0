#include "sql/plan/verify.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
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
   void check(const Scan& scan, const Node& node, const VisibleColumns& below);
   void check(const TableScan& scan, const Node& node, const VisibleColumns& below);
   void check(const Values& values, const Node& node, const VisibleColumns& below);
   void check(const TableFunction& call, const Node&, const VisibleColumns& below) {
      exprs_.ensure(call.function != nullptr, "a table function is known");
      exprs_.check(call.args, below);
   }
   void check(const ProjectSet& set, const Node& node, const VisibleColumns& below);
   void check(const Computing& project, const Node&, const VisibleColumns& below) {
      for (const ComputedColumn& computed : project.computed)
         exprs_.checkComputed(computed, below);
   }
   void check(const Filter& filter, const Node&, const VisibleColumns& below) {
      exprs_.ensure(!filter.predicates.empty(), "a filter has predicates");
      checkPredicates(filter.predicates, below);
   }
   void check(const Join& join, const Node& node, const VisibleColumns& below);
   void check(const HashJoin& join, const Node& node, const VisibleColumns& below);
   void check(const Aggregate& aggregate, const Node& node, const VisibleColumns& below);
   void check(const Sort& sort, const Node&, const VisibleColumns& below) { checkSortKeys(sort.keys, below); }
   void check(const TopN& top, const Node& node, const VisibleColumns& below);
   void check(const Limit& limit, const Node& node, const VisibleColumns& below);
   void check(const Window& window, const Node& node, const VisibleColumns& below);
   void check(const DistinctOn& distinct, const Node&, const VisibleColumns& below) {
      for (const ColumnId column : distinct.columns)
         exprs_.checkColumn(column, below);
   }
   void check(const Append& append, const Node& node, const VisibleColumns&) { checkInputs(append.inputs, node); }
   void check(const Materialize& with, const Node&, const VisibleColumns&) {
      exprs_.ensure(!with.ctes.empty(), "With materialises a CTE");
   }
   void check(const CteScan& scan, const Node& node, const VisibleColumns& below);
   void check(const RecursiveUnion& recursion, const Node& node, const VisibleColumns&) {
      checkInputs(recursion.inputs, node);
   }
   void check(const RecursiveScan& scan, const Node& node, const VisibleColumns& below);
   void check(const LockRows& lock, const Node&, const VisibleColumns& below) {
      for (const RowLock& one : lock.locks)
         exprs_.checkColumn(one.rowId, below);
   }
   void check(const Write& write, const Node& node, const VisibleColumns& below);
   void checkPredicates(const std::vector<ExprPtr>& predicates, const VisibleColumns& visible);
   void checkCall(const AggregateCall& call, const VisibleColumns& below);
   void checkSortKeys(const std::vector<SortKey>& keys, const VisibleColumns& below);
   void checkInputs(const std::vector<std::vector<ColumnId>>& inputs, const Node& node);
   void checkStored(const std::vector<GetColumn>& columns, const VisibleColumns& below);
   void checkOutput(const Node& node, const VisibleColumns& below);
   void checkJoinedOutput(const Node& node);
   void checkUses(const HashJoin& join, const Node& node);
   void collectScans(const Node& node, std::vector<const Node*>& scans) const;

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
   checkStack();
   // The name of a write node includes the table of its `dml`, which may be missing here.
   const auto* write = node.getIf<Write>();
   std::string above = exprs_.enter(write && !write->dml ? "a write" : nodeName(node));
   checkShape(node);
   for (const CtePlan& cte : node.ctes()) {
      exprs_.ensure(cte.plan != nullptr, "a CTE has a plan", cte.name);
      exprs_.ensure(!ctes_.contains(cte.id), "a CTE is materialised once", cte.name);
      walk(*cte.plan);
      const VisibleColumns given(cte.plan->output);
      for (const ColumnId column : cte.columns)
         exprs_.checkColumn(column, given);
      ctes_.emplace(cte.id, cte.columns);
   }
   const auto* recursion = node.getIf<RecursiveUnion>();
   if (recursion) workingTables_.emplace(recursion->cte, node.output);
   for (const NodePtr& child : node.children)
      walk(*child);
   if (recursion) workingTables_.erase(recursion->cte);
   const VisibleColumns below = childColumns(node);
   node.visit([&](const auto& op) { check(op, node, below); });
   checkOutput(node, below);
   if (const auto* join = node.getIf<HashJoin>()) checkUses(*join, node);
   exprs_.enter(std::move(above));
}

void PlanVerifier::checkShape(const Node& node) {
   const size_t children = node.children.size();
   if (isSource(node.kind))
      exprs_.ensure(children == 0, "a source has no child");
   else if (node.getIf<Join>() || node.kind == NodeKind::RecursiveUnion)
      exprs_.ensure(children == 2, "a join or recursion has two children");
   else if (node.kind == NodeKind::TableFunction)
      exprs_.ensure(children <= 1, "a table function has one child at most");
   else if (node.kind == NodeKind::Limit)
      exprs_.ensure(children == 1 || children == 2, "a limit has a child, and perhaps one that computes its bounds");
   else if (node.kind == NodeKind::Append)
      exprs_.ensure(children >= 1, "an append has children");
   else
      exprs_.ensure(children == 1, "a node has one child");
   for (const NodePtr& child : node.children)
      exprs_.ensure(child != nullptr, "a child is there");
   const auto* write = node.getIf<Write>();
   exprs_.ensure(!write || write->dml, "writing nodes say what they write");
}

VisibleColumns PlanVerifier::childColumns(const Node& node) const {
   VisibleColumns below;
   for (const NodePtr& child : node.children)
      below.add(child->output);
   return below;
}

void PlanVerifier::check(const Scan& scan, const Node&, const VisibleColumns&) {
   VisibleColumns scanned;
   for (const ScanColumn& column : scan.columns) {
      exprs_.ensure(scanned.add(column.column), "a column is scanned once", column.column);
      exprs_.ensure(column.attribute > 0 || column.attribute == rowIdAttribute || column.attribute == tableOidAttribute,
                    "a scan reads attributes, the row id or the table's OID");
      exprs_.ensure(columns_[column.column].repr == storedRepresentation(columns_[column.column].type),
                    "a scan gives columns as they are stored", column.column);
   }
   for (const ScanPath& path : scan.paths) {
      exprs_.ensure(scanned.add(path.column), "a path is scanned once", path.column);
      exprs_.ensure(path.attribute > 0, "a path is one of an attribute", path.column);
      exprs_.ensure(columns_[path.column].repr == path.access.result(), "a scan gives paths as their access does",
                    path.column);
   }
   checkPredicates(scan.predicates, scanned);
   for (const RuntimeFilterUse& use : scan.runtimeFilters) {
      exprs_.checkColumn(use.column, scanned);
      exprs_.ensure(use.filter < plan_.runtimeFilterCount, "a runtime filter's id is one of the plan's");
   }
}

void PlanVerifier::check(const TableScan& scan, const Node& node, const VisibleColumns& below) {
   check(static_cast<const Scan&>(scan), node, below);
   if (scan.keyLookup == 0) return;
   usedLookups_.push_back(scan.keyLookup);
   exprs_.ensure(!scan.keyLookupAttributes.empty(), "a key lookup is by attributes");
   exprs_.ensure(scan.lookupAttributes.empty(), "rows are looked up in one way");
}

void PlanVerifier::check(const Values& values, const Node& node, const VisibleColumns&) {
   for (const auto& row : values.rows) {
      exprs_.ensure(row.size() == node.output.size(), "a row has a value for each column");
      exprs_.check(row, {});
      for (size_t i = 0; i < row.size(); ++i)
         exprs_.ensure(row[i]->repr == columns_[node.output[i]].repr, "a value has its column's representation",
                       node.output[i]);
   }
}

void PlanVerifier::check(const ProjectSet& set, const Node& node, const VisibleColumns& below) {
   exprs_.ensure(!set.computed.empty(), "ProjectSet computes something");
   check(static_cast<const Computing&>(set), node, below);
}

void PlanVerifier::checkPredicates(const std::vector<ExprPtr>& predicates, const VisibleColumns& visible) {
   for (const ExprPtr& predicate : predicates) {
      exprs_.checkPredicate(predicate, visible);
      exprs_.ensure(predicate->repr.physical == PhysicalType::Bool, "a predicate is represented as a boolean");
   }
}

void PlanVerifier::check(const Join& join, const Node& node, const VisibleColumns& below) {
   const VisibleColumns probe(node.children[0]->output);
   for (const ColumnId column : node.children[1]->output)
      exprs_.ensure(!probe.has(column), "a column comes from one side of a join", column);
   checkPredicates(join.predicates, below);
   const bool isMark = join.kind == JoinKind::Mark;
   exprs_.ensure(isMark == (join.markColumn != noColumn), "mark joins and only they have a mark");
   exprs_.ensure(!isMark || columns_[join.markColumn].repr.physical == PhysicalType::Bool, "a mark is a boolean");
}

void PlanVerifier::check(const HashJoin& join, const Node& node, const VisibleColumns& below) {
   check(static_cast<const Join&>(join), node, below);
   const VisibleColumns probe(node.children[0]->output), build(node.children[1]->output);
   exprs_.ensure(!join.keys.empty(), "hash joins have keys");
   for (const JoinKey& key : join.keys) {
      exprs_.check(key.probe, probe);
      exprs_.check(key.build, build);
      exprs_.ensure(isCompatible(key.probe->type, key.build->type), "a join's keys are of one type");
      exprs_.ensure(key.probe->repr == key.build->repr, "a join's keys have one representation");
   }
   if (!join.nullAware) return;
   exprs_.ensure(join.kind == JoinKind::Mark || join.kind == JoinKind::Anti, "only NOT IN and marks heed NULL keys");
   exprs_.ensure(join.keys.size() == 1 && join.predicates.empty(), "NOT IN over NULLs has one key and nothing else");
}

void PlanVerifier::check(const Aggregate& aggregate, const Node&, const VisibleColumns& below) {
   for (const ComputedColumn& key : aggregate.keys)
      exprs_.checkComputed(key, below);
   for (const AggregateCall& call : aggregate.aggregates)
      checkCall(call, below);
   for (const auto& set : aggregate.groupingSets)
      for (const uint32_t key : set)
         exprs_.ensure(key < aggregate.keys.size(), "a grouping set names keys that exist");
   for (const GroupingCall& call : aggregate.groupingCalls) {
      exprs_.ensure(columns_[call.column].repr.physical == PhysicalType::I32, "GROUPING is integer");
      for (const uint32_t key : call.keys)
         exprs_.ensure(key < aggregate.keys.size(), "GROUPING names keys that exist");
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

void PlanVerifier::checkSortKeys(const std::vector<SortKey>& keys, const VisibleColumns& below) {
   exprs_.ensure(!keys.empty(), "a sort has keys");
   VisibleColumns seen;
   for (const SortKey& key : keys) {
      exprs_.check(key.expr, below);
      const ColumnId column = columnOf(*key.expr);
      exprs_.ensure(column != noColumn, "a sort's keys are columns");
      exprs_.ensure(seen.add(column), "a sort's key stands once", column);
   }
}

void PlanVerifier::check(const TopN& top, const Node&, const VisibleColumns& below) {
   checkSortKeys(top.keys, below);
   exprs_.ensure(top.limit && top.limit->kind == ExprKind::Constant, "a Top N knows its limit");
   exprs_.ensure(!top.offset || top.offset->kind == ExprKind::Constant, "a Top N knows its offset");
}

void PlanVerifier::check(const Limit& limit, const Node& node, const VisibleColumns& below) {
   const VisibleColumns given = node.children.size() > 1 ? VisibleColumns(node.children[1]->output) : VisibleColumns();
   for (const ExprPtr* bound : {&limit.limit, &limit.offset}) {
      if (!*bound) continue;
      exprs_.check(*bound, given);
      exprs_.ensure((*bound)->repr.physical == PhysicalType::I64, "LIMIT and OFFSET are bigint");
   }
   for (const SortKey& key : limit.keys)
      exprs_.check(key.expr, below);
}

void PlanVerifier::check(const Window& window, const Node&, const VisibleColumns& below) {
   exprs_.ensure(!window.calls.empty(), "a window computes something");
   exprs_.check(window.spec.partitionBy, below);
   for (const SortKey& key : window.spec.orderBy)
      exprs_.check(key.expr, below);
   for (const FrameBound* bound : {&window.spec.start, &window.spec.end})
      if (bound->offset) exprs_.check(bound->offset, below);
   for (const WindowCall& call : window.calls) {
      exprs_.ensure(call.function != nullptr, "a window call has a function");
      exprs_.check(call.args, below);
      if (call.filter) exprs_.checkPredicate(call.filter, below);
   }
}

/// Append and RecursiveUnion: output[i] is fed from inputs[child][i].
void PlanVerifier::checkInputs(const std::vector<std::vector<ColumnId>>& inputs, const Node& node) {
   exprs_.ensure(inputs.size() == node.children.size(), "each child of an append feeds columns");
   for (size_t child = 0; child < node.children.size(); ++child) {
      const std::vector<ColumnId>& feeding = inputs[child];
      const VisibleColumns given(node.children[child]->output);
      exprs_.ensure(feeding.size() == node.output.size(), "a child feeds every column of an append");
      for (size_t i = 0; i < feeding.size(); ++i) {
         exprs_.checkColumn(feeding[i], given);
         exprs_.ensure(columns_[feeding[i]].repr == columns_[node.output[i]].repr,
                       "a child feeds columns of an append in their representation", node.output[i]);
      }
   }
}

void PlanVerifier::check(const CteScan& scan, const Node& node, const VisibleColumns&) {
   const auto found = ctes_.find(scan.cte);
   exprs_.ensure(found != ctes_.end(), "a CTE is materialised before it is scanned", scan.cte);
   exprs_.ensure(scan.columns.size() == node.output.size(), "each column of a CTE scan stands for one of the CTE");
   const VisibleColumns given(found->second);
   for (size_t i = 0; i < node.output.size(); ++i) {
      exprs_.checkColumn(scan.columns[i], given);
      exprs_.ensure(columns_[scan.columns[i]].repr == columns_[node.output[i]].repr,
                    "a column of a CTE scan has the CTE's representation", node.output[i]);
   }
}

void PlanVerifier::check(const RecursiveScan& scan, const Node& node, const VisibleColumns&) {
   const auto found = workingTables_.find(scan.cte);
   exprs_.ensure(found != workingTables_.end(), "a working table is scanned inside its recursion");
   exprs_.ensure(scan.slots.size() == node.output.size(), "each column of a working table's scan has a slot");
   for (size_t i = 0; i < node.output.size(); ++i) {
      exprs_.ensure(scan.slots[i] < found->second.size(), "a slot is one of the working table");
      exprs_.ensure(columns_[found->second[scan.slots[i]]].repr == columns_[node.output[i]].repr,
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

void PlanVerifier::check(const Write& write, const Node& node, const VisibleColumns& below) {
   const Dml& dml = *write.dml;
   checkStored(dml.target, below);
   checkStored(dml.proposed, below);
   const bool changesRows = node.kind == NodeKind::Update || node.kind == NodeKind::Delete;
   exprs_.ensure(!changesRows || dml.isInstead || dml.rowId != noColumn, "UPDATE and DELETE know the row");
   if (dml.rowId != noColumn) exprs_.checkColumn(dml.rowId, below);
   if (dml.clause != noColumn) exprs_.checkColumn(dml.clause, below);
   exprs_.ensure((dml.input != nullptr) == (dml.inputLine != noColumn), "an input and its line come together");
   if (dml.inputLine != noColumn) exprs_.checkColumn(dml.inputLine, below);
   for (const auto* checks : {&dml.checks, &dml.proposedChecks, &dml.storedChecks})
      for (const Dml::Check& check : *checks)
         if (check.expr) exprs_.checkPredicate(check.expr, below);
   for (const ComputedColumn& computed : dml.returning)
      exprs_.checkComputed(computed, below);
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
   if (node.getIf<Join>()) return checkJoinedOutput(node);
   VisibleColumns given(madeColumns(node));
   if (node.kind != NodeKind::Aggregate && !node.getIf<Write>()) given.add(below);
   for (const ColumnId column : node.output)
      exprs_.checkColumn(column, given);
}

/// Ensures that a join gives only columns of the sides that its kind keeps.
void PlanVerifier::checkJoinedOutput(const Node& node) {
   const JoinKind kind = node.as<Join>().kind;
   const bool probeOnly = kind == JoinKind::Semi || kind == JoinKind::Anti || kind == JoinKind::Mark;
   const bool buildOnly = kind == JoinKind::RightSemi || kind == JoinKind::RightAnti;
   VisibleColumns given(madeColumns(node));
   if (!buildOnly) given.add(node.children[0]->output);
   if (!probeOnly) given.add(node.children[1]->output);
   for (const ColumnId column : node.output)
      exprs_.checkColumn(column, given);
}

void PlanVerifier::collectScans(const Node& node, std::vector<const Node*>& scans) const {
   checkStack();
   if (node.kind == NodeKind::TableScan || node.kind == NodeKind::VirtualScan) scans.push_back(&node);
   for (const NodePtr& child : node.children)
      collectScans(*child, scans);
}

/// Ensures that no other join publishes this join's filters and lookups, and that a scan of its probe side uses them.
void PlanVerifier::checkUses(const HashJoin& join, const Node& node) {
   exprs_.ensure(join.keyLookupKeys.empty() == (join.keyLookup == 0), "a key lookup has keys");
   if (join.runtimeFilterSources.empty() && join.keyLookup == 0) return;
   std::vector<const Node*> scans;
   collectScans(*node.children[0], scans);
   for (const RuntimeFilterSource& source : join.runtimeFilterSources) {
      exprs_.ensure(source.key < join.keys.size(), "a runtime filter is of a join key");
      exprs_.ensure(!join.keys[source.key].nullsEqual, "a runtime filter is of a key that drops NULLs");
      exprs_.ensure(filters_.add(numbered(source.filter)), "a runtime filter is published by one join", source.filter);
      const bool isUsed = std::any_of(scans.begin(), scans.end(), [&](const Node* scan) {
         const auto* table = scan->getIf<TableScan>();
         const auto& uses = table ? table->runtimeFilters : scan->as<VirtualScan>().runtimeFilters;
         return std::any_of(uses.begin(), uses.end(),
                            [&](const RuntimeFilterUse& use) { return use.filter == source.filter; });
      });
      exprs_.ensure(isUsed, "a runtime filter is used by a scan of the probe side", source.filter);
   }
   if (join.keyLookup == 0) return;
   exprs_.ensure(lookups_.add(numbered(join.keyLookup)), "a key lookup is published by one join");
   const TableScan* scan = nullptr;
   for (const Node* one : scans)
      if (const auto* table = one->getIf<TableScan>(); table && table->keyLookup == join.keyLookup) scan = table;
   exprs_.ensure(scan, "a key lookup is used by a scan of the probe side");
   exprs_.ensure(scan->keyLookupAttributes.size() == join.keyLookupKeys.size(),
                 "a key lookup has a key for each attribute of the index");
   for (const uint32_t key : join.keyLookupKeys)
      exprs_.ensure(key < join.keys.size(), "a key lookup is by join keys");
}

} // namespace

void verify(const Plan& plan) {
   PlanVerifier(plan).run();
}

} // namespace ouzel::sql::plan
