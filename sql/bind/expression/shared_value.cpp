#include "sql/bind/expression/shared_value.hpp"

#include "sql/algebra/build.hpp"

namespace ouzel::sql {

bool isShared(const Expr& value, Sharing sharing) {
   if (sharing == Sharing::All || (sharing == Sharing::SideEffects && isVolatile(value))) return true;
   bool hasSubquery = false;
   forEachExpr(value, [&](const Expr& expr) {
      hasSubquery |= expr.kind == ExprKind::Subquery;
      return !hasSubquery;
   });
   return hasSubquery;
}

ExprPtr shareValues(BindState& state, uint32_t depth, std::span<ExprPtr* const> values,
                    const std::function<ExprPtr()>& use, Sharing sharing) {
   uint32_t position = 0;
   std::vector<ComputedColumn> inner, outer;
   for (ExprPtr* value : values) {
      if (!isShared(**value, sharing)) continue;
      if (inner.empty()) position = (*value)->position;
      const SqlType type = (*value)->type;
      const ColumnId column = state.addColumn(depth + 1, "value", type);
      inner.push_back({column, std::move(*value)});
      *value = makeColumn(column, type);
   }
   ExprPtr result = use();
   if (inner.empty()) return result;
   // (SELECT use(x) FROM (SELECT value AS x)) evaluates the value once in any context.
   const SqlType type = result->type;
   const ColumnId column = state.addColumn(depth + 1, "result", type);
   outer.push_back({column, std::move(result)});
   return makeSubquery(SubqueryKind::Scalar, type, makeMap(makeMap(oneRow(), std::move(inner)), std::move(outer)),
                       {column}, position);
}

} // namespace ouzel::sql
