#include "sql/algebra/known_null.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::sql {

bool isStrict(const Expr& expr) {
   if (const auto* compare = expr.getIf<scalar::Compare>()) return !isNullSafe(compare->op);
   const catalog::FunctionInfo* function = expr.kind == ExprKind::Call ? functionOf(expr) : nullptr;
   return function && function->isStrict && !function->returnsSet &&
          function->volatility != catalog::Volatility::Volatile;
}

namespace {

/// Whether constants decide that a CASE is NULL.
bool isKnownNullCase(const Expr& cases) {
   for (size_t i = 0; i + 1 < cases.args.size(); i += 2) {
      const Expr& condition = *cases.args[i];
      if (isConstantTrue(condition)) return isKnownNull(*cases.args[i + 1]);
      if (!isConstantFalseOrNull(condition) && !isKnownNull(condition)) return false;
   }
   return cases.args.size() % 2 == 0 || isKnownNull(*cases.args.back());
}

} // namespace

bool isKnownNull(const Expr& expr) {
   checkStack();
   const auto isKnown = [](const ExprPtr& arg) { return isKnownNull(*arg); };
   switch (expr.kind) {
   case ExprKind::Constant: return isNullConstant(expr);
   case ExprKind::Case: return isKnownNullCase(expr);
   case ExprKind::Coalesce: return std::all_of(expr.args.begin(), expr.args.end(), isKnown);
   case ExprKind::Not:
   case ExprKind::Relabel:
   case ExprKind::TextCast:
   case ExprKind::TypmodCast: return isKnownNull(*expr.args[0]);
   default: return isStrict(expr) && std::any_of(expr.args.begin(), expr.args.end(), isKnown);
   }
}

void foldKnownNulls(ExprPtr& root) {
   rewriteExpr(root, [](ExprPtr& expr) {
      if (!isNullConstant(*expr) && isKnownNull(*expr)) expr = makeNull(expr->type);
   });
}

} // namespace ouzel::sql
