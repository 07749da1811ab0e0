#include "optimizer/query/expr_lowering.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr uint32_t scaleLimit = 30; ///< largest scale of scaled numerics, which leaves room for integer digits

constexpr int128 pow10(uint32_t exponent) {
   int128 value = 1;
   for (uint32_t i = 0; i < exponent; ++i)
      value *= 10;
   return value;
}
constexpr int128 digits38 = pow10(38) - 1;

bool fits(const Bounds& bounds, int128 limit) {
   return bounds.min >= -limit && bounds.max <= limit;
}
bool fitsI64(const Bounds& bounds) {
   return bounds.min > INT64_MIN && bounds.max <= INT64_MAX;
}
bool fitsI128(const Bounds& bounds) {
   return fits(bounds, digits38);
}

bool isScaled(Representation repr) {
   return repr.physical == PhysicalType::I64 || repr.physical == PhysicalType::I128;
}
std::optional<Bounds> multiply(const Bounds& a, const Bounds& b) {
   int128 products[4];
   if (__builtin_mul_overflow(a.min, b.min, &products[0]) || __builtin_mul_overflow(a.min, b.max, &products[1]) ||
       __builtin_mul_overflow(a.max, b.min, &products[2]) || __builtin_mul_overflow(a.max, b.max, &products[3]))
      return std::nullopt;
   const Bounds result{*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
   return fitsI128(result) ? std::optional(result) : std::nullopt;
}

std::optional<Bounds> add(const Bounds& a, const Bounds& b) {
   Bounds result;
   if (__builtin_add_overflow(a.min, b.min, &result.min) || __builtin_add_overflow(a.max, b.max, &result.max))
      return std::nullopt;
   return fitsI128(result) ? std::optional(result) : std::nullopt;
}

std::optional<Bounds> rescaled(const Bounds& bounds, uint32_t digits) {
   if (digits >= 38) return std::nullopt;
   return multiply(bounds, {pow10(digits), pow10(digits)});
}

/// An operand of scaled arithmetic: a constant, or an expression with bounds and a scale.
struct ScaledOperand {
   Bounds bounds;
   uint8_t scale;
};

std::optional<decimal::Scaled> constantValue(const Expr& expr) {
   const Value* value = knownValue(expr);
   if (!value || expr.type.oid != oid::numeric) return std::nullopt;
   decimal::Scaled scaled{};
   if (value->type == PhysicalType::I64)
      scaled = {value->i64, expr.repr.scale};
   else if (value->type == PhysicalType::I128)
      scaled = {value->i128, expr.repr.scale};
   else if (!decimal::decode(StringView(value->bytes), scaled))
      return std::nullopt;
   if (scaled.scale > static_cast<int32_t>(scaleLimit) || !fits({scaled.value, scaled.value}, digits38))
      return std::nullopt;
   return scaled;
}

std::optional<ScaledOperand> scaledOperand(const Expr& expr, const std::optional<Bounds>& bounds) {
   if (const auto constant = constantValue(expr))
      return ScaledOperand{{constant->value, constant->value}, static_cast<uint8_t>(constant->scale)};
   if (!isScaled(expr.repr) || expr.type.oid != oid::numeric) return std::nullopt;
   if (bounds) return ScaledOperand{*bounds, expr.repr.scale};
   if (expr.repr.physical == PhysicalType::I64) return ScaledOperand{{-INT64_MAX, INT64_MAX}, expr.repr.scale};
   return ScaledOperand{{-digits38, digits38}, expr.repr.scale};
}

} // namespace

std::optional<Bounds> boundsOfType(Representation repr, const SqlType& type) {
   switch (repr.physical) {
   case PhysicalType::I16: return Bounds{INT16_MIN, INT16_MAX};
   case PhysicalType::I32: return Bounds{INT32_MIN, INT32_MAX};
   case PhysicalType::I64:
   case PhysicalType::I128:
      if (type.oid == oid::numeric) {
         if (type.typmod >= 0) {
            const int32_t precision = std::min(numericModifier(type.typmod).precision, 38);
            return Bounds{1 - pow10(static_cast<uint32_t>(precision)), pow10(static_cast<uint32_t>(precision)) - 1};
         }
         return repr.physical == PhysicalType::I64 ? Bounds{INT64_MIN, INT64_MAX} : Bounds{-digits38, digits38};
      }
      if (repr.physical == PhysicalType::I64) return Bounds{INT64_MIN, INT64_MAX};
      return std::nullopt;
   default: return std::nullopt;
   }
}

