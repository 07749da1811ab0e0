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

void encode(std::vector<SortKey>& keys) {
   for (SortKey& key : keys)
      if (isKeyed(key.expr->type)) key.expr = makeOrderKey(std::move(key.expr));
}

/// jsonb_eq(a, b), if both sides read columns, as a comparison of their order keys. Other calls stay as they are.
void encodeEquality(ExprPtr& expr) {
   constexpr std::array<std::string_view, 5> equalities{"jsonb_eq", "array_eq", "record_eq", "range_eq",
                                                        "multirange_eq"};
   const auto* function = functionOf(*expr);
   if (!function || std::find(equalities.begin(), equalities.end(), function->source) == equalities.end()) return;
   for (const ExprPtr& arg : expr->args) {
      std::vector<ColumnId> columns;
      collectColumns(*arg, columns);
      if (columns.empty() || !isKeyed(arg->type)) return;
   }
   expr = makeCompare(CompareOp::Eq, makeOrderKey(std::move(expr->args[0])), makeOrderKey(std::move(expr->args[1])));
}

} // namespace

void encodeEqualities(RelPtr& root) {
   forEachRel(*root, [](Rel& rel) {
      if (rel.kind == RelKind::Select || rel.kind == RelKind::Join)
         forEachOwnExpr(rel, [](ExprPtr& predicate) { rewriteExpr(predicate, encodeEquality); });
   });
}

void encodeOrders(RelPtr& root) {
   forEachRel(*root, [](Rel& rel) {
      if (auto* sort = rel.getIf<op::Sort>()) encode(sort->keys);
      if (auto* limit = rel.getIf<op::Limit>()) encode(limit->sortKeys);
      if (auto* distinct = rel.getIf<op::Distinct>()) encode(distinct->sortKeys);
      if (auto* window = rel.getIf<op::Window>()) encode(window->spec.orderBy);
      if (auto* group = rel.getIf<op::GroupBy>())
         for (AggregateCall& call : group->aggregates)
            encode(call.orderBy);
   });
}

} // namespace ouzel::optimizer
