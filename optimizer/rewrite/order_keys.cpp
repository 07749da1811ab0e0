#include "optimizer/query/order_key.hpp"
#include "optimizer/rewrite/rules.hpp"

// Arrays, jsonb and bpchar without a length in ORDER BY become order keys (query/order_key.hpp).

namespace ouzel::optimizer {

using namespace sql;

namespace {

void encode(std::vector<SortKey>& keys) {
   for (SortKey& key : keys)
      if (isKeyed(key.expr->type)) key.expr = makeOrderKey(std::move(key.expr));
}

} // namespace

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