Representation ExprLowering::genericRepresentation(const SqlType& type) {
   return type.oid == oid::numeric ? Representation{PhysicalType::Decimal, 0} : storedRepresentation(type);
}

void ExprLowering::setColumn(ColumnId column, Representation repr, std::optional<Bounds> bounds) {
   DCHECK(repr.scale == 0 || query_.columns[column].type.oid == oid::numeric);
   DCHECK(!bounds || bounds->min <= bounds->max);
   query_.columns[column].repr = repr;
   const uint32_t id = static_cast<uint32_t>(column);
   if (id >= bounds_.size()) bounds_.resize(std::max(id + 1, query_.columns.size()));
   bounds_[id] = bounds;
}

std::optional<Bounds> ExprLowering::bounds(ColumnId column) const {
   const uint32_t id = static_cast<uint32_t>(column);
   return id < bounds_.size() ? bounds_[id] : std::nullopt;
}

void ExprLowering::convert(ExprPtr& expr, Representation target) {
   if (expr->repr == target) return;
   if (auto* constant = expr->getIf<scalar::Constant>()) {
      Value& value = constant->value;
      if (value.isNull) {
         value = Value::null(target.physical);
         expr->repr = target;
         return;
      }
      if (const auto scaled = constantValue(*expr); scaled && isScaled(target) && scaled->scale <= target.scale) {
         const int128 number = scaled->value * pow10(target.scale - static_cast<uint32_t>(scaled->scale));
         value = target.physical == PhysicalType::I64 ? Value::integer(PhysicalType::I64, static_cast<int64_t>(number))
                                                      : Value::wide(number);
         expr->repr = target;
         return;
      }
      if (const auto scaled = constantValue(*expr); scaled && target.physical == PhysicalType::Decimal) {
         Arena arena;
         const StringView bytes = decimal::fromInt128(scaled->value, scaled->scale, arena);
         value = Value::string(std::string(bytes.data(), bytes.size()), PhysicalType::Decimal);
         expr->repr = target;
         return;
      }
      const auto isNarrow = [](PhysicalType type) { return isInteger(type) && type != PhysicalType::I128; };
      if (isNarrow(value.type) && isNarrow(target.physical) && expr->repr.scale == target.scale) {
         value.type = target.physical;
         expr->repr = target;
         return;
      }
   }
   if (expr->kind == ExprKind::Convert) { // one conversion instead of two, if the first one is exact
      const Representation from = expr->args[0]->repr;
      if (from == target) {
         ExprPtr inner = std::move(expr->args[0]);
         expr = std::move(inner);
         return;
      }
      // A Decimal keeps the scale of its source as display scale, so a conversion to Decimal must not skip a change of
      // scale.
      if (isInteger(from.physical) && (target.physical != PhysicalType::Decimal || from.scale == expr->repr.scale)) {
         expr->repr = target;
         return;
      }
   }
   DCHECK(expr->repr.physical == PhysicalType::Decimal || isInteger(expr->repr.physical));
   DCHECK(target.physical == PhysicalType::Decimal || isInteger(target.physical));
   auto conversion = std::make_unique<Expr>(ExprKind::Convert, expr->type);
   conversion->repr = target;
   conversion->position = expr->position;
   conversion->args.push_back(std::move(expr));
   expr = std::move(conversion);
}

Representation ExprLowering::common(Representation a, Representation b, const SqlType& type) {
   if (a == b) return a;
   if (type.oid == oid::numeric) {
      if (isScaled(a) && isScaled(b) && a.scale == b.scale) return {PhysicalType::I128, a.scale};
      return {PhysicalType::Decimal, 0};
   }
   if (isInteger(a.physical) && isInteger(b.physical))
      return physicalSize(a.physical) > physicalSize(b.physical) ? a : b;
   return storedRepresentation(type);
}

