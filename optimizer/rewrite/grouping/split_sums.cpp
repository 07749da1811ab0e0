#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "optimizer/rewrite/rules.hpp"

// sum(CASE WHEN c THEN x ELSE 0 END) over numeric mixes display scales: 0 has no fractional digits, x may have two. The
// sum prints with the largest scale among its inputs, which scaled integers do not record. So the sum is split (TPC-H
// Q8, Q14):
//
//    s := sum(x) FILTER (WHERE c)       n := count(*) FILTER (WHERE c IS NOT TRUE)
//    CASE WHEN s IS NOT NULL THEN s WHEN n > 0 THEN 0 END
//
// The result is the same in every case, and the sum of x runs in scaled integers.

namespace ouzel::optimizer {

using namespace sql;

namespace {

bool isPlainZero(const Expr& expr) {
   const auto* function = functionOf(expr);
   const bool isCast = function && expr.args.size() == 1 && function->source.ends_with("_numeric");
   const Expr& constant = isCast ? *expr.args[0] : expr;
   const Value* value = knownValue(constant);
   if (!value) return false;
   switch (value->type) {
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return value->i64 == 0 && constant.repr.scale == 0;
   case PhysicalType::Decimal: {
      decimal::Scaled scaled{};
      return decimal::decode(StringView(value->bytes), scaled) && scaled.value == 0 && scaled.scale == 0;
   }
   default: return false;
   }
}

bool canSplit(const AggregateCall& call) {
   if (!call.function || call.function->name != "sum" || call.type.oid != oid::numeric || call.distinct) return false;
   const Expr& arg = *call.args[0];
   return arg.type.oid == oid::numeric && arg.kind == ExprKind::Case && arg.args.size() == 3 &&
          isPlainZero(*arg.args[2]) && !isVolatile(arg);
}

ExprPtr cloneOrNull(const ExprPtr& expr) {
   return expr ? clone(*expr) : nullptr;
}

void split(op::GroupBy& group, size_t index, std::vector<ComputedColumn>& above, Query& query) {
   const ColumnId result = group.aggregates[index].column;
   ExprPtr arg = std::move(group.aggregates[index].args[0]);
   AggregateCall count;
   count.function = catalog::builtins().findFunction("count", {});
   count.star = true;
   count.type = int8Type;
   count.column = query.newColumn("count", int8Type, false);
   count.filter =
       conjunction(cloneOrNull(group.aggregates[index].filter), makeTest(ExprKind::IsNotTrue, clone(*arg->args[0])));
   const ColumnId others = count.column;
   group.aggregates.push_back(std::move(count));

   AggregateCall& sum = group.aggregates[index];
   sum.column = query.copyColumn(result);
   query.columns[sum.column].nullable = true;
   sum.filter = conjunction(std::move(sum.filter), std::move(arg->args[0]));
   sum.args[0] = std::move(arg->args[1]);

   auto value = std::make_unique<Expr>(ExprKind::Case, sum.type);
   value->args.push_back(makeTest(ExprKind::IsNotNull, query.ref(sum.column)));
   value->args.push_back(query.ref(sum.column));
   value->args.push_back(makeCompare(CompareOp::Gt, query.ref(others), makeInt8(0)));
   value->args.push_back(std::move(arg->args[2]));
   above.push_back({result, std::move(value)});
}

} // namespace

void splitSums(RelPtr& rel, Query& query) {
   forEachChild(*rel, [&](RelPtr& child) { splitSums(child, query); });
   auto* group = rel->getIf<op::GroupBy>();
   if (!group) return;
   std::vector<ComputedColumn> above;
   for (size_t i = 0, count = group->aggregates.size(); i < count; ++i)
      if (canSplit(group->aggregates[i])) split(*group, i, above, query);
   rel = makeMap(std::move(rel), std::move(above));
}

} // namespace ouzel::optimizer
