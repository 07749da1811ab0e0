#include <algorithm>
#include <unordered_set>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/expr.hpp"
#include "sql/algebra/rel.hpp"

// Properties of expressions that are found without evaluation: volatility, possible errors, NULLs.

namespace ouzel::sql {

bool isConstantTrue(const Expr& expr) {
   const Value* value = knownValue(expr);
   return value && expr.type.oid == oid::boolean && value->i64 != 0;
}

bool isConstantFalseOrNull(const Expr& expr) {
   const auto* constant = expr.getIf<scalar::Constant>();
   return constant && (constant->value.isNull || (expr.type.oid == oid::boolean && constant->value.i64 == 0));
}

bool callsVolatile(const Rel& rel) {
   const auto* call = rel.getIf<op::TableFunction>();
   bool found = call && call->function && call->function->volatility == catalog::Volatility::Volatile;
   forEachOwnExpr(rel, [&found](const Expr& expr) { found = found || isVolatile(expr); });
   return found;
}

namespace {

bool isVolatile(const Rel& rel) {
   checkStack();
   bool found = callsVolatile(rel);
   forEachChild(rel, [&found](const RelPtr& child) { found = found || isVolatile(*child); });
   return found;
}

/// pg_proc.prosrc of functions that accept every input without an error. Comparisons and boolean tests are no calls.
/// numeric's + - * fail only past 131,072 digits, which stored data do not reach in practice.
const std::unordered_set<std::string_view>& totalFunctions() {
   static const std::unordered_set<std::string_view> names{"numeric_add",  "numeric_sub",
                                                           "numeric_mul",  "numeric_uminus",
                                                           "numeric_abs",  "lower",
                                                           "upper",        "textlen",
                                                           "bpcharlen",    "textoctetlen",
                                                           "text_concat",  "textcat",
                                                           "btrim1",       "ltrim1",
                                                           "rtrim1",       "btrim",
                                                           "ltrim",        "rtrim",
                                                           "i2toi4",       "int28",
                                                           "int48",        "i2tod",
                                                           "i4tod",        "i8tod",
                                                           "ftod",         "i2tof",
                                                           "i4tof",        "i8tof",
                                                           "int2_numeric", "int4_numeric",
                                                           "int8_numeric", "text_substr_no_len",
                                                           "textpos",      "text_starts_with",
                                                           "text_reverse", "date_mi",
                                                           "rtrim1",       "text",
                                                           "rpad",         "md5_text",
                                                           "text_left",    "text_right",
                                                           "hashtext",     "booltext",
                                                           "bpchar_text",  "date_eq",
                                                           "numeric_sign", "numeric_floor",
                                                           "numeric_ceil", "ouzel_greatest",
                                                           "ouzel_least"};
   return names;
}

/// The same for parts of JSON; only damaged values make them fail.
bool takesPart(std::string_view source) {
   static const std::unordered_set<std::string_view> names{"jsonb_object_field",  "jsonb_object_field_text",
                                                           "jsonb_array_element", "jsonb_array_element_text",
                                                           "jsonb_extract_path",  "jsonb_extract_path_text",
                                                           "jsonb_typeof",        "jsonb_contains",
                                                           "jsonb_contained",     "jsonb_exists",
                                                           "jsonb_exists_any",    "jsonb_exists_all",
                                                           "json_typeof"};
   return names.contains(source);
}

bool callMayFail(const Expr& call) {
   const auto* function = call.as<scalar::Call>().function;
   if (!function) return true;
   const std::string_view source = function->source;
   if (totalFunctions().contains(source) || takesPart(source)) return false;
   // LIKE fails on a pattern that ends in the escape character.
   if (source == "textlike" || source == "textnlike" || source == "texticlike" || source == "texticnlike") {
      const auto* pattern = call.args[1]->getIf<scalar::Constant>();
      return !pattern || (!pattern->value.isNull && pattern->value.bytes.ends_with('\\'));
   }
   return true;
}

} // namespace

bool isLeakproof(const Expr& expr) {
   // Of the functions that count as total these fail for lengths, infinite dates or numbers that somebody chooses.
   static const std::unordered_set<std::string_view> fallible{
       "numeric_add", "numeric_sub", "numeric_mul", "text_concat", "textcat", "rpad", "lpad", "date_mi"};
   if (mayFail(expr) || isVolatile(expr)) return false;
   bool found = false;
   forEachExpr(expr, [&found](const Expr& e) {
      const auto* function = e.kind == ExprKind::Call ? functionOf(e) : nullptr;
      found = found || (function && fallible.contains(function->source));
      return !found;
   });
   return !found;
}

bool isVolatile(const Expr& expr) {
   bool found = false;
   forEachExpr(expr, [&found](const Expr& e) {
      const auto* function = functionOf(e);
      if (function && function->volatility == catalog::Volatility::Volatile) found = true;
      if (const Rel* subquery = subqueryOf(e)) found = found || isVolatile(*subquery);
      return !found;
   });
   return found;
}

bool mayFail(const Expr& expr) {
   bool found = false;
   forEachExpr(expr, [&found](const Expr& e) {
      switch (e.kind) {
      case ExprKind::Call: found = found || callMayFail(e); break;
      case ExprKind::TextCast:
         found =
             found || (e.type.oid != oid::text && e.type.oid != oid::varchar) || e.args[0]->type.oid == oid::unknown;
         break;
      case ExprKind::TypmodCast:
         found = found || !e.as<scalar::TypmodCast>().isExplicit ||
                 (e.type.oid != oid::varchar && e.type.oid != oid::bpchar);
         break;
      case ExprKind::Subquery:
      case ExprKind::AnyArray: found = true; break;
      default: break;
      }
      return !found;
   });
   return found;
}

namespace {

/// Possible results of an expression when all chosen columns are NULL.
enum class Outcome : uint8_t { Anything, Null, False, NullOrFalse };

bool neverTrue(Outcome outcome) {
   return outcome != Outcome::Anything;
}

class NullTracker {
public:
   explicit NullTracker(const std::vector<ColumnId>& columns) : columns_(columns) {}

