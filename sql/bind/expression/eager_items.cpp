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

std::vector<ExprPtr> eagerItems(const std::vector<ExprPtr>& items) {
   std::vector<ExprPtr> eager;
   for (const ExprPtr& item : items)
      if (mayFail(*item) && item->type.oid != oid::unknown && !isVolatile(*item) && !hasSubquery(*item))
         eager.push_back(clone(*item));
   return eager;
}

} // namespace ouzel::sql
