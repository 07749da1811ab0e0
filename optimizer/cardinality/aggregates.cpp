#include "optimizer/cardinality/aggregates.hpp"

#include <algorithm>
#include <cmath>

#include "optimizer/cardinality/predicates.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

using Spread = ColumnEstimate::Spread;

/// What is asked for in HAVING is often rare, and the ends of real distributions are longer than the model's.
constexpr double fractionMin = 1e-3;

} // namespace

void setSpread(ColumnEstimate& result, const AggregateCall& call, const RelEstimate& input, double rowsOfGroup) {
   if (!call.function || call.filter || call.distinct || rowsOfGroup < 1) return;
   const std::string_view name = call.function->name;
   if (name == "count") {
      result.spread = Spread::Geometric;
      result.mean = rowsOfGroup;
      return;
   }
   if ((name != "sum" && name != "avg") || call.args.size() != 1) return;
   const Expr& arg = withoutCasts(*call.args[0]);
   if (arg.kind != ExprKind::Column) return;
   const ColumnEstimate& column = input.column(columnOf(arg));
   if (!column.hasBounds) return;
   // As if the values were spread evenly, and each row chose its group at random: the sum of a Poisson number of
   // values.
   const double mean = (column.min + column.max) / 2, width = column.max - column.min, variance = width * width / 12;
   result.spread = Spread::Normal;
   result.mean = name == "sum" ? mean * rowsOfGroup : mean;
   result.deviation =
       name == "sum" ? std::sqrt(rowsOfGroup * (variance + mean * mean)) : std::sqrt(variance / rowsOfGroup);
}

double fractionBelow(const ColumnEstimate& result, double number, bool inclusive) {
   double fraction = 0;
   if (result.spread == Spread::Geometric) { // at least 1
      const double failures = inclusive ? std::floor(number) : std::ceil(number) - 1;
      fraction = failures < 1 ? 0 : 1 - std::pow(1 - 1 / std::max(1.0, result.mean), failures);
   } else {
      const double distance = number - result.mean;
      fraction = result.deviation > 0 ? 0.5 * std::erfc(-distance / result.deviation / std::sqrt(2.0))
                 : distance > 0       ? 1
                                      : 0;
   }
   return std::clamp(fraction, fractionMin, 1 - fractionMin);
}

} // namespace ouzel::optimizer
