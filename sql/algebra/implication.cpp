#include "sql/algebra/implication.hpp"

#include <algorithm>
#include <optional>

namespace ouzel::sql {

namespace {

/// Whether a row for which `given` is true has a value for `wanted`, since a comparison with NULL is not true.
bool impliesNotNull(const Expr& given, const Expr& wanted) {
   const auto isWanted = [&](const ExprPtr& arg) { return equal(withoutRelabel(*arg), withoutRelabel(wanted)); };
   const auto op = compareOf(given);
   if (op && *op != CompareOp::IsDistinctFrom && *op != CompareOp::IsNotDistinctFrom)
      return std::any_of(given.args.begin(), given.args.end(), isWanted);
   return given.kind == ExprKind::InList && isWanted(given.args[0]);
}

/// `x = true` is x.
const Expr& withoutTrue(const Expr& expr) {
   if (compareOf(expr) != CompareOp::Eq || expr.args[0]->type.oid != oid::boolean) return expr;
   for (const size_t side : {0, 1})
      if (isConstantTrue(*expr.args[side])) return *expr.args[1 - side];
   return expr;
}

/// A comparison of an expression with an integer: the integers for which it is true are those from `lower` to `upper`.
struct IntegerBound {
   const Expr* expr;
   int64_t lower = INT64_MIN, upper = INT64_MAX;
};

std::optional<IntegerBound> integerBound(const Expr& expr) {
   const auto op = compareOf(expr);
   if (!op) return std::nullopt;
   for (const size_t side : {0, 1}) {
      const Value* value = knownValue(*expr.args[side]);
      if (!value || !isIntegerLike(value->type) || expr.args[side]->repr.scale != 0) continue;
      IntegerBound bound{expr.args[1 - side].get()};
      const int64_t at = value->i64;
      switch (side == 1 ? *op : commuted(*op)) {
      case CompareOp::Eq: bound.lower = bound.upper = at; break;
      case CompareOp::Le: bound.upper = at; break;
      case CompareOp::Ge: bound.lower = at; break;
      case CompareOp::Lt:
         if (at == INT64_MIN) return std::nullopt;
         bound.upper = at - 1;
         break;
      case CompareOp::Gt:
         if (at == INT64_MAX) return std::nullopt;
         bound.lower = at + 1;
         break;
      default: return std::nullopt;
      }
      return bound;
   }
   return std::nullopt;
}

/// a > 5 says that a > 3.
bool isNarrower(const Expr& given, const Expr& wanted) {
   const auto narrow = integerBound(given), wide = integerBound(wanted);
   return narrow && wide && narrow->lower >= wide->lower && narrow->upper <= wide->upper &&
          equal(*narrow->expr, *wide->expr);
}

} // namespace

const Expr& withoutRelabel(const Expr& expr) {
   const Expr* inner = &expr;
   while (inner->kind == ExprKind::Relabel)
      inner = inner->args[0].get();
   return *inner;
}

bool impliesAll(std::span<const Expr* const> given, const std::vector<ExprPtr>& wanted) {
   return std::all_of(wanted.begin(), wanted.end(), [&](const ExprPtr& one) {
      return std::any_of(given.begin(), given.end(), [&](const Expr* known) {
         return equal(withoutTrue(*known), withoutTrue(*one)) || isNarrower(*known, *one) ||
                (one->kind == ExprKind::IsNotNull && impliesNotNull(*known, *one->args[0]));
      });
   });
}

bool impliesAll(const std::vector<ExprPtr>& given, const std::vector<ExprPtr>& wanted) {
   std::vector<const Expr*> known;
   for (const ExprPtr& one : given)
      known.push_back(one.get());
   return impliesAll(known, wanted);
}

} // namespace ouzel::sql
