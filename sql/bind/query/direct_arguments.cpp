#include "sql/bind/query/direct_arguments.hpp"

#include <algorithm>
#include <set>

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::sql {

namespace {

using Keys = std::vector<uint32_t>; ///< indexes into GroupBy::keys

/// Adds the keys that the expression reads.
void collectKeys(const op::GroupBy& group, const Expr& expr, std::set<uint32_t>& found) {
   checkStack();
   for (uint32_t i = 0; i < group.keys.size(); ++i)
      if (equal(*group.keys[i].expr, expr)) {
         found.insert(i);
         return;
      }
   for (const ExprPtr& arg : expr.args)
      collectKeys(group, *arg, found);
}

void nullKeys(const op::GroupBy& group, const Keys& absent, ExprPtr& expr) {
   checkStack();
   for (const uint32_t key : absent)
      if (equal(*group.keys[key].expr, *expr)) {
         expr = makeNull(expr->type);
         return;
      }
   for (ExprPtr& arg : expr->args)
      nullKeys(group, absent, arg);
}

/// The keys of an aggregate's direct arguments that some grouping set lacks.
Keys changingKeys(const op::GroupBy& group, const AggregateCall& call) {
   std::set<uint32_t> read;
   for (const ExprPtr& arg : call.directArgs)
      collectKeys(group, *arg, read);
   std::erase_if(read, [&](uint32_t key) {
      return std::all_of(group.groupingSets.begin(), group.groupingSets.end(),
                         [&](const Keys& set) { return std::find(set.begin(), set.end(), key) != set.end(); });
   });
   return Keys(read.begin(), read.end());
}

AggregateCall copyOf(const AggregateCall& call) {
   AggregateCall result;
   result.function = call.function;
   for (const ExprPtr& arg : call.args)
      result.args.push_back(clone(*arg));
   for (const ExprPtr& arg : call.directArgs)
      result.directArgs.push_back(clone(*arg));
   for (const SortKey& key : call.orderBy)
      result.orderBy.push_back({clone(*key.expr), key.descending, key.nullsFirst});
   if (call.filter) result.filter = clone(*call.filter);
   result.distinct = call.distinct;
   result.star = call.star;
   result.type = call.type;
   return result;
}

/// The value of GROUPING(keys) in the rows of a set: a bit for each absent key, the first key's is the highest.
int64_t groupingValue(const Keys& keys, const Keys& set) {
   int64_t value = 0;
   for (const uint32_t key : keys)
      value = value * 2 + (std::find(set.begin(), set.end(), key) == set.end() ? 1 : 0);
   return value;
}

} // namespace

std::vector<ComputedColumn> splitDirectArguments(BindState& state, const Scope& scope, op::GroupBy& group) {
   std::vector<ComputedColumn> result;
   const size_t count = group.aggregates.size();
   for (size_t i = 0; i < count; ++i) {
      const Keys keys = changingKeys(group, group.aggregates[i]);
      if (keys.empty()) continue;
      std::set<int64_t> values;
      if (keys.size() <= 31)
         for (const Keys& set : group.groupingSets)
            values.insert(groupingValue(keys, set));
      // Each aggregate keeps its rows for all sets.
      if (keys.size() > 31 || values.size() > 32)
         throwNotSupported("direct arguments of an aggregate over so many grouping sets");
      const SqlType integer{oid::int4, -1, invalidOid};
      GroupingCall grouping{state.addColumn(scope, "grouping", integer), keys};
      const SqlType type = group.aggregates[i].type;
      auto choice = makeTyped(ExprKind::Case, type);
      const AggregateCall written = std::move(group.aggregates[i]);
      for (const int64_t value : values) {
         Keys absent;
         for (size_t k = 0; k < keys.size(); ++k)
            if (value & (int64_t{1} << (keys.size() - 1 - k))) absent.push_back(keys[k]);
         AggregateCall one = copyOf(written);
         one.column = state.addColumn(scope, std::string(written.function->name), type);
         state.setKind(one.column, ColumnKind::Aggregate);
         for (ExprPtr& arg : one.directArgs)
            nullKeys(group, absent, arg);
         choice->args.push_back(makeCompare(CompareOp::Eq, makeColumn(grouping.column, integer),
                                            makeConstant(integer, Value::integer(PhysicalType::I32, value))));
         choice->args.push_back(makeColumn(one.column, type));
         if (value == *values.begin())
            group.aggregates[i] = std::move(one);
         else
            group.aggregates.push_back(std::move(one));
      }
      choice->args.push_back(makeNull(type));
      result.push_back({written.column, std::move(choice)});
      group.groupingCalls.push_back(std::move(grouping));
   }
   return result;
}

} // namespace ouzel::sql
