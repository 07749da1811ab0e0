#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/grouping/partial_aggregates.hpp"
#include "optimizer/rewrite/rules.hpp"

// SELECT a, avg(x) ... GROUP BY a ORDER BY count(*) LIMIT 10 divides ten sums by ten counts, and not those of all
// groups: the quotients are computed above the Limit.

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr double groupsMin = 10'000;

/// The GroupBy below a sort, when only projections are between; null otherwise. `read` gets what these and the sort
/// read.
op::GroupBy* groupBelow(Rel& sort, ColumnSet& read, Rel*& place) {
   addOwnReads(sort, read);
   Rel* at = sort.inputs[0].get();
   for (; at->kind == RelKind::Map; at = at->inputs[0].get())
      addOwnReads(*at, read);
   place = at;
   return at->getIf<op::GroupBy>();
}

void divideLate(RelPtr& limit, Query& query) {
   Rel& sort = *limit->inputs[0];
   ColumnSet read;
   Rel* place = nullptr;
   op::GroupBy* group = groupBelow(sort, read, place);
   if (!group || group->keys.empty() || !group->groupingSets.empty()) return;
   const auto isLate = [&read](const AggregateCall& call) {
      return isDecomposable(call) && call.function->name == "avg" && !read.contains(call.column);
   };
   if (std::ranges::none_of(group->aggregates, isLate)) return;
   if (query.context.settings.seed == 0 && Estimator(query).rows(*place) < groupsMin) return;
   std::vector<AggregateCall> kept;
   std::vector<ComputedColumn> quotients;
   for (AggregateCall& call : group->aggregates) {
      if (!isLate(call)) {
         kept.push_back(std::move(call));
         continue;
      }
      std::vector<ColumnId> parts;
      for (AggregateCall& part : partsOf(call, query)) {
         parts.push_back(part.column);
         kept.push_back(std::move(part));
      }
      quotients.push_back({call.column, valueOf(call, parts, false, query)});
   }
   group->aggregates = std::move(kept);
   limit = makeMap(std::move(limit), std::move(quotients));
}

} // namespace

void lateAverages(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { lateAverages(child, query); });
   const auto* limit = root->getIf<op::Limit>();
   if (limit && limit->limit && !limit->withTies && root->inputs[0]->kind == RelKind::Sort) divideLate(root, query);
}

} // namespace ouzel::optimizer
