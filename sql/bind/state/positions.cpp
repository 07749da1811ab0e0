#include "sql/bind/state/positions.hpp"

#include "common/thread/stack.hpp"

namespace ouzel::sql {

uint32_t startOf(const Expr& root) {
   uint32_t start = 0;
   const Expr* expr = &root;
   while (true) { // operators lean left: follow the first operand
      if (expr->position && (!start || expr->position < start)) start = expr->position;
      switch (expr->kind) {
      case ExprKind::Column:
      case ExprKind::Constant:
      case ExprKind::Case:
      case ExprKind::Coalesce:
      case ExprKind::Array:
      case ExprKind::Row: return start;
      case ExprKind::Subquery:
         if (expr->args.empty() || expr->args[0]->position == 0) return start;
         break;
      default:
         if (expr->args.empty()) return start;
      }
      expr = expr->args[0].get();
   }
}

namespace {

uint32_t positionInRel(const Rel& rel, const std::function<bool(ColumnId)>& matches) {
   checkStack();
   uint32_t found = 0;
   forEachOwnExpr(rel, [&](const Expr& expr) {
      if (!found) found = positionOfColumn(expr, matches);
   });
   for (const RelPtr& input : rel.inputs)
      if (!found) found = positionInRel(*input, matches);
   return found;
}

} // namespace

uint32_t positionOfColumn(const Expr& root, const std::function<bool(ColumnId)>& matches) {
   uint32_t found = 0;
   forEachExpr(root, [&](const Expr& expr) {
      const auto* reference = expr.getIf<scalar::Column>();
      const Rel* subquery = subqueryOf(expr);
      if (!found && reference && matches(reference->column)) found = expr.position;
      if (!found && subquery) found = positionInRel(*subquery, matches);
      return !found;
   });
   return found;
}

} // namespace ouzel::sql
