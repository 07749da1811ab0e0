#include "optimizer/lower/lowering.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::optimizer {

using namespace sql;
using plan::Node;
using plan::NodePtr;

std::unique_ptr<plan::Plan> Lowering::run(RelPtr root, std::vector<OutputColumn> output, bool readOnly) {
   ColumnSet need;
   for (const OutputColumn& column : output)
      need.add(column.column);
   auto result = std::make_unique<plan::Plan>();
   result->root = lower(*root, need).node;
   result->output = std::move(output);
   result->readOnly = readOnly;
   if (query_.context.settings.runtimeFilters && query_.context.settings.enabled)
      result->runtimeFilterCount = assignRuntimeFilters(*result->root);
   if (query_.context.settings.enabled) assignKeyLookups(*result->root);
   if (query_.context.settings.enabled) assignPartitionLimits(*result->root);
   assignCosts(*result->root);
   result->boundToSnapshot = exprs_.usedBounds() && !query_.context.forReuse;
   result->columns = query_.columns;
   return result;
}

Lowered Lowering::lower(Rel& rel, const ColumnSet& need) {
   checkStack();
   checkInterrupted();
   Lowered lowered = lowerOperator(rel, need);
   // Products of bounds stay finite, so that none times zero is no number, and sums of 128 bits can be proved.
   constexpr double rowsLimit = 1e30;
   lowered.rowsMax = std::min(lowered.rowsMax, rowsLimit);
   return lowered;
}

Lowered Lowering::lowerOperator(Rel& rel, const ColumnSet& need) {
   switch (rel.kind) {
   case RelKind::Get:
   case RelKind::VirtualGet: return lowerGet(rel, need);
   case RelKind::Values: return lowerValues(rel, need);
   case RelKind::TableFunction: return lowerTableFunction(rel, need);
   case RelKind::Select: return lowerSelect(rel, need);
   case RelKind::Map: return lowerMap(rel, need);
   case RelKind::ProjectSet: return lowerProjectSet(rel, need);
   case RelKind::Join: return lowerJoin(rel, need);
   case RelKind::GroupBy: return lowerGroupBy(rel, need);
   case RelKind::Window: return lowerWindow(rel, need);
   case RelKind::Distinct: return lowerDistinct(rel, need);
   case RelKind::Sort: return lowerSort(rel, need);
   case RelKind::Limit: return lowerLimit(rel, need);
   case RelKind::SetOp: return lowerUnion(rel, need);
   case RelKind::CteScan: return lowerCteScan(rel, need);
   case RelKind::With: return lowerWith(rel, need);
   case RelKind::RecursiveScan: return lowerRecursiveScan(rel, need);
   case RelKind::LockRows: return lowerLockRows(rel, need);
   case RelKind::Barrier: return lower(*rel.inputs[0], need);
   case RelKind::Insert:
   case RelKind::Update:
   case RelKind::Delete:
   case RelKind::Merge: return lowerDml(rel);
   }
   throwInternal("operator that cannot be lowered");
}

NodePtr Lowering::makeNode(plan::Operator op, const Rel& rel) {
   auto node = std::make_unique<Node>(std::move(op));
   node->estimatedRows = estimator_.rows(rel);
   return node;
}

void Lowering::passThrough(Node& node, const ColumnSet& need) {
   DCHECK(node.children.size() == 1);
   DCHECK(node.output.empty());
   for (const ColumnId column : node.children[0]->output)
      if (need.contains(column)) node.output.push_back(column);
}

Lowered Lowering::project(Lowered input, std::vector<ComputedColumn> computed, const std::vector<ColumnId>& output) {
   if (computed.empty() && input.node->output == output) return input;
   auto node = std::make_unique<Node>(plan::Project{{std::move(computed)}});
   node->estimatedRows = input.node->estimatedRows;
   node->output = output;
   node->children.push_back(std::move(input.node));
   return {std::move(node), input.rowsMax};
}

ColumnId Lowering::asColumn(ExprPtr expr, std::vector<ComputedColumn>& computed) {
   if (expr->kind == ExprKind::Column) return columnOf(*expr);
   for (const ComputedColumn& existing : computed)
      if (equal(*existing.expr, *expr)) return existing.column;
   const ColumnId column = query_.newColumn("", expr->type);
   exprs_.setColumn(column, expr->repr, std::nullopt);
   computed.push_back({column, std::move(expr)});
   return column;
}

Lowered Lowering::convertColumns(Lowered input, std::vector<ColumnId>& columns,
                                 const std::vector<Representation>& target) {
   DCHECK(columns.size() == target.size());
   std::vector<ComputedColumn> computed;
   std::vector<ColumnId> output;
   for (size_t i = 0; i < columns.size(); ++i) {
      if (query_.columns[columns[i]].repr != target[i]) {
         ExprPtr expr = query_.ref(columns[i]);
         const std::optional<Bounds> bounds = exprs_.lower(expr);
         ExprLowering::convert(expr, target[i]);
         const ColumnId converted = query_.copyColumn(columns[i]);
         exprs_.setColumn(converted, target[i],
                          target[i].scale == query_.columns[columns[i]].repr.scale ? bounds : std::nullopt);
         computed.push_back({converted, std::move(expr)});
         columns[i] = converted;
      }
      if (std::find(output.begin(), output.end(), columns[i]) == output.end()) output.push_back(columns[i]);
   }
   if (computed.empty()) return input;
   return project(std::move(input), std::move(computed), output);
}

} // namespace ouzel::optimizer
