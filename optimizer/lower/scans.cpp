#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "optimizer/lower/computed_lookups.hpp"
#include "optimizer/lower/lowering.hpp"

// Lowers sources and operators that work row by row: scans, VALUES, functions, filters, projections.

namespace ouzel::optimizer {

using namespace sql;

namespace {

std::optional<Bounds> statisticsBounds(const storage::ColumnStatistics& column) {
   if (!column.min || !column.max || column.min->isNull || column.max->isNull) return std::nullopt;
   switch (column.min->type) {
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return Bounds{column.min->i64, column.max->i64};
   case PhysicalType::I128: return Bounds{column.min->i128, column.max->i128};
   default: return std::nullopt;
   }
}

/// Rough time of evaluating an expression for one row, in comparisons of integers.
double evaluationCost(const Expr& root) {
   double cost = 0;
   forEachExpr(root, [&cost](const Expr& expr) {
      switch (expr.kind) {
      case ExprKind::Column:
      case ExprKind::Constant:
      case ExprKind::Relabel: break;
      case ExprKind::Compare: cost += isVariableSize(expr.args[0]->repr.physical) ? 3 : 1; break;
      case ExprKind::InList: cost += isVariableSize(expr.args[0]->repr.physical) ? 6 : 3; break;
      case ExprKind::Call: {
         const auto* function = functionOf(expr);
         const std::string_view source = function ? function->source : std::string_view();
         cost +=
             source.find("like") != std::string_view::npos || source.find("regex") != std::string_view::npos ? 20 : 5;
         break;
      }
      default: cost += 1;
      }
      return true;
   });
   return cost;
}

} // namespace

std::vector<ExprPtr> Lowering::lowerPredicates(ExprPtr predicate) {
   std::vector<ExprPtr> conjuncts = conjunctsOf(std::move(predicate));
   struct Ranked {
      bool fails;
      double rank;
      ExprPtr expr;
   };
   std::vector<Ranked> ranked;
   static const RelEstimate nothingKnown;
   for (ExprPtr& conjunct : conjuncts) {
      const bool fails = mayFail(*conjunct);
      // The predicate with the least cost per dropped row comes first. Predicates that may raise an error come last, so
      // that they see as few rows as possible.
      const double pass = std::min(0.99, estimator_.selectivity(*conjunct, nothingKnown));
      exprs_.lower(conjunct);
      ranked.push_back({fails, evaluationCost(*conjunct) / (1 - pass), std::move(conjunct)});
   }
   std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return a.fails != b.fails ? b.fails : !a.fails && a.rank < b.rank;
   });
   std::vector<ExprPtr> result;
   for (Ranked& one : ranked)
      result.push_back(std::move(one.expr));
   return result;
}

Lowered Lowering::lowerGet(Rel& rel, const ColumnSet& need) {
   auto& get = rel.as<op::Get>();
   const bool stored = rel.kind == RelKind::Get;
   plan::NodePtr node = makeNode(stored ? plan::Operator(plan::TableScan{}) : plan::VirtualScan{}, rel);
   auto& scan = node->as<plan::Scan>();
   scan.table = get.table;
   if (stored) node->as<plan::TableScan>().seesWith = get.seesWith;
   double rowsMax = 1e6;
   std::shared_ptr<const storage::TableStatistics> statistics;
   if (stored && query_.context.statistics) statistics = query_.context.statistics->statistics(get.table);
   rowsMax = statistics ? static_cast<double>(std::max(statistics->rowsStored, statistics->rowCount))
             : stored || get.table.external ? 1e12
                                            : rowsMax;
   if (stored && query_.context.forReuse) rowsMax = 1e12;
   ColumnSet used = need;
   if (get.predicate) addColumns(*get.predicate, used);
   for (const GetColumn& column : get.columns) {
      if (!used.contains(column.column)) continue;
      const ColumnInfo& info = query_.columns[column.column];
      const Representation repr = storedRepresentation(info.type);
      std::optional<Bounds> bounds;
      const size_t index = static_cast<size_t>(column.attribute - 1);
      if (statistics && column.attribute > 0 && index < statistics->columns.size() && !query_.context.forReuse)
         bounds = statisticsBounds(statistics->columns[index]);
      if (!bounds) bounds = boundsOfType(repr, info.type);
      exprs_.setColumn(column.column, repr, bounds);
      scan.columns.push_back({column.column, column.attribute});
      if (need.contains(column.column)) node->output.push_back(column.column);
   }
   for (const GetPath& path : get.paths) {
      if (!used.contains(path.column)) continue;
      if (path.access.isCertain) exprs_.noteBoundsUsed();
      const bool isBounded = path.smallest <= path.largest;
      exprs_.setColumn(path.column, path.access.result(),
                       isBounded ? std::optional(Bounds{path.smallest, path.largest}) : std::nullopt);
      scan.paths.push_back({path.column, path.attribute, path.access});
      if (need.contains(path.column)) node->output.push_back(path.column);
   }
   std::optional<ComputedLookup> computed;
   const bool looksUp = stored && query_.context.statistics && query_.context.settings.enabled;
   if (looksUp) {
      auto& indexes = node->as<plan::TableScan>().indexes;
      indexes = query_.context.statistics->indexes(get.table);
      if (get.predicate) computed = findComputedLookup(indexes, get.columns, *get.predicate);
   }
   if (get.predicate) scan.predicates = lowerPredicates(std::move(get.predicate));
   if (looksUp) {
      auto& table = node->as<plan::TableScan>();
      table.tableRows = statistics ? static_cast<double>(statistics->rowCount) : 0;
      chooseIndex(table, node->estimatedRows, query_.columns);
      if (computed && !table.looksUp()) setComputedLookup(table, std::move(*computed), node->estimatedRows, exprs_);
   }
   return {std::move(node), rowsMax};
}

