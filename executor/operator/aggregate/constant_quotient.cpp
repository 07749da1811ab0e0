#include "executor/operator/aggregate/constant_quotient.hpp"

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal_exact_divisor.hpp"

namespace ouzel::executor {

using namespace sql;

std::vector<ExprPtr> constantQuotient(const AggregateCall& call) {
   const std::string_view name = call.function->name;
   if ((name != "sum" && name != "avg") || call.args.size() != 1 || call.distinct || !call.orderBy.empty() || call.fold)
      return {};
   const auto* division = functionOf(*call.args[0]);
   if (!division || division->source != "numeric_div") return {};
   const Expr& operand = *call.args[0]->args[0];
   const Expr& dividend = operand.kind == ExprKind::Convert ? *operand.args[0] : operand;
   const Expr& divisor = *call.args[0]->args[1];
   const Value* value = knownValue(divisor);
   if (dividend.repr.physical != PhysicalType::I64 || !value || value->type != PhysicalType::Decimal ||
       !decimal::ExactDivisor::of(StringView(value->bytes), dividend.repr.scale))
      return {};
   std::vector<ExprPtr> args;
   args.push_back(clone(dividend));
   args.push_back(clone(divisor));
   args.push_back(makeConstant({oid::int4, -1, invalidOid}, Value::integer(PhysicalType::I32, dividend.repr.scale)));
   return args;
}

} // namespace ouzel::executor
