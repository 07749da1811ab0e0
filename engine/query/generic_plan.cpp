#include "engine/query/generic_plan.hpp"

#include <algorithm>

#include "engine/constraint/unique_keys.hpp"
#include "engine/core/touched_relations.hpp"
#include "engine/query/statement_runner.hpp"
#include "executor/function/context.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/table_parts.hpp"
#include "storage/table/table.hpp"

namespace ouzel::engine {

using sql::Expr;
using sql::ExprKind;
using sql::ExprPtr;
using sql::plan::Node;
using sql::plan::NodeKind;

namespace {

/// Tables with fewer rows are read in no more time than a lookup takes.
constexpr double smallTableRows = 1000;
/// One table with fewer rows is read in no more time than planning takes, and without joins there is one plan.
constexpr double onlyTableRows = 20'000;

size_t scanCount(const Node& node) {
   size_t count = node.kind == NodeKind::TableScan ? 1 : 0;
   for (const auto& child : node.children)
      count += scanCount(*child);
   return count;
}

void collectParameters(Expr& root, std::vector<std::pair<Expr*, uint32_t>>& out) {
   if (const auto* parameter = root.getIf<sql::scalar::Parameter>()) out.emplace_back(&root, parameter->number);
   for (const ExprPtr& arg : root.args)
      collectParameters(*arg, out);
}

/// Whether the plan is best for all values: its rows are looked up, given in the statement, or few.
bool isReusable(const Node& node, double rowsMax) {
   switch (node.kind) {
   case NodeKind::TableScan: {
      const auto& scan = node.as<sql::plan::TableScan>();
      if (!scan.looksUp() && scan.tableRows > rowsMax) return false;
      break;
   }
   case NodeKind::Values:
   case NodeKind::Filter:
   case NodeKind::Project:
   case NodeKind::HashJoin:
   case NodeKind::NestedLoopJoin:
   case NodeKind::Aggregate:
   case NodeKind::Sort:
   case NodeKind::TopN:
   case NodeKind::Limit:
   case NodeKind::Insert:
   case NodeKind::Update:
   case NodeKind::Delete:
   case NodeKind::Merge: break;
   default: return false;
   }
   return std::all_of(node.children.begin(), node.children.end(),
                      [&](const auto& child) { return isReusable(*child, rowsMax); });
}

} // namespace

std::shared_ptr<GenericPlan> GenericPlan::make(SessionCore& core, sql::BoundQuery query) {
   if (query.hasRules() || query.isForOnce) return nullptr;
   requirePopulated(core, query.relations);
   auto generic = std::make_shared<GenericPlan>();
   generic->isReadOnly_ = changesOnlyTemporary(core, query);
   generic->access_ = query.access;
   generic->catalogVersion_ = core.transaction.catalog().version();
   generic->settingsVersion_ = core.settings.version();
   for (const Oid relation : query.relations)
      generic->locks_.push_back({relation, query.writes(relation)
                                               ? lockForWriting(core.transaction.catalog(), relation, *query.root)
                                               : LockMode::AccessShare});
   executor::FunctionContext functions = core.functionContext();
   generic->planned_ = planQuery(core, std::move(query), core.transaction.snapshot(), functions, true);
   Node& root = *generic->planned_->plan->root;
   generic->rowsMax_ = scanCount(root) <= 1 ? onlyTableRows : smallTableRows;
   if (!isReusable(root, generic->rowsMax_)) return nullptr;
   const std::function<void(Node&)> collect = [&](Node& node) {
      forEachOwnExpr(node, [&](Expr& expr) { collectParameters(expr, generic->parameters_); });
      const auto* scan = node.getIf<sql::plan::TableScan>();
      if (scan && !scan->looksUp())
         forEachStorage(scan->table, [&](uint64_t storageId) {
            generic->readWhole_.push_back(static_cast<storage::StorageId>(storageId));
         });
      for (const auto& child : node.children)
         collect(*child);
   };
   collect(root);
   return generic;
}

bool GenericPlan::isCurrent(SessionCore& core) const {
   if (catalogVersion_ != core.transaction.catalog().version() || settingsVersion_ != core.settings.version())
      return false;
   return std::all_of(readWhole_.begin(), readWhole_.end(), [&](storage::StorageId id) {
      const auto table = core.database.storage->find(id);
      return table && static_cast<double>(table->estimatedRows(core.transaction.snapshot())) <= 10 * rowsMax_;
   });
}

bool GenericPlan::lock(SessionCore& core) const {
   if (!isReadOnly_) requireWritable(core, statementName(planned_->kind));
   for (const LockedRelation& locked : locks_)
      core.transaction.lock(locked.relation, locked.mode);
   // Under READ COMMITTED the snapshot shows rows that were committed during the wait for locks.
   core.transaction.startStatement();
   if (core.touched) core.touched->note(core, access_);
   return catalogVersion_ == core.transaction.catalog().version();
}

std::unique_ptr<QueryExecution> GenericPlan::start(SessionCore& core, std::span<const BoundParameter> parameters) {
   for (const auto& [expr, number] : parameters_) {
      DCHECK(number < parameters.size());
      const Value& value = parameters[number].value;
      DCHECK(value.isNull || value.type == expr->repr.physical);
      if (expr->kind != ExprKind::Constant) expr->become(ExprKind::Constant);
      Value& constant = expr->as<sql::scalar::Constant>().value;
      constant = value.isNull ? Value::null(expr->repr.physical) : value;
      sql::dropParameterBlanks(expr->type, constant);
   }
   return std::make_unique<QueryExecution>(core, planned_);
}

} // namespace ouzel::engine
