#include "sql/bind/statement/standalone.hpp"

#include "sql/bind/binder.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Expressions outside of queries: defaults, CHECK constraints, ALTER ... USING, parameters of EXECUTE.

namespace ouzel::sql {

Clause clauseOf(ExpressionUse use) {
   switch (use) {
   case ExpressionUse::ColumnDefault: return Clause::Default;
   case ExpressionUse::CheckConstraint: return Clause::Check;
   case ExpressionUse::GeneratedColumn: return Clause::Generated;
   case ExpressionUse::AlterUsing: return Clause::AlterUsing;
   case ExpressionUse::IndexExpression: return Clause::Index;
   case ExpressionUse::Statistics: return Clause::Statistics;
   case ExpressionUse::IndexPredicate: return Clause::IndexPredicate;
   case ExpressionUse::PartitionKey: return Clause::PartitionKey;
   case ExpressionUse::PartitionBound: return Clause::PartitionBound;
   case ExpressionUse::ExecuteParameter: return Clause::Execute;
   case ExpressionUse::CallArgument: return Clause::CallArgument;
   case ExpressionUse::PublicationFilter: return Clause::Where;
   }
   return Clause::None;
}

BoundExpression bindStandalone(BindState& state, const ::Node& node, Clause clause, const catalog::Relation* table,
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
         const ColumnId id = state.addColumn(scope, column.name, column.type);
         state.columns[id].tableOid = table->oid;
         state.columns[id].attribute = column.attribute;
         state.columns[id].nullable = !column.notNull;
         item.columns.push_back({column.name, id, column.type, table->oid, column.attribute});
         all.push_back({id, column.attribute});
      }
      if (!table->isOnlyType()) addEntry(scope, item); // a domain is no table for a hint to name
      scope.items.push_back(std::move(item));
   }
   BoundExpression result;
   auto expr = bindExpr(state, scope, &node, clause);
   if (!target || !isRowValue(target->oid)) expr = rowValue(state, std::move(expr)); // else it is cast field by field
   if (clause == Clause::Check) expr = coerceToBoolean(state, std::move(expr), "CHECK");
   if (clause == Clause::IndexPredicate) expr = coerceToBoolean(state, std::move(expr), "WHERE");
   if (clause == Clause::Where) expr = coerceToBoolean(state, std::move(expr), "PUBLICATION WHERE");
   if (target && clause == Clause::Execute) {
      const Oid source = expr->type.oid;
      const uint32_t position = expr->position;
      expr = tryCoerce(state, expr, *target, CoercionContext::Assignment);
      if (!expr)
         throw SqlError(sqlstate::datatypeMismatch, "parameter " + std::string(columnName) + " of type " +
                                                        typeName(source) + " cannot be coerced to the expected type " +
                                                        typeName(target->oid))
             .at(position)
             .hint("You will need to rewrite or cast the expression.");
   } else if (target) {
      expr = coerceForAssignment(state, std::move(expr), *target, columnName, clause);
   }
   result.expr = unknownToText(state, std::move(expr));
   state.checkParameters();
   std::vector<ColumnId> reads;
   collectColumns(*result.expr, reads);
   for (const GetColumn& column : all)
      for (const ColumnId read : reads)
         if (read == column.column) result.inputs.push_back(column);
   result.columns = std::move(state.columns);
   result.callsMutable = state.callsMutable;
   return result;
}

// ---- binder.hpp ----

BoundExpression bindExpression(const ::Node& expression, ExpressionUse use, const catalog::Relation* table,
                               std::optional<SqlType> target, std::string_view columnName, const BindContext& context) {
   BindState state(context);
   return bindStandalone(state, expression, clauseOf(use), table, target, columnName);
}

ExprPtr bindColumnDefault(const catalog::Relation& table, const catalog::Column& column, const BindContext& context) {
   BindState state(context);
   return defaultOf(state, table, column);
}

ExprPtr castForAssignment(ExprPtr expr, const SqlType& target, std::string_view columnName,
                          const BindContext& context) {
   BindState state(context);
   return coerceForAssignment(state, std::move(expr), target, columnName, Clause::None);
}

} // namespace ouzel::sql