   Outcome evaluate(const Expr& expr) const {
      checkStack();
      switch (expr.kind) {
      case ExprKind::Column:
         return std::find(columns_.begin(), columns_.end(), columnOf(expr)) != columns_.end() ? Outcome::Null
                                                                                              : Outcome::Anything;
      case ExprKind::Constant:
         if (isNullConstant(expr)) return Outcome::Null;
         return isConstantFalseOrNull(expr) ? Outcome::False : Outcome::Anything;
      case ExprKind::Compare:
         if (isNullSafe(expr.as<scalar::Compare>().op)) return Outcome::Anything;
         return strict(expr);
      case ExprKind::And: return conjunction(expr);
      case ExprKind::Or: return disjunction(expr);
      case ExprKind::Not:
      case ExprKind::Relabel:
      case ExprKind::TextCast:
      case ExprKind::TypmodCast:
      case ExprKind::Convert: return evaluate(*expr.args[0]) == Outcome::Null ? Outcome::Null : Outcome::Anything;
      case ExprKind::IsNotNull:
      case ExprKind::IsFalse: return evaluate(*expr.args[0]) == Outcome::Null ? Outcome::False : Outcome::Anything;
      case ExprKind::IsTrue: return neverTrue(evaluate(*expr.args[0])) ? Outcome::False : Outcome::Anything;
      case ExprKind::Coalesce: return coalesce(expr);
      case ExprKind::Case: return caseOf(expr);
      case ExprKind::InList: return evaluate(*expr.args[0]) == Outcome::Null ? Outcome::Null : Outcome::Anything;
      case ExprKind::Call: {
         const auto* function = functionOf(expr);
         return function && function->isStrict ? strict(expr) : Outcome::Anything;
      }
      case ExprKind::AnyArray: { // NULL op ANY (empty array) is false, op ALL (empty array) true
         const auto& any = expr.as<scalar::AnyArray>();
         return !any.isAll && !any.function && evaluate(*expr.args[0]) == Outcome::Null ? Outcome::NullOrFalse
                                                                                        : Outcome::Anything;
      }
      default: return Outcome::Anything;
      }
   }

private:
   Outcome strict(const Expr& expr) const {
      for (const ExprPtr& arg : expr.args)
         if (evaluate(*arg) == Outcome::Null) return Outcome::Null;
      return Outcome::Anything;
   }
   Outcome conjunction(const Expr& expr) const {
      bool never = false;
      for (const ExprPtr& arg : expr.args) {
         const Outcome outcome = evaluate(*arg);
         if (outcome == Outcome::False) return Outcome::False;
         never = never || neverTrue(outcome);
      }
      return never ? Outcome::NullOrFalse : Outcome::Anything;
   }
   Outcome disjunction(const Expr& expr) const {
      bool allNull = true, allFalse = true;
      for (const ExprPtr& arg : expr.args) {
         const Outcome outcome = evaluate(*arg);
         if (!neverTrue(outcome)) return Outcome::Anything;
         allNull = allNull && outcome == Outcome::Null;
         allFalse = allFalse && outcome == Outcome::False;
      }
      return allNull ? Outcome::Null : allFalse ? Outcome::False : Outcome::NullOrFalse;
   }
   Outcome coalesce(const Expr& expr) const {
      bool allNull = true;
      for (const ExprPtr& arg : expr.args) {
         const Outcome outcome = evaluate(*arg);
         if (!neverTrue(outcome)) return Outcome::Anything;
         allNull = allNull && outcome == Outcome::Null;
      }
      return allNull ? Outcome::Null : Outcome::NullOrFalse;
   }
   Outcome caseOf(const Expr& expr) const {
      bool allNull = true;
      for (size_t i = 1; i <= expr.args.size(); i += 2) {
         const size_t result = i < expr.args.size() ? i : expr.args.size() - 1;
         if (i == expr.args.size() && expr.args.size() % 2 == 0) break; // no else: NULL
         const Outcome outcome = evaluate(*expr.args[result]);
         if (!neverTrue(outcome)) return Outcome::Anything;
         allNull = allNull && outcome == Outcome::Null;
      }
      return allNull ? Outcome::Null : Outcome::NullOrFalse;
   }

   const std::vector<ColumnId>& columns_;
};

} // namespace

bool rejectsNulls(const Expr& predicate, const std::vector<ColumnId>& columns) {
   return neverTrue(NullTracker(columns).evaluate(predicate));
}

} // namespace ouzel::sql
