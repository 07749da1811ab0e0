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

void encodeOrders(RelPtr& root, const Query& query) {
   const CollationTable& collations = query.columns.collations;
   forEachRel(*root, [&](Rel& rel) {
      if (auto* sort = rel.getIf<op::Sort>()) encode(sort->keys, collations);
      if (auto* limit = rel.getIf<op::Limit>()) encode(limit->sortKeys, collations);
      if (auto* distinct = rel.getIf<op::Distinct>()) encode(distinct->sortKeys, collations);
      if (auto* window = rel.getIf<op::Window>()) encode(window->spec.orderBy, collations);
      if (auto* group = rel.getIf<op::GroupBy>())
         for (AggregateCall& call : group->aggregates)
            encode(call.orderBy, collations);
   });
}

} // namespace ouzel::optimizer
