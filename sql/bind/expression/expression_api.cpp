#include "sql/bind/query_binder.hpp"

// Expressions outside of queries: defaults, checks, ALTER ... USING, parameters of EXECUTE.

namespace ouzel::sql {

namespace {

Clause clauseOf(ExpressionUse use) {
   switch (use) {
   case ExpressionUse::ColumnDefault:
      return Clause::Default;
   case ExpressionUse::CheckConstraint:
      return Clause::Check;
   case ExpressionUse::GeneratedColumn:
      return Clause::Generated;
   case ExpressionUse::AlterUsing:
      return Clause::AlterUsing;
   case ExpressionUse::IndexExpression:
      return Clause::Index;
   case ExpressionUse::PartitionBound:
      return Clause::PartitionBound;
   case ExpressionUse::ExecuteParameter:
      return Clause::Execute;
   case ExpressionUse::CallArgument:
      return Clause::CallArgument;
   case ExpressionUse::CopyWhere:
      return Clause::CopyWhere;
   }
   return Clause::None;
}

} // namespace

BoundExpression QueryBinder::bindStandalone(const ::Node& node, Clause clause, const catalog::Relation* table,
                                            std::optional<SqlType> target, std::string_view columnName) {
   Scope scope(nullptr);
   std::vector<GetColumn> all;
   if (table) {
      NamespaceItem item;
      item.alias = table->name;
      item.relation = table;
      item.rowType = table->rowType;
      for (const catalog::Column& column : table->columns) {
         if (column.isDropped) continue;
         const ColumnId id = addColumn(scope, column.name, column.type);
         columns_[id].tableOid = table->oid;
         columns_[id].attribute = column.attribute;
         columns_[id].nullable = !column.notNull;
         item.columns.push_back({column.name, id, column.type, table->oid, column.attribute});
         all.push_back({id, column.attribute});
      }
      addEntry(scope, item);
      scope.items.push_back(std::move(item));
   }
   BoundExpression result;
   auto expr = bindExpr(scope, &node, clause);
   if (expr->kind == ExprKind::Row) throwNotSupported("row values here", expr->position);
   if (clause == Clause::Check || clause == Clause::CopyWhere)
      expr = coerceToBoolean(std::move(expr), clause == Clause::Check ? "CHECK" : "WHERE");
   if (target && clause == Clause::Execute) {
      const Oid source = expr->type.oid;
      const uint32_t position = expr->position;
      expr = tryCoerce(expr, *target, CoercionContext::Assignment);
      if (!expr)
         throw SqlError(sqlstate::datatypeMismatch, "parameter of type " + typeName(source) +
                                                        " cannot be coerced to the expected type " +
                                                        typeName(target->oid))
             .at(position)
             .hint("You will need to rewrite or cast the expression.");
   } else if (target) {
      expr = coerceForAssignment(std::move(expr), *target, columnName, clause);
   }
   result.expr = unknownToText(std::move(expr));
   checkParameters();
   std::vector<ColumnId> reads;
   collectColumns(*result.expr, reads);
   for (const GetColumn& column : all)
      for (const ColumnId read : reads)
         if (read == column.column) result.inputs.push_back(column);
   result.columns = std::move(columns_);
   return result;
}

// ---- binder.hpp ----

BoundExpression bindExpression(const ::Node& expression, ExpressionUse use, const catalog::Relation* table,
                               std::optional<SqlType> target, std::string_view columnName, const BindContext& context) {
   return QueryBinder(context).bindStandalone(expression, clauseOf(use), table, target, columnName);
}

ExprPtr bindColumnDefault(const catalog::Relation& table, const catalog::Column& column, const BindContext& context) {
   return QueryBinder(context).defaultOf(table, column);
}

ExprPtr castForAssignment(ExprPtr expr, const SqlType& target, std::string_view columnName,
                          const BindContext& context) {
   return QueryBinder(context).coerceForAssignment(std::move(expr), target, columnName, Clause::None);
}

} // namespace ouzel::sql
