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

bool isKnownNull(const Expr& expr) {
   checkStack();
   return isNullConstant(expr) || (isStrict(expr) && std::any_of(expr.args.begin(), expr.args.end(),
                                                                 [](const ExprPtr& arg) { return isKnownNull(*arg); }));
}

void foldKnownNulls(ExprPtr& root) {
   rewriteExpr(root, [](ExprPtr& expr) {
      if (isStrict(*expr) && isKnownNull(*expr)) expr = makeNull(expr->type);
   });
}

} // namespace ouzel::sql
