#include "sql/bind/expression/eager_items.hpp"

namespace ouzel::sql {

namespace {

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

} // namespace

std::vector<ExprPtr> eagerItems(const Expr& left, const std::vector<ExprPtr>& items) {
   const auto isEager = [](const Expr& expr) {
      return mayFail(expr) && expr.type.oid != oid::unknown && !isVolatile(expr) && !hasSubquery(expr);
   };
   std::vector<ExprPtr> eager;
   for (const ExprPtr& item : items)
      if (isEager(*item)) eager.push_back(clone(*item));
   if (!eager.empty() && left.kind != ExprKind::Row && isEager(left)) eager.insert(eager.begin(), clone(left));
   return eager;
}

} // namespace ouzel::sql
