#include <algorithm>
#include <map>

#include "sql/bind/query_binder.hpp"

// UPDATE and DELETE: rows are found by a query over the target table that carries row ids.

namespace ouzel::sql {

namespace {

/// Joined tables may meet a row of the target more than once; it changes once.
RelPtr oncePerRow(RelPtr rel, ColumnId rowId) {
   auto distinct = std::make_unique<Rel>(RelKind::Distinct);
   distinct->inputs.push_back(std::move(rel));
   distinct->columns.push_back(rowId);
   distinct->sortKeys.push_back({makeColumn(rowId, {oid::int8, -1, invalidOid}), false, false});
   return distinct;
}

} // namespace

RelPtr QueryBinder::bindTargetRows(Scope& scope, FromItem target, const ::List* from, const ::Node* where,
                                   ColumnId rowId) {
   for (NamespaceItem& item : target.items) {
      item.lateralOnly = true; // FROM does not see the target
      item.lateralOk = false;
      scope.items.push_back(std::move(item));
   }
   RelPtr rel = std::move(target.rel);
   if (from) {
      rel = crossJoin(std::move(rel), bindFrom(scope, from));
   } else {
      for (NamespaceItem& item : scope.items)
         item.lateralOnly = false;
   }
   if (where) {
      if (isNode(where, T_CurrentOfExpr)) throwNotSupported("WHERE CURRENT OF");
      rel = makeSelect(std::move(rel), coerceToBoolean(bindExpr(scope, where, Clause::Where), "WHERE"));
   }
   return from ? oncePerRow(std::move(rel), rowId) : std::move(rel);
}

std::vector<ExprPtr> QueryBinder::bindMultiSource(Scope& scope, const ::Node* source, uint32_t count, RelPtr& rel) {
   std::vector<ExprPtr> values;
   if (isNode(source, T_SubLink) && as<SubLink>(source)->subLinkType == EXPR_SUBLINK) {
      // (a, b) = (SELECT x, y ...): joined to its row, at most one row each.
      auto query = bindSelect(*as<SelectStmt>(as<SubLink>(source)->subselect), &scope);
      requireNoRows(query);
      for (const OutputColumn& output : query.output) {
         adopt(scope, output.column);
         values.push_back(makeColumn(output.column, output.type));
      }
      auto join = std::make_unique<Rel>(RelKind::Join);
      join->joinKind = JoinKind::Single;
      join->dependent = readsColumnsOf(*query.rel, *rel);
      join->inputs.push_back(std::move(rel));
      join->inputs.push_back(std::move(query.rel));
      rel = std::move(join);
   } else if (isNode(source, T_RowExpr)) {
      for (const ::Node* arg : ListOf<>(as<RowExpr>(source)->args))
         values.push_back(isNode(arg, T_SetToDefault) ? nullptr : bindExpr(scope, arg, Clause::UpdateSource));
   } else {
      throw SqlError(sqlstate::featureNotSupported,
                     "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
          .at(startOfNode(source));
   }
   if (values.size() != count)
      throw SqlError(sqlstate::syntaxError, "number of columns does not match number of values")
          .at(startOfNode(source));
   return values;
}

BoundRel QueryBinder::bindUpdate(const ::UpdateStmt& statement) {
   Scope scope(nullptr);
   declareCtes(scope, statement.withClause);
   const auto table = targetTable(*statement.relation, "UPDATE of");
   auto dml = makeDml(*table, *statement.relation);
   auto target = bindTargetTable(scope, *statement.relation, table, dml->rowId);
   for (const GetColumn& column : target.rel->getColumns)
      if (column.attribute != rowIdAttribute) dml->target.push_back(column);
   RelPtr rel = bindTargetRows(scope, std::move(target), statement.fromClause, statement.whereClause, dml->rowId);

   std::vector<ComputedColumn> computed;
   std::vector<const catalog::Column*> assigned;
   std::map<const ::Node*, std::vector<ExprPtr>> multiSources;
   std::vector<std::pair<GetColumn*, ColumnId>> replaced;
   for (const auto* item : ListOf<ResTarget>(statement.targetList)) {
      const uint32_t position = at(item->location);
      const auto& column = catalog::requireColumn(*table, item->name, position);
      if (item->indirection) throwNotSupported("UPDATE of a part of a column", position);
      if (std::find(assigned.begin(), assigned.end(), &column) != assigned.end())
         throw SqlError(sqlstate::syntaxError, "multiple assignments to same column \"" + column.name + "\"");
      assigned.push_back(&column);
      dml->assigned.push_back(column.attribute);
      ExprPtr value;
      if (isNode(item->val, T_MultiAssignRef)) {
         const auto* multi = as<MultiAssignRef>(item->val);
         auto& values = multiSources[multi->source];
         if (multi->colno == 1)
            values = bindMultiSource(scope, multi->source, static_cast<uint32_t>(multi->ncolumns), rel);
         value = std::move(values[static_cast<size_t>(multi->colno - 1)]);
      } else if (!isNode(item->val, T_SetToDefault)) {
         value = bindExpr(scope, item->val, Clause::UpdateSource);
      }
      if (value && (column.generated || column.identity == 'a')) {
         throw SqlError(sqlstate::generatedAlways, "column \"" + column.name + "\" can only be updated to DEFAULT")
             .detail("Column \"" + column.name + "\" is " +
                     (column.generated ? "a generated column." : "an identity column defined as GENERATED ALWAYS."));
      }
      if (!value) {
         if (column.generated) continue; // computed below in any case
         value = defaultOf(*table, column);
      } else {
         value = coerceForAssignment(std::move(value), column.type, column.name, Clause::UpdateSource);
      }
      const ColumnId changed = addColumn(scope, column.name, column.type);
      computed.push_back({changed, std::move(value)});
      for (GetColumn& old : dml->target)
         if (old.attribute == column.attribute) replaced.emplace_back(&old, changed);
   }
   rel = makeMap(std::move(rel), std::move(computed));
   for (const auto& [old, changed] : replaced) {
      // From here on, for RETURNING and constraints, the table's name means the new row.
      for (NamespaceItem& item : scope.items)
         for (ScopeColumn& column : item.columns)
            if (column.column == old->column) column.column = changed;
      columns_[changed].tableOid = table->oid;
      columns_[changed].attribute = old->attribute;
      old->column = changed;
   }
   rel = computeGenerated(scope, std::move(rel), *dml, *table);
   for (const catalog::Column& column : table->columns)
      if (column.generated && !column.isDropped) dml->assigned.push_back(column.attribute);
   for (NamespaceItem& item : scope.items) {
      if (item.relation != table.get()) continue;
      for (ScopeColumn& column : item.columns)
         for (const GetColumn& current : dml->target)
            if (column.attribute == current.attribute && table->column(current.attribute)->generated)
               column.column = current.column;
      break;
   }
   rel = placeCtes(scope, std::move(rel));
   addChecks(*dml, *table);
   BoundRel result;
   result.output = bindReturning(scope, statement.returningList, *dml);
   auto update = std::make_unique<Rel>(RelKind::Update);
   update->inputs.push_back(std::move(rel));
   update->table = dml->table;
   update->dml = std::move(dml);
   result.rel = std::move(update);
   return result;
}

BoundRel QueryBinder::bindDelete(const ::DeleteStmt& statement) {
   Scope scope(nullptr);
   declareCtes(scope, statement.withClause);
   const auto table = targetTable(*statement.relation, "DELETE from");
   auto dml = makeDml(*table, *statement.relation);
   auto target = bindTargetTable(scope, *statement.relation, table, dml->rowId);
   RelPtr rel = bindTargetRows(scope, std::move(target), statement.usingClause, statement.whereClause, dml->rowId);
   rel = placeCtes(scope, std::move(rel));
   BoundRel result;
   result.output = bindReturning(scope, statement.returningList, *dml);
   auto remove = std::make_unique<Rel>(RelKind::Delete);
   remove->inputs.push_back(std::move(rel));
   remove->table = dml->table;
   remove->dml = std::move(dml);
   result.rel = std::move(remove);
   return result;
}

} // namespace ouzel::sql