void ExprLowering::takeBits(ExprPtr& expr, bool isSigned) {
   if (auto* constant = expr->getIf<scalar::Constant>()) {
      int64_t& value = constant->value.i64;
      if (!constant->value.isNull)
         value = isSigned ? int64_t{static_cast<int32_t>(value)} : int64_t{static_cast<uint32_t>(value)};
      return;
   }
   static const catalog::FunctionInfo* const toOid = catalog::builtins().functions("ouzel_oid")[0];
   static const catalog::FunctionInfo* const toSigned = catalog::builtins().functions("ouzel_oid_bits")[0];
   const Representation repr = expr->repr;
   expr->type = {oid::int8, -1, invalidOid};
   std::vector<ExprPtr> args;
   args.push_back(std::move(expr));
   expr = makeCall(isSigned ? toSigned : toOid, {isSigned ? oid::int8 : oid::oid, -1, invalidOid}, std::move(args));
   expr->repr = repr;
}

std::optional<Bounds> ExprLowering::lowerTo(ExprPtr& expr, Representation target) {
   const std::optional<Bounds> result = lower(expr);
   convert(expr, target);
   return result;
}

void ExprLowering::lowerToGeneric(ExprPtr& expr) {
   lowerTo(expr, genericRepresentation(expr->type));
}

std::optional<Bounds> ExprLowering::lower(ExprPtr& ptr) {
   checkStack();
   checkInterrupted(); // an expression may have a million parts
   Expr& expr = *ptr;
   switch (expr.kind) {
   case ExprKind::Column: expr.repr = query_.columns[columnOf(expr)].repr; return bounds(columnOf(expr));
   case ExprKind::Constant: {
      Value& value = expr.as<scalar::Constant>().value;
      if (!value.isNull)
         expr.repr.physical = value.type;
      else
         value = Value::null(expr.repr.physical = genericRepresentation(expr.type).physical);
      if (expr.type.oid == oid::numeric && expr.repr.physical == PhysicalType::Decimal) expr.repr.scale = 0;
      if (const auto scaled = constantValue(expr)) return std::nullopt; // scaled arithmetic converts it where needed
      if (!value.isNull && isInteger(value.type) && value.type != PhysicalType::I128)
         return Bounds{value.i64, value.i64};
      return std::nullopt;
   }
   case ExprKind::Parameter:
      if (!query_.context.forReuse) throwNotSupported("parameter without a value", expr.position);
      expr.repr = genericRepresentation(expr.type);
      return std::nullopt;
   case ExprKind::Compare: lowerComparable(expr.args[0], expr.args[1]); break;
   case ExprKind::Case:
   case ExprKind::Coalesce: return lowerAlternatives(expr);
   case ExprKind::InList: return lowerInList(expr);
   case ExprKind::Call: return lowerCall(expr);
   case ExprKind::Relabel: {
      const std::optional<Bounds> result = lower(expr.args[0]);
      const Representation stored = storedRepresentation(expr.type);
      expr.repr = expr.args[0]->repr;
      if (expr.type.oid != oid::numeric && stored.physical != expr.repr.physical && isInteger(stored.physical) &&
          isInteger(expr.repr.physical)) { // int4 -> oid: the same bits, wider; oid -> int4
         const bool isUnsigned = expr.args[0]->type.oid == oid::int4 && !(result && result->min >= 0);
         if (stored.physical == PhysicalType::I32) takeBits(expr.args[0], true);
         convert(expr.args[0], stored);
         expr.repr = stored;
         if (isUnsigned) return takeBits(expr.args[0], false), std::nullopt;
      }
      return result;
   }
   case ExprKind::IsNull:
   case ExprKind::IsNotNull: lower(expr.args[0]); break;
   case ExprKind::TypmodCast: {
      const std::optional<Bounds> result = lower(expr.args[0]);
      expr.repr = genericRepresentation(expr.type);
      if (expr.type.oid != oid::numeric) break;
      // If bounds prove that the value fits the modifier, the cast only changes the scale.
      const Representation stored = storedRepresentation(expr.type);
      const auto operand = scaledOperand(*expr.args[0], result);
      if (query_.context.settings.narrowNumerics && operand && isScaled(stored) && operand->scale <= stored.scale) {
         const auto wide = rescaled(operand->bounds, stored.scale - operand->scale);
         const auto limit = boundsOfType(stored, expr.type);
         if (wide && limit && wide->min >= limit->min && wide->max <= limit->max) {
            ExprPtr arg = std::move(expr.args[0]);
            const SqlType type = expr.type;
            convert(arg, stored);
            arg->type = type;
            ptr = std::move(arg);
            usedBounds_ = true;
            return wide;
         }
      }
      convert(expr.args[0], expr.repr);
      return std::nullopt;
   }
   case ExprKind::Row: // the binder expands rows in comparisons and IS NULL; all others are not supported
      throwNotSupported("row values here", expr.position);
   case ExprKind::Subquery: throwInternal("expression that should be gone before lowering");
   default: // all other nodes take the generic representation
      for (ExprPtr& arg : expr.args)
         lowerToGeneric(arg);
      expr.repr = genericRepresentation(expr.type);
   }
   if (expr.type.oid == oid::boolean) expr.repr = {PhysicalType::Bool, 0};
   return std::nullopt;
}

