#include "optimizer/cardinality/predicates.hpp"

#include <algorithm>
#include <cmath>

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"
#include "optimizer/cardinality/aggregates.hpp"

// Selectivity of predicates without a sample.

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr double equalityDefault = 0.005, rangeDefault = 0.33, betweenDefault = 0.05, likeDefault = 0.1,
                 anyDefault = 0.25;

std::optional<double> constantNumber(const Expr& expr) {
   const Value* value = knownValue(expr);
   return value ? asNumber(*value, expr.repr.scale) : std::nullopt;
}

double clamp(double fraction) {
   return std::clamp(fraction, 1e-9, 1.0);
}

} // namespace

namespace {

std::optional<double> ifFinite(double number) {
   return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

} // namespace

const Expr& withoutCasts(const Expr& expr) {
   const Expr* inner = &expr;
   while (inner->kind == ExprKind::Relabel || inner->kind == ExprKind::Convert || inner->kind == ExprKind::TypmodCast ||
          (inner->kind == ExprKind::Call && inner->args.size() == 1 && inner->args[0]->kind == ExprKind::Column))
      inner = inner->args[0].get();
   return *inner;
}

std::optional<double> asNumber(const Value& value, uint8_t scale) {
   if (value.isNull) return std::nullopt;
   switch (value.type) {
   case PhysicalType::Bool:
   case PhysicalType::I16:
   case PhysicalType::I32:
   case PhysicalType::I64: return static_cast<double>(value.i64) / std::pow(10, scale);
   case PhysicalType::I128: return static_cast<double>(value.i128) / std::pow(10, scale);
   case PhysicalType::F32:
   case PhysicalType::F64: return ifFinite(value.f64);
   case PhysicalType::Decimal: return ifFinite(decimal::approximate(StringView(value.bytes)));
   default: return std::nullopt;
   }
}

double Estimator::distinctOf(const Expr& expr, const RelEstimate& input) {
   if (expr.kind == ExprKind::Constant) return 1;
   if (expr.kind == ExprKind::Column) return input.distinct(columnOf(expr));
   if (const auto known = extended_.distinct(expr)) return std::max(1.0, std::min(*known, input.rows));
   std::vector<ColumnId> used;
   collectColumns(expr, used);
   double product = 1;
   for (const ColumnId column : used)
      product *= input.distinct(column);
   const auto* call = expr.getIf<scalar::Call>();
   const std::string_view source = call && call->function ? call->function->source : std::string_view();
   if (source.starts_with("extract") || source.starts_with("timestamp_part")) product = std::min(product, 50.0);
   if (expr.type.oid == oid::boolean) product = std::min(product, 2.0);
   return std::max(1.0, std::min(product, input.rows));
}

double Estimator::equality(const Expr& lhs, const Expr& rhs, const RelEstimate& input) {
   if (!extended_.isEmpty()) {
      const bool isRight = knownValue(rhs) != nullptr;
      if (const auto known = extended_.equality(isRight ? lhs : rhs, isRight ? rhs : lhs)) return *known;
   }
   const Expr &a = withoutCasts(lhs), &b = withoutCasts(rhs);
   if (a.kind == ExprKind::Column && b.kind == ExprKind::Column) {
      const double distinct = std::max(input.distinct(columnOf(a)), input.distinct(columnOf(b)));
      return 1 / std::max(1.0, distinct);
   }
   const Expr& column = a.kind == ExprKind::Column ? a : b;
   const Expr& other = a.kind == ExprKind::Column ? b : a;
   if (column.kind != ExprKind::Column) return equalityDefault;
   const ColumnEstimate& estimate = input.column(columnOf(column));
   if (const auto number = constantNumber(other); number && estimate.spread == ColumnEstimate::Spread::Geometric)
      return fractionBelow(estimate, *number, true) - fractionBelow(estimate, *number, false);
   if (!estimate.isKnown) return equalityDefault;
   if (const auto number = constantNumber(other);
       number && estimate.hasBounds && (*number < estimate.min || *number > estimate.max))
      return 1e-6;
   return (1 - estimate.nullFraction) / std::max(1.0, estimate.distinct);
}

double Estimator::comparison(const Expr& expr, const RelEstimate& input) {
   const CompareOp written = expr.as<scalar::Compare>().op;
   switch (written) {
   case CompareOp::Eq:
   case CompareOp::IsNotDistinctFrom: return equality(*expr.args[0], *expr.args[1], input);
   case CompareOp::Ne:
   case CompareOp::IsDistinctFrom: return 1 - equality(*expr.args[0], *expr.args[1], input);
   default: break;
   }
   const Expr &a = withoutCasts(*expr.args[0]), &b = withoutCasts(*expr.args[1]);
   const bool columnFirst = a.kind == ExprKind::Column;
   const Expr& column = columnFirst ? a : b;
   const auto number = constantNumber(columnFirst ? b : a);
   if (column.kind != ExprKind::Column || !number) return rangeDefault;
   const ColumnEstimate& estimate = input.column(columnOf(column));
   const CompareOp op = columnFirst ? written : commuted(written);
   if (estimate.spread != ColumnEstimate::Spread::Unknown) {
      const double below = fractionBelow(estimate, *number, op == CompareOp::Le || op == CompareOp::Gt);
      return op == CompareOp::Lt || op == CompareOp::Le ? below : 1 - below;
   }
   if (!estimate.hasBounds) return rangeDefault;
   if (estimate.max <= estimate.min) {
      const bool holds = op == CompareOp::Lt   ? estimate.min < *number
                         : op == CompareOp::Le ? estimate.min <= *number
                         : op == CompareOp::Gt ? estimate.min > *number
                                               : estimate.min >= *number;
      return holds ? 1 - estimate.nullFraction : 1e-6;
   }
   double below = std::clamp((*number - estimate.min) / (estimate.max - estimate.min), 0.0, 1.0);
   const double fraction = op == CompareOp::Lt || op == CompareOp::Le ? below : 1 - below;
   return fraction * (1 - estimate.nullFraction);
}

double Estimator::selectivity(const Expr& predicate, const RelEstimate& input) {
   checkStack();
   switch (predicate.kind) {
   case ExprKind::Constant: return isConstantTrue(predicate) ? 1 : 1e-9;
   case ExprKind::Compare: return clamp(comparison(predicate, input));
   case ExprKind::And: {
      // A lower and an upper bound of one column form a range and are not independent.
      std::vector<const Expr*> conjuncts;
      for (const ExprPtr& arg : predicate.args)
         conjuncts.push_back(arg.get());
      std::vector<bool> isTaken(conjuncts.size(), false);
      double product =
          extended_.conjunction(conjuncts, isTaken, [&](const Expr& one) { return selectivity(one, input); });
      std::unordered_map<ColumnId, std::pair<double, double>> ranges; // column -> below, above
      for (size_t i = 0; i < conjuncts.size(); ++i) {
         if (isTaken[i]) continue;
         const ExprPtr& arg = predicate.args[i];
         const auto* compare = arg->getIf<scalar::Compare>();
         const bool isRange =
             compare && compare->op != CompareOp::Eq && compare->op != CompareOp::Ne && !isNullSafe(compare->op);
         if (isRange) {
            const Expr &a = withoutCasts(*arg->args[0]), &b = withoutCasts(*arg->args[1]);
            const Expr& column = a.kind == ExprKind::Column ? a : b;
            const Expr& other = a.kind == ExprKind::Column ? b : a;
            if (column.kind == ExprKind::Column && other.kind == ExprKind::Constant) {
               const CompareOp op = &column == &a ? compare->op : commuted(compare->op);
               auto& [below, above] = ranges.try_emplace(columnOf(column), 1.0, 1.0).first->second;
               double& part = op == CompareOp::Lt || op == CompareOp::Le ? below : above;
               part = std::min(part, comparison(*arg, input));
               continue;
            }
         }
         product *= selectivity(*arg, input);
      }
      for (const auto& [column, parts] : ranges) {
         const ColumnEstimate& estimate = input.column(column);
         const bool bothKnown = estimate.hasBounds || estimate.spread != ColumnEstimate::Spread::Unknown;
         double fraction = parts.first + parts.second - 1;
         if (parts.first < 1 && parts.second < 1 && !bothKnown) fraction = betweenDefault;
         product *= std::max(fraction, 1e-4);
      }
      return clamp(product);
   }
   case ExprKind::Or: {
      double none = 1;
      for (const ExprPtr& arg : predicate.args)
         none *= 1 - selectivity(*arg, input);
      return clamp(1 - none);
   }
   case ExprKind::Not: return clamp(1 - selectivity(*predicate.args[0], input));
   case ExprKind::IsTrue:
   case ExprKind::IsNotFalse: return selectivity(*predicate.args[0], input);
   case ExprKind::IsFalse:
   case ExprKind::IsNotTrue: return clamp(1 - selectivity(*predicate.args[0], input));
   case ExprKind::IsNull:
   case ExprKind::IsNotNull: {
      const Expr& arg = withoutCasts(*predicate.args[0]);
      double nulls = 0.02;
      if (arg.kind == ExprKind::Column && input.column(columnOf(arg)).isKnown)
         nulls = input.column(columnOf(arg)).nullFraction;
      return clamp(predicate.kind == ExprKind::IsNull ? nulls : 1 - nulls);
   }
   case ExprKind::InList: {
      double some = 0;
      for (size_t i = 1; i < predicate.args.size(); ++i)
         some += equality(*predicate.args[0], *predicate.args[i], input);
      some = std::min(some, 0.9);
      return clamp(predicate.as<scalar::InList>().negated ? 1 - some : some);
   }
   case ExprKind::Call: {
      const auto* function = functionOf(predicate);
      const std::string_view source = function ? function->source : std::string_view();
      if (source == "textlike" || source == "texticlike" || source == "bpcharlike") return likeDefault;
      if (source == "textnlike" || source == "texticnlike" || source == "bpcharnlike") return 1 - likeDefault;
      return anyDefault;
   }
   case ExprKind::Column: return 0.5;
   default: return anyDefault;
   }
}

void narrowColumns(const Expr& predicate, RelEstimate& estimate) {
   checkStack();
   const auto limit = [&estimate](const Expr& expr, double distinct) {
      const auto it = estimate.columns.find(columnOf(withoutCasts(expr)));
      if (it != estimate.columns.end()) it->second.distinct = std::min(it->second.distinct, distinct);
   };
   if (predicate.kind == ExprKind::And) {
      for (const ExprPtr& arg : predicate.args)
         narrowColumns(*arg, estimate);
   } else if (compareOf(predicate) == CompareOp::Eq) {
      if (predicate.args[1]->kind == ExprKind::Constant) limit(*predicate.args[0], 1);
      if (predicate.args[0]->kind == ExprKind::Constant) limit(*predicate.args[1], 1);
   } else if (const auto* in = predicate.getIf<scalar::InList>(); in && !in->negated) {
      limit(*predicate.args[0], static_cast<double>(predicate.args.size() - 1));
   }
}

} // namespace ouzel::optimizer
