#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/cardinality/estimator.hpp"
#include "optimizer/rewrite/rules.hpp"

// SELECT min(day), max(day) FROM sales: a sort with LIMIT 1 reads the row groups in the order of their smallest (or
// largest) values and leaves out those that cannot have the wanted one, so it reads one or two of them.
//
//    GroupBy min(day), max(day)        Join Single
//      sales                     ->      Join Single
//                                          one row
//                                          Limit 1, Sort day
//                                            sales
//                                        Limit 1, Sort day DESC
//                                          sales

namespace ouzel::optimizer {

using namespace sql;

namespace {

/// Each extreme is a scan of its own.
constexpr size_t extremesMax = 4;
constexpr double rowsMin = 100'000;

/// Types whose values lie as integers in their order, which the bounds of a scan need.
bool isOrderedInteger(const SqlType& type) {
   constexpr Oid types[] = {oid::int2, oid::int4, oid::int8, oid::date, oid::time, oid::timestamp, oid::timestamptz};
   return std::find(std::begin(types), std::end(types), type.oid) != std::end(types);
}

bool isExtreme(const AggregateCall& call) {
   if (!call.function || call.fold || call.distinct || call.filter || !call.orderBy.empty() || call.args.size() != 1)
      return false;
   if (call.function->name != "min" && call.function->name != "max") return false;
   const Expr& arg = *call.args[0];
   return columnOf(arg) != noColumn && isOrderedInteger(arg.type) && call.type == arg.type;
}

bool isCandidate(const Rel& rel) {
   const auto* group = rel.getIf<op::GroupBy>();
   if (!group || !group->keys.empty() || !group->groupingSets.empty() || !group->groupingCalls.empty()) return false;
   if (group->aggregates.empty() || group->aggregates.size() > extremesMax) return false;
   if (!std::all_of(group->aggregates.begin(), group->aggregates.end(), isExtreme)) return false;
   const auto* get = rel.inputs[0]->getIf<op::Get>();
   return get && rel.inputs[0]->kind == RelKind::Get && !get->predicate && !get->seesWith && !get->table.parts &&
          !get->table.external && !hasEffects(*rel.inputs[0]);
}

/// column := the least (or largest) value of the call's argument.
RelPtr firstInOrder(const Rel& table, const AggregateCall& call, Query& query) {
   ColumnMap renamed;
   RelPtr rows = cloneRenamed(table, query, renamed);
   const ColumnId column = renamed.at(columnOf(*call.args[0]));
   op::Sort sort;
   sort.keys.push_back({query.ref(column), call.function->name == "max", false}); // NULLs last: there are values first
   op::Limit limit;
   limit.limit = makeInt8(1);
   RelPtr first = makeRel(RelKind::Limit, std::move(limit), makeRel(RelKind::Sort, std::move(sort), std::move(rows)));
   std::vector<ComputedColumn> computed;
   computed.push_back({call.column, query.ref(column)});
   return makeMap(std::move(first), std::move(computed));
}

} // namespace

void orderExtremes(RelPtr& root, Query& query) {
   checkStack();
   forEachChild(*root, [&](RelPtr& child) { orderExtremes(child, query); });
   if (!isCandidate(*root)) return;
   if (query.context.settings.seed == 0 && Estimator(query).rows(*root->inputs[0]) < rowsMin) return;
   RelPtr result = oneRow();
   for (const AggregateCall& call : root->as<op::GroupBy>().aggregates)
      result = makeJoin(JoinKind::Single, std::move(result), firstInOrder(*root->inputs[0], call, query), nullptr);
   root = std::move(result);
}

} // namespace ouzel::optimizer