void ExprLowering::lowerComparable(ExprPtr& lhs, ExprPtr& rhs) {
   std::vector<std::optional<Bounds>> bounds;
   bounds.push_back(lower(lhs));
   bounds.push_back(lower(rhs));
   makeComparable({&lhs, &rhs}, bounds);
}

void ExprLowering::makeComparable(std::vector<ExprPtr*> exprs, const std::vector<std::optional<Bounds>>& bounds) {
   const SqlType type = (*exprs[0])->type;
   if (type.oid != oid::numeric && (*exprs[0])->type.oid != oid::numeric) {
      Representation target = (*exprs[0])->repr;
      for (ExprPtr* expr : exprs)
         if (!isNullConstant(**expr)) target = common(target, (*expr)->repr, type);
      for (ExprPtr* expr : exprs)
         convert(*expr, target);
      return;
   }
   uint8_t scale = 0;
   bool scaled = query_.context.settings.narrowNumerics;
   std::vector<std::optional<ScaledOperand>> operands;
   for (size_t i = 0; i < exprs.size(); ++i) {
      const Expr& expr = **exprs[i];
      const bool isNull = isNullConstant(expr);
      operands.push_back(isNull ? std::nullopt : scaledOperand(expr, bounds[i]));
      if (isNull) continue;
      if (!operands.back())
         scaled = false;
      else
         scale = std::max(scale, operands.back()->scale);
   }
   Representation target{PhysicalType::I64, scale};
   for (size_t i = 0; scaled && i < exprs.size(); ++i) {
      if (!operands[i]) continue;
      const auto wide = rescaled(operands[i]->bounds, scale - operands[i]->scale);
      const Expr& expr = **exprs[i];
      const bool isWide = expr.repr.physical == PhysicalType::I128 && expr.kind != ExprKind::Constant;
      if (!wide)
         scaled = false;
      else if (isWide || !fitsI64(*wide))
         target.physical = PhysicalType::I128;
   }
   if (!scaled) target = {PhysicalType::Decimal, 0};
   for (size_t i = 0; i < exprs.size(); ++i)
      if (!((*exprs[i])->repr == target)) {
         if (scaled && operands[i] && operands[i]->scale != scale && (*exprs[i])->kind != ExprKind::Constant)
            usedBounds_ = true;
         convert(*exprs[i], target);
      }
}

