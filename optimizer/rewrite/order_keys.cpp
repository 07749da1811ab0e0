#include <algorithm>
#include <array>

#include "catalog/builtin/builtin.hpp"
#include "optimizer/query/order_key.hpp"
#include "optimizer/rewrite/rules.hpp"

// Arrays, ranges, jsonb and bpchar without a length in ORDER BY become order keys (query/order_key.hpp), and so do the
// operands of = between arrays or jsonb of two relations.

namespace ouzel::optimizer {

using namespace sql;

namespace {

void encode(std::vector<SortKey>& keys, const CollationTable& collations) {
   for (SortKey& key : keys)
      if (isKeyed(key.expr->type, collations)) key.expr = makeOrderKey(std::move(key.expr), collations);
}

/// Gives a LIMIT ... WITH TIES columns by whose bytes rows tie: '{1.0}' and '{1.00}' do.
void encodeTies(Rel& rel, Query& query) {
   auto& limit = rel.as<op::Limit>();
   const CollationTable& collations = query.columns.collations;
   std::vector<ComputedColumn> computed;
   for (SortKey& key : limit.sortKeys) {
      if (!isKeyed(key.expr->type, collations)) continue;
      ExprPtr encoded = makeOrderKey(std::move(key.expr), collations);
      const ColumnId column = query.newColumn("key", encoded->type);
      computed.push_back({column, std::move(encoded)});
      key.expr = query.ref(column);
   }
   rel.inputs[0] = makeMap(std::move(rel.inputs[0]), std::move(computed));
}

/// jsonb_eq(a, b), if both sides read columns, as a comparison of their order keys. Other calls stay as they are.
void encodeEquality(ExprPtr& expr, const CollationTable& collations) {
   constexpr std::array<std::string_view, 5> equalities{"jsonb_eq", "array_eq", "record_eq", "range_eq",
                                                        "multirange_eq"};
   const auto* function = functionOf(*expr);
   if (!function || std::find(equalities.begin(), equalities.end(), function->source) == equalities.end()) return;
   for (const ExprPtr& arg : expr->args) {
      std::vector<ColumnId> columns;
      collectColumns(*arg, columns);
      if (columns.empty() || !isKeyed(arg->type, collations)) return;
   }
   expr = makeCompare(CompareOp::Eq, makeOrderKey(std::move(expr->args[0]), collations),
                      makeOrderKey(std::move(expr->args[1]), collations));
}

} // namespace

void encodeEqualities(RelPtr& root, const Query& query) {
   const CollationTable& collations = query.columns.collations;
   const auto encodeOne = [&](ExprPtr& expr) { encodeEquality(expr, collations); };
   forEachRel(*root, [&](Rel& rel) {
      if (rel.kind == RelKind::Select || rel.kind == RelKind::Join)
         forEachOwnExpr(rel, [&](ExprPtr& predicate) { rewriteExpr(predicate, encodeOne); });
   });
}

void encodeOrders(RelPtr& root, Query& query) {
   const CollationTable& collations = query.columns.collations;
   forEachRel(*root, [&](Rel& rel) {
      if (const auto* limit = rel.getIf<op::Limit>(); limit && limit->withTies) encodeTies(rel, query);
   });
   forEachRel(*root, [&](Rel& rel) {
      if (auto* sort = rel.getIf<op::Sort>()) encode(sort->keys, collations);
      if (auto* distinct = rel.getIf<op::Distinct>()) encode(distinct->sortKeys, collations);
      if (auto* window = rel.getIf<op::Window>()) encode(window->spec.orderBy, collations);
      if (auto* group = rel.getIf<op::GroupBy>())
         for (AggregateCall& call : group->aggregates)
            encode(call.orderBy, collations);
   });
}

} // namespace ouzel::optimizer
