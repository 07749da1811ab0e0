#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/rewrite/grouping/exact_types.hpp"
#include "optimizer/rewrite/rules.hpp"

// GROUP BY a, a - 1, 5: the other keys follow from a, so groups are found by a alone and the others are computed for
// each group. A key of a type in which equal values may look different (1.0 and 1.00, -0 and 0) determines nothing.

namespace ouzel::optimizer {

using namespace sql;

namespace {

void dropFrom(RelPtr& rel, Query& query) {
   auto& group = rel->as<op::GroupBy>();
   if (!group.groupingSets.empty() || !group.groupingCalls.empty() || group.keys.size() < 2) return;
   ColumnMap keyOf; // by the column that is a key
   for (const ComputedColumn& key : group.keys)
      if (const ColumnId column = columnOf(*key.expr); column != noColumn && isExact(key.expr->type))
         keyOf.try_emplace(column, key.column);
   std::vector<ComputedColumn> computed;
   size_t kept = 0;
   for (ComputedColumn& key : group.keys) {
      std::vector<ColumnId> used;
      collectColumns(*key.expr, used);
      const ColumnId column = columnOf(*key.expr);
      const bool isFirst = column != noColumn && (!keyOf.contains(column) || keyOf.at(column) == key.column);
      const bool isDetermined = !isFirst && !isVolatile(*key.expr) &&
                                std::ranges::all_of(used, [&](ColumnId c) { return keyOf.contains(c); });
      // One key stays: without any there would be a group for no rows.
      if (!isDetermined || (kept == 0 && &key == &group.keys.back())) {
         if (&group.keys[kept] != &key) group.keys[kept] = std::move(key);
         ++kept;
         continue;
      }
      rewriteExpr(key.expr, [&](ExprPtr& expr) {
         if (expr->kind == ExprKind::Column) expr = query.ref(keyOf.at(columnOf(*expr)));
      });
      computed.push_back(std::move(key));
   }
   group.keys.resize(kept);
   rel = makeMap(std::move(rel), std::move(computed));
}

} // namespace

void dropDeterminedKeys(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { dropDeterminedKeys(child, query); });
   if (root->kind == RelKind::GroupBy) dropFrom(root, query);
}

} // namespace ouzel::optimizer