std::optional<Bounds> ExprLowering::lowerAlternatives(Expr& expr) {
   const bool isCase = expr.kind == ExprKind::Case;
   std::vector<ExprPtr*> results;
   std::vector<std::optional<Bounds>> bounds;
   for (size_t i = 0; i < expr.args.size(); ++i) {
      const bool isCondition = isCase && i % 2 == 0 && i + 1 < expr.args.size();
      const std::optional<Bounds> one = lower(expr.args[i]);
      if (isCondition) continue;
      results.push_back(&expr.args[i]);
      bounds.push_back(one);
   }
   std::optional<Representation> target;
   std::optional<Bounds> all = Bounds{INT64_MAX, INT64_MIN};
   for (size_t i = 0; i < results.size(); ++i) {
      const Expr& result = **results[i];
      if (isNullConstant(result)) continue;
      Representation repr = result.repr;
      std::optional<Bounds> range = bounds[i];
      // A constant counts as a scaled numeric of its own scale: CASE WHEN .. THEN x * 1.00 ELSE 0.00 END.
      if (const auto constant = constantValue(result); constant && query_.context.settings.narrowNumerics) {
         repr = {fitsI64({constant->value, constant->value}) ? PhysicalType::I64 : PhysicalType::I128,
                 static_cast<uint8_t>(constant->scale)};
         range = Bounds{constant->value, constant->value};
      }
      target = target ? common(*target, repr, expr.type) : repr;
      if (!range)
         all.reset();
      else if (all)
         all = Bounds{std::min(all->min, range->min), std::max(all->max, range->max)};
   }
   if (!target) target = genericRepresentation(expr.type);
   for (ExprPtr* result : results)
      convert(*result, *target);
   expr.repr = *target;
   if (expr.type.oid == oid::boolean) expr.repr = {PhysicalType::Bool, 0};
   return all && all->min <= all->max && isInteger(target->physical) ? all : std::nullopt;
}

std::optional<Bounds> ExprLowering::lowerInList(Expr& expr) {
   std::vector<ExprPtr*> all;
   std::vector<std::optional<Bounds>> bounds;
   for (ExprPtr& arg : expr.args) {
      bounds.push_back(lower(arg));
      all.push_back(&arg);
   }
   makeComparable(all, bounds);
   expr.repr = {PhysicalType::Bool, 0};
   return std::nullopt;
}

namespace {

/// Turns GREATEST or LEAST of two columns or constants into a CASE: its comparison is one of scaled integers even if
/// the scales differ, and only the result becomes a Decimal.
void extremeAsCase(Expr& expr, CompareOp op) {
   if (expr.args.size() != 2) return;
   for (const ExprPtr& arg : expr.args)
      if (arg->kind != ExprKind::Column && arg->kind != ExprKind::Constant) return;
   ExprPtr first = std::move(expr.args[0]), second = std::move(expr.args[1]);
   std::vector<ExprPtr> either;
   either.push_back(makeCompare(op, clone(*first), clone(*second)));
   either.push_back(makeTest(ExprKind::IsNull, clone(*second)));
   expr.become(ExprKind::Case);
   expr.args.clear();
   expr.args.push_back(makeOr(std::move(either)));
   expr.args.push_back(std::move(first));
   expr.args.push_back(std::move(second));
}

} // namespace

std::optional<Bounds> ExprLowering::lowerCall(Expr& expr) {
   const auto* function = functionOf(expr);
   const std::string_view source = function ? function->source : std::string_view();
   std::optional<Bounds> result;
   if (query_.context.settings.narrowNumerics && expr.type.oid == oid::numeric) {
      if ((source == "numeric_add" || source == "numeric_sub") && lowerSum(expr, result)) return result;
      if (source == "numeric_mul" && lowerProduct(expr, result)) return result;
      if (source == "ouzel_greatest" || source == "ouzel_least") {
         extremeAsCase(expr, source == "ouzel_greatest" ? CompareOp::Ge : CompareOp::Le);
         return lowerAlternatives(expr);
      }
      if (source == "numeric_uminus" || source == "numeric_abs") {
         result = lower(expr.args[0]);
         if (isScaled(expr.args[0]->repr)) {
            expr.repr = expr.args[0]->repr;
            if (!result) return result;
            const int128 most = std::max(result->max, -result->min);
            return source == "numeric_abs" ? Bounds{0, most} : Bounds{-result->max, -result->min};
         }
         convert(expr.args[0], {PhysicalType::Decimal, 0});
         expr.repr = {PhysicalType::Decimal, 0};
         return std::nullopt;
      }
      if ((source == "int2_numeric" || source == "int4_numeric" || source == "int8_numeric") && expr.args.size() == 1) {
         result = lower(expr.args[0]);
         if (!result) result = boundsOfType(expr.args[0]->repr, expr.args[0]->type);
         // The caller holds a reference to the node, so the node changes in place.
         if (const Value* value = knownValue(*expr.args[0])) {
            expr.become(ExprKind::Constant);
            expr.as<scalar::Constant>().value = Value::integer(PhysicalType::I64, value->i64);
            expr.args.clear();
            expr.repr = {PhysicalType::I64, 0};
            return result;
         }
         expr.become(ExprKind::Convert);
         expr.repr = {PhysicalType::I64, 0};
         return result;
      }
   }
   for (size_t i = 0; i < expr.args.size(); ++i)
      lowerToGeneric(expr.args[i]);
   expr.repr = genericRepresentation(expr.type);
   return std::nullopt;
}

