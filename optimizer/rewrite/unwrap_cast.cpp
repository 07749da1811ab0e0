#include "optimizer/rewrite/unwrap_cast.hpp"

#include <optional>

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"

namespace ouzel::optimizer {

using namespace sql;

namespace {

constexpr int64_t microsPerDay = 86'400'000'000;

enum class Widening : uint8_t { None, Integer, Numeric, Timestamp, Text };

Widening wideningOf(const Expr& expr) {
   const auto* function = functionOf(expr);
   if (!function || expr.args.size() != 1 || expr.args[0]->kind == ExprKind::Constant) return Widening::None;
   const std::string_view source = function->source;
   if (source == "i2toi4" || source == "int28" || source == "int48") return Widening::Integer;
   if (source == "int2_numeric" || source == "int4_numeric" || source == "int8_numeric") return Widening::Numeric;
   if (source == "name_text") return Widening::Text;
   return source == "date_timestamp" || source == "ouzel_date_timestamp" ? Widening::Timestamp : Widening::None;
}

/// The largest value of the narrow type's scale that is not above the constant; `exact`: it equals the constant.
struct Floor {
   int128 value;
   bool exact;
};

std::optional<Floor> floorOf(Widening widening, const Expr& constant) {
   const Value* known = knownValue(constant);
   if (!known) return std::nullopt;
   const Value& value = *known;
   switch (widening) {
   case Widening::Integer: return Floor{value.i64, true};
   case Widening::Timestamp: {
      if (value.i64 == INT64_MIN || value.i64 == INT64_MAX) return std::nullopt;
      int64_t days = value.i64 / microsPerDay;
      const int64_t rest = value.i64 % microsPerDay;
      if (rest < 0) --days;
      return Floor{days, rest == 0};
   }
   case Widening::Numeric: {
      decimal::Scaled scaled;
      if (value.type != PhysicalType::Decimal || !decimal::decode(StringView(value.bytes), scaled)) return std::nullopt;
      if (scaled.scale >= static_cast<int32_t>(decimal::powersOfTen)) return std::nullopt;
      const int128 power = static_cast<int128>(decimal::powerOfTen(static_cast<uint32_t>(scaled.scale)));
      int128 whole = scaled.value / power;
      const int128 rest = scaled.value % power;
      if (rest < 0) --whole;
      return Floor{whole, rest == 0};
   }
   case Widening::Text:
   case Widening::None: break;
   }
   return std::nullopt;
}

bool isInRange(int128 value, PhysicalType type) {
   switch (type) {
   case PhysicalType::I16: return value >= INT16_MIN && value <= INT16_MAX;
   case PhysicalType::I32:
      return value > INT32_MIN && value < INT32_MAX; // the least and the largest date are -infinity and infinity
   case PhysicalType::I64: return value >= INT64_MIN && value <= INT64_MAX;
   default: return false;
   }
}

ExprPtr narrowConstant(const SqlType& type, int128 value) {
   return makeConstant(type, Value::integer(storedRepresentation(type).physical, static_cast<int64_t>(value)));
}

void unwrapArg(Expr& predicate) {
   ExprPtr inner = std::move(predicate.args[0]->args[0]);
   predicate.args[0] = std::move(inner);
}

void unwrapCompare(Expr& predicate, Widening widening) {
   const SqlType type = predicate.args[0]->args[0]->type;
   const PhysicalType physical = storedRepresentation(type).physical;
   const std::optional<Floor> floor = floorOf(widening, *predicate.args[1]);
   if (!floor || !isInRange(floor->value, physical)) return;
   CompareOp& written = predicate.as<scalar::Compare>().op;
   CompareOp op = written;
   if (!floor->exact) {
      // x < 3.5 becomes x <= 3; x >= 3.5 becomes x > 3. An equality keeps its cast: it is never true, but NULL for
      // NULL.
      if (op == CompareOp::Lt)
         op = CompareOp::Le;
      else if (op == CompareOp::Ge)
         op = CompareOp::Gt;
      else if (op != CompareOp::Le && op != CompareOp::Gt)
         return;
   }
   written = op;
   unwrapArg(predicate);
   predicate.args[1] = narrowConstant(type, floor->value);
}

void unwrapIn(Expr& predicate, Widening widening) {
   const SqlType type = predicate.args[0]->args[0]->type;
   std::vector<int128> values;
   for (size_t i = 1; i < predicate.args.size(); ++i) {
      const std::optional<Floor> floor = floorOf(widening, *predicate.args[i]);
      if (!floor || !floor->exact || !isInRange(floor->value, storedRepresentation(type).physical)) return;
      values.push_back(floor->value);
   }
   unwrapArg(predicate);
   for (size_t i = 0; i < values.size(); ++i)
      predicate.args[i + 1] = narrowConstant(type, values[i]);
}

/// A name equals a text that has the same bytes. Its order is another one.
void unwrapName(Expr& predicate) {
   const auto* compare = predicate.getIf<scalar::Compare>();
   if (compare && compare->op != CompareOp::Eq && compare->op != CompareOp::Ne) return;
   for (size_t i = 1; i < predicate.args.size(); ++i)
      if (!knownValue(*predicate.args[i])) return;
   unwrapArg(predicate);
   for (size_t i = 1; i < predicate.args.size(); ++i)
      predicate.args[i] = makeConstant(predicate.args[0]->type, *knownValue(*predicate.args[i]));
}

} // namespace

void unwrapCast(Expr& predicate) {
   const Widening widening = wideningOf(*predicate.args[0]);
   if (widening == Widening::None) return;
   const bool isComparison = predicate.kind == ExprKind::Compare || predicate.kind == ExprKind::InList;
   if (widening == Widening::Text && isComparison)
      unwrapName(predicate);
   else if (predicate.kind == ExprKind::Compare)
      unwrapCompare(predicate, widening);
   else if (predicate.kind == ExprKind::InList)
      unwrapIn(predicate, widening);
}

} // namespace ouzel::optimizer
