#include "sql/bind/query_binder.hpp"

// ROW(...) and whole-row references. Row values never reach the algebra: comparisons, IN, IS NULL and field selection
// take them apart, everything else refuses them.

namespace ouzel::sql {

ExprPtr QueryBinder::bindRow(Scope& scope, const ::RowExpr& node) {
   auto row = makeTyped(ExprKind::Row, {oid::record, -1, invalidOid}, at(node.location));
   row->args = bindExpressionList(scope, node.args, scope.clause);
   if (row->args.size() > 1664)
      throw SqlError(sqlstate::tooManyColumns, "ROW expressions can have at most 1664 entries").at(row->position);
   return row;
}

ExprPtr QueryBinder::selectField(ExprPtr row, std::string_view name) {
   if (row->kind != ExprKind::Row) throwNotSupported("fields of row values", row->position);
   for (size_t i = 0; i < row->args.size(); ++i) {
      const Expr& field = *row->args[i];
      const bool matches = row->type.oid != oid::record && field.kind == ExprKind::Column
                               ? columns_[field.column].name == name
                               : name == "f" + std::to_string(i + 1);
      if (matches) return std::move(row->args[i]);
   }
   throw SqlError(sqlstate::undefinedColumn,
                  "could not identify column \"" + std::string(name) + "\" in record data type")
       .at(row->position);
}

} // namespace ouzel::sql
