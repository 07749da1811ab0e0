
#include "common/calendar/calendar.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"
#include "common/type/date_time_math.hpp"
#include "common/type/time_zone.hpp"
#include "executor/function/date_time/session_zone.hpp"
#include "executor/function/jsonpath/path_evaluation.hpp"
#include "executor/function/jsonpath/path_pattern.hpp"
#include "executor/function/text/regex.hpp"

// Predicates of jsonpath: true, false or unknown. Operands are sequences; a predicate holds if it holds for one pair of
// their items. Errors in operands make it unknown.

namespace ouzel::executor {

using json::PathNode;
using json::PathOp;

namespace {

template <typename T>
int threeWay(T a, T b) {
   return a < b ? -1 : a > b ? 1 : 0;
}

} // namespace

PathEvaluation::Truth PathEvaluation::truth(const PathNode& node, const PathItem& item) {
   checkStack();
   switch (node.op) {
   case PathOp::And:
   case PathOp::Or: {
      const Truth decides = node.op == PathOp::And ? Truth::False : Truth::True;
      const Truth neutral = node.op == PathOp::And ? Truth::True : Truth::False;
      const Truth left = truth(*node.left, item);
      if (left == decides) return left;
      const Truth right = truth(*node.right, item);
      return right == neutral ? left : right;
   }
   case PathOp::Not: {
      const Truth operand = truth(*node.left, item);
      if (operand == Truth::Unknown) return operand;
      return operand == Truth::True ? Truth::False : Truth::True;
   }
   case PathOp::IsUnknown: return truth(*node.left, item) == Truth::Unknown ? Truth::True : Truth::False;
   case PathOp::Exists: return exists(node.left, item);
   case PathOp::StartsWith:
      return anyPair(node, item, false, [](const PathItem& whole, const PathItem& initial) {
         if (!whole.isString() || !initial.isString()) return Truth::Unknown;
         return whole.string().starts_with(initial.string()) ? Truth::True : Truth::False;
      });
   case PathOp::LikeRegex: return likeRegex(node, item);
   default:
      return anyPair(node, item, true, [&](const PathItem& a, const PathItem& b) { return compare(node.op, a, b); });
   }
}

PathEvaluation::Truth PathEvaluation::exists(const PathNode* node, const PathItem& item) {
   const bool outer = throwsErrors_;
   throwsErrors_ = false;
   PathItems found(arena_);
   Found result = chain(node, item, isLax_ ? nullptr : &found, isLax_);
   throwsErrors_ = outer;
   if (result == Found::Error) return Truth::Unknown;
   if (!isLax_) result = found.size() > 0 ? Found::Yes : Found::No;
   return result == Found::Yes ? Truth::True : Truth::False;
}

template <typename Test>
PathEvaluation::Truth PathEvaluation::anyPair(const PathNode& node, const PathItem& item, bool unwrapRight,
                                              Test&& test) {
   const bool outer = throwsErrors_;
   throwsErrors_ = false;
   PathItems left(arena_), right(arena_);
   Found result = unwrapped(node.left, item, left);
   if (result != Found::Error && node.right)
      result = unwrapRight ? unwrapped(node.right, item, right) : chain(node.right, item, &right, isLax_);
   throwsErrors_ = outer;
   if (result == Found::Error) return Truth::Unknown;
   if (!node.right) right.add(PathItem::null());
   bool isTrue = false, isUnknown = false;
   for (const PathItem& a : left) {
      for (const PathItem& b : right) {
         tick();
         const Truth pair = test(a, b);
         // In lax mode the first true pair decides, in strict mode the first unknown one.
         if (pair == (isLax_ ? Truth::True : Truth::Unknown)) return pair;
         isTrue |= pair == Truth::True;
         isUnknown |= pair == Truth::Unknown;
      }
   }
   return isTrue ? Truth::True : isUnknown ? Truth::Unknown : Truth::False;
}

PathEvaluation::Truth PathEvaluation::likeRegex(const PathNode& node, const PathItem& item) {
   const Regex* regex = nullptr; // looked up when there is a text: nothing else looks for expressions meanwhile
   return anyPair(node, item, false, [&](const PathItem& text, const PathItem&) {
      if (!text.isString()) return Truth::Unknown;
      if (!regex) regex = &Regex::find(node.text, pathPatternFlags(node.regexFlags));
      return regex->matches(text.string()) ? Truth::True : Truth::False;
   });
}

PathEvaluation::Truth PathEvaluation::compare(PathOp op, const PathItem& a, const PathItem& b) const {
   const auto isNull = [](const PathItem& i) { return i.kind() == PathItem::Kind::Null; };
   if (a.kind() != b.kind() && (isNull(a) || isNull(b))) return op == PathOp::NotEqual ? Truth::True : Truth::False;
   if (a.kind() != b.kind() || a.isContainer()) return Truth::Unknown;
   int order = 0;
   switch (a.kind()) {
   case PathItem::Kind::Boolean: order = threeWay(a.boolean(), b.boolean()); break;
   case PathItem::Kind::Number: order = decimal::compare(a.number(), b.number()); break;
   case PathItem::Kind::String: order = a.string().compare(b.string()); break;
   case PathItem::Kind::DateTime: {
      const std::optional<int> compared = compareDateTimes(a.dateTime(), b.dateTime());
      if (!compared) return Truth::Unknown;
      order = *compared;
      break;
   }
   default: break;
   }
   const auto is = [](bool value) { return value ? Truth::True : Truth::False; };
   switch (op) {
   case PathOp::Equal: return is(order == 0);
   case PathOp::NotEqual: return is(order != 0);
   case PathOp::Less: return is(order < 0);
   case PathOp::LessOrEqual: return is(order <= 0);
   case PathOp::Greater: return is(order > 0);
   default: return is(order >= 0);
   }
}

void PathEvaluation::requireTimeZone(const char* from, const char* to) const {
   if (usesTimeZone_) return;
   throw SqlError(sqlstate::featureNotSupported,
                  std::string("cannot convert value from ") + from + " to " + to + " without time zone usage")
       .hint("Use *_tz() function for time zone support.");
}

std::optional<int> PathEvaluation::compareDateTimes(const DateTimeValue& a, const DateTimeValue& b) const {
   const auto isTime = [](const DateTimeValue& v) { return v.type == oid::time || v.type == oid::timetz; };
   if (isTime(a) != isTime(b)) return std::nullopt;
   const TimeZone* zone = zoneOf(context_);
   if (a.type == b.type) {
      if (a.type != oid::timetz) return threeWay(a.value, b.value);
      const int order = threeWay(a.value + a.zone * microsPerSecond, b.value + b.zone * microsPerSecond);
      return order != 0 ? order : threeWay(a.zone, b.zone);
   }
   if (isTime(a)) { // one of them has no time zone: the session's, as it is now
      requireTimeZone("time", "timetz");
      const auto zoned = [&](DateTimeValue v) {
         if (v.type == oid::time) v.zone = -zoneOffsetAt(zone, context_.transactionStart);
         v.type = oid::timetz;
         return v;
      };
      return compareDateTimes(zoned(a), zoned(b));
   }
   if (a.type != oid::timestamptz && b.type != oid::timestamptz) {
      const auto stamp = [](const DateTimeValue& v) {
         return v.type == oid::date ? static_cast<int128>(v.value) * microsPerDay : static_cast<int128>(v.value);
      };
      return threeWay(stamp(a), stamp(b));
   }
   requireTimeZone((a.type == oid::timestamptz ? b : a).type == oid::date ? "date" : "timestamp", "timestamptz");
   const auto instant = [&](const DateTimeValue& v) -> int128 {
      if (v.type == oid::timestamptz) return v.value;
      if (v.type == oid::date) return comparableTimestamp(static_cast<int32_t>(v.value), zone);
      return static_cast<int128>(v.value) - static_cast<int128>(zoneOffsetOfLocal(zone, v.value)) * microsPerSecond;
   };
   return threeWay(instant(a), instant(b));
}

} // namespace ouzel::executor
