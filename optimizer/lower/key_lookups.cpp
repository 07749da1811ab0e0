#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/builtin/ordered_types.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/lower/computed_lookups.hpp"
#include "optimizer/lower/lowering.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/expr.hpp"

// Uses of indexes: a scan whose predicates fix an index's columns, and the probe side of a join with few build rows. If
// the index is not in memory, executor and storage may still read the table.

namespace ouzel::optimizer {

using namespace sql;
using plan::Node;
using plan::NodeKind;

namespace {

/// Cost of a lookup, in rows that a scan reads in the same time.
constexpr double rowsPerLookup = 200;
/// Joins with more build rows scan the table.
constexpr double lookupKeysMax = 1000;

/// Indexes hash arrays and jsonb by their order keys, and a scan hashes their bytes.
bool isFixed(const Expr& expr, const Representation& representation) {
   return !catalog::hasOrderKey(expr.type.oid) &&
          (expr.kind == ExprKind::Constant || expr.kind == ExprKind::Parameter) && expr.repr == representation;
}

/// Number of values that the predicate allows for `column`: 1 for `column = c`, n for `column IN (c1, ..., cn)`; 0 for
/// any other predicate.
size_t valuesLeft(const Expr& predicate, ColumnId column, const Representation& representation) {
   // Indexes hash a bpchar without a length by its order key, the text without its blanks.
   const auto isColumn = [&](const Expr& expr) {
      return columnOf(isWithoutBlanks(expr) ? *expr.args[0] : expr) == column;
   };
   if (compareOf(predicate) == CompareOp::Eq) {
      const Expr &lhs = *predicate.args[0], &rhs = *predicate.args[1];
      return (isColumn(lhs) && isFixed(rhs, representation)) || (isColumn(rhs) && isFixed(lhs, representation));
   }
   const auto* in = predicate.getIf<scalar::InList>();
   if (in && !in->negated && isColumn(*predicate.args[0]) &&
       std::all_of(predicate.args.begin() + 1, predicate.args.end(),
                   [&](const ExprPtr& arg) { return isFixed(*arg, representation); }))
      return predicate.args.size() - 1;
   return 0;
}

const plan::ScanColumn* scanned(const plan::TableScan& scan, int16_t attribute) {
   for (const plan::ScanColumn& column : scan.columns)
      if (column.attribute == attribute) return &column;
   return nullptr;
}

/// The scan below that gives `column`, through filters and projections, and the column's attribute; null: no such scan.
std::pair<plan::TableScan*, int16_t> scanOf(Node& node, ColumnId column) {
   checkStack();
   switch (node.kind) {
   case NodeKind::TableScan: {
      auto& scan = node.as<plan::TableScan>();
      for (const plan::ScanColumn& scanned : scan.columns)
         if (scanned.column == column && scanned.attribute > 0) return {&scan, scanned.attribute};
      return {nullptr, int16_t{0}};
   }
   case NodeKind::Project:
      for (const ComputedColumn& computed : node.as<plan::Project>().computed)
         if (computed.column == column) return scanOf(*node.children[0], columnOf(*computed.expr));
      return scanOf(*node.children[0], column);
   case NodeKind::Filter: return scanOf(*node.children[0], column);
   default: return {nullptr, int16_t{0}};
   }
}

/// The scan below filters and projections, and `exprs` over the columns that it gives; null: no such scan.
plan::TableScan* scanBelow(Node& node, std::vector<ExprPtr>& exprs) {
   checkStack();
   if (auto* scan = node.getIf<plan::TableScan>()) return scan;
   if (const auto* project = node.getIf<plan::Project>())
      for (ExprPtr& expr : exprs)
         substituteColumns(expr, [&](ColumnId column) -> const Expr* {
            for (const ComputedColumn& computed : project->computed)
               if (computed.column == column) return computed.expr.get();
            return nullptr;
         });
   const bool isPassed = node.kind == NodeKind::Project || node.kind == NodeKind::Filter;
   return isPassed ? scanBelow(*node.children[0], exprs) : nullptr;
}

/// A lookup of the join's keys in an index that computes its key.
void assignComputed(plan::HashJoin& join, Node& node, uint32_t& next) {
   std::vector<ExprPtr> exprs;
   for (const plan::JoinKey& key : join.keys)
      exprs.push_back(clone(*key.probe));
   plan::TableScan* scan = scanBelow(*node.children[0], exprs);
   if (!scan || scan->looksUp() || scan->tableRows <= node.children[1]->estimatedRows * rowsPerLookup) return;
   std::vector<const Expr*> keys;
   for (size_t i = 0; i < exprs.size(); ++i) // the index has other hashes of other representations
      keys.push_back(
          join.keys[i].nullsEqual || exprs[i]->repr != storedRepresentation(exprs[i]->type) ? nullptr : exprs[i].get());
   for (const plan::IndexUse& index : scan->indexes) {
      if (!index.computed) continue;
      std::vector<uint32_t> order = joinKeysOf(*index.computed, *scan, keys);
      if (order.empty()) continue;
      scan->keyLookup = join.keyLookup = ++next;
      scan->keyLookupAttributes = index.attributes;
      scan->lookupIndex = index.computed;
      join.keyLookupKeys = std::move(order);
      return;
   }
}

void assign(Node& node, uint32_t& next) {
   checkStack();
   auto* join = node.getIf<plan::HashJoin>();
   if (join && sql::joinDropsUnmatchedProbe(join->kind) && node.children[1]->estimatedRows <= lookupKeysMax) {
      plan::TableScan* scan = nullptr;
      std::vector<std::pair<int16_t, uint32_t>> keys; // attribute of the scan, index of the join key
      for (uint32_t i = 0; i < join->keys.size(); ++i) {
         const plan::JoinKey& key = join->keys[i];
         if (key.nullsEqual || key.probe->kind != ExprKind::Column || catalog::hasOrderKey(key.probe->type.oid))
            continue;
         const auto [found, attribute] = scanOf(*node.children[0], columnOf(*key.probe));
         if (!found || (scan && scan != found)) continue;
         scan = found;
         keys.emplace_back(attribute, i);
      }
      if (scan && !scan->looksUp() && scan->tableRows > node.children[1]->estimatedRows * rowsPerLookup)
         for (const plan::IndexUse& index : scan->indexes) {
            if (index.computed) continue;
            std::vector<uint32_t> order;
            for (const int16_t attribute : index.attributes)
               for (const auto& [have, key] : keys)
                  if (have == attribute) {
                     order.push_back(key);
                     break;
                  }
            if (order.size() != index.attributes.size()) continue;
            scan->keyLookup = join->keyLookup = ++next;
            scan->keyLookupAttributes = index.attributes;
            join->keyLookupKeys = std::move(order);
            break;
         }
      if (join->keyLookup == 0) assignComputed(*join, node, next);
   }
   for (plan::NodePtr& child : node.children)
      assign(*child, next);
   for (plan::CtePlan& cte : node.ctes())
      assign(*cte.plan, next);
}

} // namespace

void chooseIndex(plan::TableScan& scan, double rows, const ColumnTable& columns) {
   for (const plan::IndexUse& index : scan.indexes) {
      if (index.computed) continue;
      double lookups = 1;
      bool isFixedByAll = true;
      for (const int16_t attribute : index.attributes) {
         const plan::ScanColumn* column = scanned(scan, attribute);
         size_t values = 0;
         for (const ExprPtr& predicate : scan.predicates)
            if (column && values == 0) values = valuesLeft(*predicate, column->column, columns[column->column].repr);
         isFixedByAll = isFixedByAll && values > 0;
         lookups *= static_cast<double>(values);
      }
      if (!isFixedByAll) continue;
      const double rowsFound = index.isUnique ? lookups : std::max(lookups, rows);
      if (rowsFound * rowsPerLookup > std::max(scan.tableRows, rowsPerLookup)) continue;
      scan.lookupAttributes = index.attributes;
      return;
   }
}

void assignKeyLookups(Node& root) {
   uint32_t next = 0;
   assign(root, next);
}

} // namespace ouzel::optimizer
