#include "optimizer/lower/computed_lookups.hpp"

#include <algorithm>

#include "catalog/builtin/ordered_types.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/implication.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr double rowsPerLookup = 200; ///< as of key_lookups.cpp

/// The expression of an index over the scan's columns; null if the scan does not give a column that it reads.
template <typename ColumnFor>
ExprPtr over(const Expr& indexed, const ColumnFor& columnFor) {
   std::vector<std::pair<ColumnId, ExprPtr>> columns;
   bool isGiven = true;
   forEachExpr(indexed, [&](const Expr& expr) {
      const ColumnId attribute = columnOf(expr);
      if (attribute == noColumn) return true;
      const ColumnId own = columnFor(static_cast<int16_t>(static_cast<uint32_t>(attribute)));
      isGiven = isGiven && own != noColumn;
      columns.emplace_back(attribute, makeColumn(own, expr.type));
      columns.back().second->repr = expr.repr;
      return true;
   });
   if (!isGiven) return nullptr;
   ExprPtr expr = clone(indexed);
   substituteColumns(expr, [&](ColumnId attribute) -> const Expr* {
      for (const auto& [id, column] : columns)
         if (id == attribute) return column.get();
      return nullptr;
   });
   return expr;
}

template <typename ColumnFor>
std::optional<std::vector<ExprPtr>> allOver(const std::vector<ExprPtr>& indexed, const ColumnFor& columnFor) {
   std::vector<ExprPtr> result;
   for (const ExprPtr& one : indexed)
      if (!result.emplace_back(over(*one, columnFor))) return std::nullopt;
   return result;
}

bool isConstant(const Expr& expr) {
   return expr.kind == ExprKind::Constant || expr.kind == ExprKind::Parameter;
}

/// The values that a predicate allows for the expression; none: it says nothing of it.
std::vector<ExprPtr> valuesFor(const Expr& predicate, const Expr& key) {
   std::vector<ExprPtr> values;
   const auto isKey = [&](const Expr& expr) { return equal(withoutRelabel(expr), withoutRelabel(key)); };
   // Values of another representation may have other hashes.
   const auto isValue = [&](const Expr& expr) {
      const Expr& inner = withoutRelabel(expr);
      return isConstant(inner) && storedRepresentation(inner.type) == storedRepresentation(key.type);
   };
   if (compareOf(predicate) == CompareOp::Eq) {
      for (const size_t side : {0, 1})
         if (values.empty() && isKey(*predicate.args[side]) && isValue(*predicate.args[1 - side]))
            values.push_back(clone(withoutRelabel(*predicate.args[1 - side])));
      return values;
   }
   const auto* in = predicate.getIf<scalar::InList>();
   if (!in || in->negated || !isKey(*predicate.args[0])) return values;
   for (size_t i = 1; i < predicate.args.size(); ++i) {
      if (!isValue(*predicate.args[i])) return {};
      values.push_back(clone(withoutRelabel(*predicate.args[i])));
   }
   return values;
}

} // namespace

std::optional<ComputedLookup> findComputedLookup(const std::vector<plan::IndexUse>& indexes,
                                                 const std::vector<GetColumn>& columns, const Expr& predicate) {
   const auto columnFor = [&](int16_t attribute) {
      for (const GetColumn& column : columns)
         if (column.attribute == attribute) return column.column;
      return noColumn;
   };
   std::vector<ExprPtr> own;
   std::vector<const Expr*> given;
   for (const plan::IndexUse& index : indexes) {
      if (!index.computed) continue;
      if (own.empty()) own = conjunctsOf(clone(predicate));
      if (given.empty())
         for (const ExprPtr& one : own)
            given.push_back(one.get());
      const auto key = allOver(index.computed->key, columnFor), part = allOver(index.computed->predicate, columnFor);
      if (!key || !part || !impliesAll(given, *part)) continue;
      ComputedLookup lookup{&index, {}};
      for (const ExprPtr& column : *key) {
         std::vector<ExprPtr> values;
         for (const Expr* one : given)
            if (values.empty() && !catalog::hasOrderKey(column->type.oid)) values = valuesFor(*one, *column);
         lookup.lookups *= static_cast<double>(values.size());
         lookup.values.push_back(std::move(values));
      }
      if (lookup.lookups > 0) return lookup;
   }
   return std::nullopt;
}

void setComputedLookup(plan::TableScan& scan, ComputedLookup lookup, double rows, ExprLowering& exprs) {
   const double rowsFound = lookup.index->isUnique ? lookup.lookups : std::max(lookup.lookups, rows);
   if (rowsFound * rowsPerLookup > std::max(scan.tableRows, rowsPerLookup)) return;
   const plan::ComputedIndex& index = *lookup.index->computed;
   for (size_t i = 0; i < lookup.values.size(); ++i)
      for (ExprPtr& value : lookup.values[i])
         exprs.lowerTo(value, storedRepresentation(index.key[i]->type));
   scan.lookupIndex = lookup.index->computed;
   scan.lookupValues = std::move(lookup.values);
}

std::vector<uint32_t> joinKeysOf(const plan::ComputedIndex& index, const plan::TableScan& scan,
                                 const std::vector<const Expr*>& probeKeys) {
   const auto columnFor = [&](int16_t attribute) {
      for (const plan::ScanColumn& column : scan.columns)
         if (column.attribute == attribute) return column.column;
      return noColumn;
   };
   const auto key = allOver(index.lowered, columnFor), part = allOver(index.loweredPredicate, columnFor);
   if (!key || !part) return {};
   std::vector<const Expr*> given;
   for (const ExprPtr& predicate : scan.predicates)
      given.push_back(predicate.get());
   if (!impliesAll(given, *part)) return {};
   std::vector<uint32_t> order;
   for (const ExprPtr& column : *key) {
      if (catalog::hasOrderKey(column->type.oid)) return {};
      const auto found = std::find_if(probeKeys.begin(), probeKeys.end(), [&](const Expr* probe) {
         return probe && equal(withoutRelabel(*probe), withoutRelabel(*column));
      });
      if (found == probeKeys.end()) return {};
      order.push_back(static_cast<uint32_t>(found - probeKeys.begin()));
   }
   return order;
}

} // namespace ouzel::optimizer
