#include <algorithm>

#include "common/thread/stack.hpp"
#include "sql/algebra/expr.hpp"
#include "sql/algebra/rel.hpp"

// Visitors and rewriters of expression trees, and the split of predicates into conjuncts.

namespace ouzel::sql {

void forEachExpr(const Expr& root, const std::function<bool(const Expr&)>& visit) {
   checkStack();
   if (!visit(root)) return;
   for (const ExprPtr& arg : root.args)
      forEachExpr(*arg, visit);
}

void rewriteExpr(ExprPtr& root, const std::function<void(ExprPtr&)>& rewrite) {
   checkStack();
   for (ExprPtr& arg : root->args)
      rewriteExpr(arg, rewrite);
   rewrite(root);
}

void collectColumns(const Expr& root, std::vector<ColumnId>& out) {
   const auto add = [&out](ColumnId column) {
      if (std::find(out.begin(), out.end(), column) == out.end()) out.push_back(column);
   };
   forEachExpr(root, [&](const Expr& expr) {
      if (const auto* reference = expr.getIf<scalar::Column>()) add(reference->column);
      if (const Rel* subquery = subqueryOf(expr))
         for (const ColumnId column : freeColumns(*subquery))
            add(column);
      return true;
   });
}

void substituteColumns(Rel& rel, const std::function<const Expr*(ColumnId)>& replacement) {
   forEachOwnExpr(rel, [&](ExprPtr& expr) { substituteColumns(expr, replacement); });
   forEachChild(rel, [&](RelPtr& child) { substituteColumns(*child, replacement); });
}

void substituteColumns(ExprPtr& root, const std::function<const Expr*(ColumnId)>& replacement) {
   checkStack();
   if (const auto* reference = root->getIf<scalar::Column>()) {
      if (const Expr* expr = replacement(reference->column)) {
         const uint32_t position = root->position;
         root = clone(*expr);
         if (root->position == 0) root->position = position;
      }
      return;
   }
   for (ExprPtr& arg : root->args)
      substituteColumns(arg, replacement);
   if (Rel* subquery = subqueryOf(*root)) substituteColumns(*subquery, replacement);
}

void splitConjuncts(ExprPtr predicate, std::vector<ExprPtr>& out) {
   checkStack();
   if (predicate->kind != ExprKind::And) {
      out.push_back(std::move(predicate));
      return;
   }
   for (ExprPtr& arg : predicate->args)
      splitConjuncts(std::move(arg), out);
}

} // namespace ouzel::sql