bool ExprLowering::lowerSum(Expr& call, std::optional<Bounds>& result) {
   DCHECK(call.args.size() == 2);
   const auto leftBounds = lower(call.args[0]), rightBounds = lower(call.args[1]);
   const auto left = scaledOperand(*call.args[0], leftBounds), right = scaledOperand(*call.args[1], rightBounds);
   if (left && right) {
      const uint8_t scale = std::max(left->scale, right->scale);
      const auto a = rescaled(left->bounds, scale - left->scale), b = rescaled(right->bounds, scale - right->scale);
      if (a && b) {
         // No bound is the least int128, so each has its opposite.
         const bool isAddition = functionOf(call)->source == "numeric_add";
         const auto sum = add(*a, isAddition ? *b : Bounds{-b->max, -b->min});
         if (sum) {
            const bool narrow = fitsI64(*a) && fitsI64(*b) && fitsI64(*sum);
            const Representation target{narrow ? PhysicalType::I64 : PhysicalType::I128, scale};
            convert(call.args[0], target);
            convert(call.args[1], target);
            call.repr = target;
            usedBounds_ = true;
            result = *sum;
            return true;
         }
      }
   }
   for (ExprPtr& arg : call.args)
      convert(arg, {PhysicalType::Decimal, 0});
   call.repr = {PhysicalType::Decimal, 0};
   return true;
}

bool ExprLowering::lowerProduct(Expr& call, std::optional<Bounds>& result) {
   DCHECK(call.args.size() == 2);
   std::optional<ScaledOperand> operands[2];
   for (int i = 0; i < 2; ++i) {
      const auto bounds = lower(call.args[i]);
      operands[i] = scaledOperand(*call.args[i], bounds);
   }
   if (operands[0] && operands[1] && operands[0]->scale + operands[1]->scale <= static_cast<int>(scaleLimit)) {
      if (const auto product = multiply(operands[0]->bounds, operands[1]->bounds)) {
         for (int i = 0; i < 2; ++i)
            convert(call.args[i],
                    {fitsI64(operands[i]->bounds) ? PhysicalType::I64 : PhysicalType::I128, operands[i]->scale});
         // The kernels: ll->l, ll->w, lw->w, wl->w, ww->w.
         const bool narrow = fitsI64(*product) && call.args[0]->repr.physical == PhysicalType::I64 &&
                             call.args[1]->repr.physical == PhysicalType::I64;
         call.repr = {narrow ? PhysicalType::I64 : PhysicalType::I128,
                      static_cast<uint8_t>(operands[0]->scale + operands[1]->scale)};
         usedBounds_ = true;
         result = product;
         return true;
      }
   }
   for (ExprPtr& arg : call.args)
      convert(arg, {PhysicalType::Decimal, 0});
   call.repr = {PhysicalType::Decimal, 0};
   return true;
}

void lowerAlone(ExprPtr& expr, sql::ColumnTable& columns) {
   const OptimizerContext context;
   Query query{columns, context};
   ExprLowering lowering(query);
   for (uint32_t i = 0; i < columns.size(); ++i)
      lowering.setColumn(ColumnId{i}, columns[ColumnId{i}].repr, std::nullopt);
   lowering.lower(expr);
}

} // namespace ouzel::optimizer