Lowered Lowering::lowerValues(Rel& rel, const ColumnSet& need) {
   auto& source = rel.as<op::Values>();
   plan::NodePtr node = makeNode(plan::Values{}, rel);
   auto& rows = node->as<plan::Values>().rows;
   std::vector<size_t> kept;
   for (size_t i = 0; i < source.columns.size(); ++i)
      if (need.contains(source.columns[i])) {
         kept.push_back(i);
         node->output.push_back(source.columns[i]);
      }
   for (std::vector<ExprPtr>& row : source.rows) {
      std::vector<ExprPtr> values;
      for (const size_t i : kept)
         values.push_back(std::move(row[i]));
      rows.push_back(std::move(values));
   }
   for (size_t c = 0; c < kept.size(); ++c) {
      // Numerics stay Decimal, because each value has a display scale of its own.
      const Representation repr = ExprLowering::genericRepresentation(query_.columns[node->output[c]].type);
      for (std::vector<ExprPtr>& row : rows)
         exprs_.lowerTo(row[c], repr);
      exprs_.setColumn(node->output[c], repr, std::nullopt);
   }
   return {std::move(node), static_cast<double>(rows.size())};
}

Lowered Lowering::lowerTableFunction(Rel& rel, const ColumnSet& need) {
   auto& call = rel.as<op::TableFunction>();
   plan::NodePtr node = makeNode(plan::TableFunction{}, rel);
   double rowsMax = 1e12;
   if (!rel.inputs.empty()) {
      ColumnSet below = need;
      addColumns(call.args, below);
      Lowered child = lower(*rel.inputs[0], below);
      rowsMax = child.rowsMax * 1e9;
      node->children.push_back(std::move(child.node));
      passThrough(*node, need);
   }
   for (ExprPtr& arg : call.args)
      exprs_.lowerToGeneric(arg);
   node->as<plan::TableFunction>() = {call.function, std::move(call.args), call.columns, call.ordinality};
   for (const ColumnId column : call.columns) {
      exprs_.setColumn(column, ExprLowering::genericRepresentation(query_.columns[column].type), std::nullopt);
      if (need.contains(column)) node->output.push_back(column);
   }
   if (call.ordinality != noColumn) {
      exprs_.setColumn(call.ordinality, {PhysicalType::I64, 0}, std::nullopt);
      if (need.contains(call.ordinality)) node->output.push_back(call.ordinality);
   }
   return {std::move(node), rowsMax};
}

Lowered Lowering::lowerSelect(Rel& rel, const ColumnSet& need) {
   auto& select = rel.as<op::Select>();
   plan::NodePtr node = makeNode(plan::Filter{}, rel);
   ColumnSet below = need;
   if (select.predicate) addColumns(*select.predicate, below);
   Rel& input = *rel.inputs[0];
   // A predicate directly over a scan becomes a predicate of the scan.
   if (auto* get = input.getIf<op::Get>(); get && select.predicate) {
      get->predicate = conjunction(std::move(get->predicate), std::move(select.predicate));
      const double rows = node->estimatedRows;
      Lowered scan = lowerGet(input, need);
      scan.node->estimatedRows = rows;
      return scan;
   }
   Lowered child = lower(input, below);
   if (!select.predicate) return child;
   auto& predicates = node->as<plan::Filter>().predicates = lowerPredicates(std::move(select.predicate));
   if (predicates.empty()) return child; // all were true
   node->children.push_back(std::move(child.node));
   passThrough(*node, need);
   return {std::move(node), child.rowsMax};
}

Lowered Lowering::lowerMap(Rel& rel, const ColumnSet& need) {
   ColumnSet below = need;
   std::vector<ComputedColumn> computed;
   for (ComputedColumn& column : rel.as<op::Map>().computed) {
      if (!need.contains(column.column) && !isVolatile(*column.expr)) continue;
      addColumns(*column.expr, below);
      computed.push_back(std::move(column));
   }
   Lowered child = lower(*rel.inputs[0], below);
   if (computed.empty()) return child;
   std::vector<ColumnId> output;
   for (const ColumnId column : child.node->output)
      if (need.contains(column)) output.push_back(column);
   for (ComputedColumn& column : computed) {
      const std::optional<Bounds> bounds = exprs_.lower(column.expr);
      exprs_.setColumn(column.column, column.expr->repr, bounds);
      if (need.contains(column.column)) output.push_back(column.column);
   }
   return project(std::move(child), std::move(computed), output);
}

Lowered Lowering::lowerProjectSet(Rel& rel, const ColumnSet& need) {
   auto& sets = rel.as<op::Map>();
   plan::NodePtr node = makeNode(plan::ProjectSet{}, rel);
   ColumnSet below = need;
   for (const ComputedColumn& column : sets.computed)
      addColumns(*column.expr, below);
   Lowered child = lower(*rel.inputs[0], below);
   const double rowsMax = child.rowsMax * 1e9;
   node->children.push_back(std::move(child.node));
   passThrough(*node, need);
   for (ComputedColumn& column : sets.computed) { // also columns without readers: the longest set decides the row count
      exprs_.lowerToGeneric(column.expr);
      exprs_.setColumn(column.column, column.expr->repr, std::nullopt);
      if (need.contains(column.column)) node->output.push_back(column.column);
   }
   node->as<plan::ProjectSet>().computed = std::move(sets.computed);
   return {std::move(node), rowsMax};
}

} // namespace ouzel::optimizer
