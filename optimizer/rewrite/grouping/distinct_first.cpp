#include <algorithm>

#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/rules.hpp"

// SELECT a, count(DISTINCT x) ... GROUP BY a groups twice:
//
//    GroupBy a: count(x) over  GroupBy a, x
//
// Else an aggregation has a table of groups and one of groups with values. Each row looks into both, and each value
// that is left looks for its group again. That is worth it only if other aggregates need the rows.

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// For fewer rows it does not matter.
constexpr double rowsMin = 10'000;

/// Whether values of the type are equal if and only if GROUP BY takes them for one group.
bool groupsAsDistinct(const SqlType& type, const Query& query) {
   switch (type.oid) {
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::oid:
   case oid::date:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::uuid: return true;
   case oid::text:
   case oid::varchar: return !query.columns.collations.find(type.collation);
   default: return false;
   }
}

bool isPlainDistinct(const AggregateCall& call) {
   constexpr std::string_view names[] = {"count", "sum", "avg"};
   return call.distinct && call.args.size() == 1 && call.directArgs.empty() && call.orderBy.empty() && !call.filter &&
          !call.fold && std::ranges::find(names, call.function->name) != std::end(names);
}

bool mayGroupTwice(const op::GroupBy& group, const Query& query) {
   if (group.keys.empty() || !group.groupingSets.empty() || group.aggregates.empty()) return false;
   if (!std::ranges::all_of(group.aggregates, isPlainDistinct)) return false;
   const Expr& value = *group.aggregates[0].args[0];
   return !isVolatile(value) && groupsAsDistinct(value.type, query) &&
          std::ranges::all_of(group.aggregates, [&](const AggregateCall& call) { return equal(*call.args[0], value); });
}

void groupTwice(Rel& rel, Query& query) {
   auto& group = rel.as<op::GroupBy>();
   op::GroupBy first;
   for (ComputedColumn& key : group.keys) {
      const ColumnId column = query.copyColumn(key.column);
      first.keys.push_back({column, std::exchange(key.expr, query.ref(column))});
   }
   const Expr& distinct = *group.aggregates[0].args[0];
   const ColumnId value = distinct.kind == ExprKind::Column ? query.copyColumn(columnOf(distinct))
                                                            : query.newColumn("value", distinct.type);
   first.keys.push_back({value, std::move(group.aggregates[0].args[0])});
   for (AggregateCall& call : group.aggregates) {
      call.args[0] = query.ref(value);
      call.distinct = false;
   }
   rel.inputs[0] = makeRel(RelKind::GroupBy, std::move(first), std::move(rel.inputs[0]));
}

} // namespace

void distinctFirst(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { distinctFirst(child, query); });
   const auto* group = root->getIf<op::GroupBy>();
   if (!group || !mayGroupTwice(*group, query)) return;
   if (query.context.settings.seed == 0 && Estimator(query).rows(*root->inputs[0]) < rowsMin) return;
   groupTwice(*root, query);
}

} // namespace ouzel::optimizer
