#include "sql/bind/dml/update.hpp"

#include <algorithm>
#include <map>

#include "sql/algebra/build.hpp"
#include "sql/bind/dml/current_of.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/instead.hpp"
#include "sql/bind/dml/rule_binding.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/dml/view_check.hpp"
#include "sql/bind/dml/view_target.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/names.hpp"
#include "sql/bind/expression/part_assignment.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/expression/star.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/select.hpp"
#include "sql/bind/type/coercion.hpp"

// UPDATE and DELETE: a query over the target table finds the rows and gives their row ids.

namespace ouzel::sql {

namespace {

RelPtr bindTargetRows(BindState& state, Scope& scope, FromItem target, const ::List* from, const ::Node* where,
                      RuleBinding* rule) {
   for (NamespaceItem& item : target.items) {
      item.lateralOnly = true; // FROM does not see the target
      item.lateralOk = false;
      scope.items.push_back(std::move(item));
   }
   RelPtr rel = std::move(target.rel);
   if (rule) { // subqueries in FROM see OLD and NEW
      showRuleRows(state, scope, *rule);
      rel = besideRuleRows(*rule, std::move(rel));
   }
   if (from) {
      rel = crossJoin(std::move(rel), bindFrom(state, scope, from));
   } else {
      for (NamespaceItem& item : scope.items)
         item.lateralOnly = false;
   }
   if (where) {
      rel = makeSelect(std::move(rel),
                       isNode(where, T_CurrentOfExpr)
                           ? isCurrentRow(state, scope, *as<::CurrentOfExpr>(where))
                           : coerceToBoolean(state, bindExpr(state, scope, where, Clause::Where), "WHERE"));
   }
   return rel; // the DML operator writes a row once, even if FROM gives its row id several times
}

/// Binds the values of `(a, b) = ...`. A subquery is joined to `rel` for rows where `condition` is true (null: all
/// rows).
std::vector<ExprPtr> bindMultiSource(BindState& state, Scope& scope, const ::Node* source, uint32_t count, RelPtr& rel,
                                     const Expr* condition) {
   std::vector<ExprPtr> values;
   if (isNode(source, T_SubLink) && as<SubLink>(source)->subLinkType == EXPR_SUBLINK) {
      // (a, b) = (SELECT x, y ...): a join that allows at most one row of the subquery for each row of `rel`.
      auto query = bindSelect(state, *as<SelectStmt>(as<SubLink>(source)->subselect), &scope);
      makeRowsValues(state, scope.depth + 1, query);
      for (const OutputColumn& output : query.output) {
         state.adopt(scope, output.column);
         values.push_back(makeColumn(output.column, output.type));
      }
      op::Join join;
      join.kind = JoinKind::Single;
      if (condition) join.predicate = clone(*condition);
      join.dependent = readsColumnsOf(*query.rel, *rel);
      rel = makeRel(RelKind::Join, std::move(join), std::move(rel), std::move(query.rel));
   } else if (isNode(source, T_RowExpr)) {
      const ClauseGuard guard(scope, Clause::UpdateSource);
      for (const ::Node* arg : ListOf<>(as<RowExpr>(source)->args)) {
         if (expands(arg))
            appendExpanded(state, scope, arg, values);
         else
            values.push_back(isNode(arg, T_SetToDefault) ? nullptr : bindExpr(state, scope, arg));
      }
   } else {
      throw SqlError(sqlstate::featureNotSupported,
                     "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
          .at(state.startOfNode(source));
   }
   if (values.size() != count)
      throw SqlError(sqlstate::syntaxError, "number of columns does not match number of values")
          .at(state.startOfNode(source));
   return values;
}

/// The policies of the target. `view`: null if it is a table.
TargetPolicies guardTarget(BindState& state, const catalog::RelationPtr& table, const ViewTarget* view,
                           FromItem& target) {
   TargetPolicies policies(state, table, view ? view->role : state.access.role);
   std::vector<GetColumn> stored;
   for (const GetColumn& column : view ? view->old : target.rel->as<op::Get>().columns)
      if (column.attribute > 0) stored.push_back(column);
   policies.setStored(std::move(stored));
   policies.watch(target.items[0]);
   if (view)
      policies.guardView(view->barrier);
   else
      target.rel = policies.guard(std::move(target.rel));
   return policies;
}

void setRowIds(Dml& dml, const ViewTarget& view) {
   dml.rowId = view.rowId;
   dml.tableOid = view.tableOid;
   dml.table.parts = view.parts;
}

/// A column of the row that is updated. The target is the first item.
ExprPtr oldValue(const Scope& scope, const catalog::Column& column, uint32_t position) {
   for (const ScopeColumn& old : scope.items.front().columns)
      if (old.attribute == column.attribute) return referTo(old, position);
   throwInternal("a column of the target is not in scope");
}

} // namespace

std::vector<Assignment> bindAssignments(BindState& state, Scope& scope, const ::List* list,
                                        const catalog::Relation& table, RelPtr& rel, const Expr* condition,
                                        const ViewTarget* view) {
   std::vector<Assignment> assignments;
   std::vector<const catalog::Column*> assigned, parts;
   std::map<const ::Node*, std::vector<ExprPtr>> multiSources;
   for (const auto* item : ListOf<ResTarget>(list)) {
      const uint32_t position = state.at(item->location);
      if (!view && isSystemColumn(item->name))
         throw SqlError(sqlstate::featureNotSupported,
                        "cannot assign to system column \"" + std::string(item->name) + '"')
             .at(position);
      const auto& named = catalog::requireColumn(view ? *view->view : table, item->name, position);
      const auto* behind = view ? columnBehind(*view, named) : &named;
      if (!behind) refuseViewColumn(*view, named, condition ? "insert into" : "update");
      const catalog::Column& column = *behind;
      RelationAccess& access = state.access.of(view ? view->view->oid : table.oid);
      access.privileges |= catalog::privilege::update;
      access.updated.push_back(named.attribute);
      if (view) state.access.of(table.oid, view->role).updated.push_back(column.attribute);
      const bool isRepeated = std::find(assigned.begin(), assigned.end(), &column) != assigned.end();
      if (item->indirection ? isRepeated && std::find(parts.begin(), parts.end(), &column) == parts.end() : isRepeated)
         throw SqlError(sqlstate::syntaxError, "multiple assignments to same column \"" + column.name + "\"");
      assigned.push_back(&column);
      if (item->indirection) parts.push_back(&column);
      ExprPtr value;
      if (isNode(item->val, T_MultiAssignRef)) {
         const auto* multi = as<MultiAssignRef>(item->val);
         auto& values = multiSources[multi->source];
         if (multi->colno == 1)
            values =
                bindMultiSource(state, scope, multi->source, static_cast<uint32_t>(multi->ncolumns), rel, condition);
         value = std::move(values[static_cast<size_t>(multi->colno - 1)]);
      } else if (!isNode(item->val, T_SetToDefault)) {
         value = bindExpr(state, scope, item->val, Clause::UpdateSource);
      }
      if (value && (column.generated || column.identity == 'a')) {
         throw SqlError(sqlstate::generatedAlways, "column \"" + column.name + "\" can only be updated to DEFAULT")
             .detail("Column \"" + column.name + "\" is " +
                     (column.generated ? "a generated column." : "an identity column defined as GENERATED ALWAYS."));
      }
      if (item->indirection) {
         if (!value) throwNotSupported("DEFAULT for a part of a column", position);
         // The first part is assigned to the old value, each other one to what those before have made of it.
         const auto before = std::find_if(assignments.begin(), assignments.end(),
                                          [&](const Assignment& other) { return other.attribute == column.attribute; });
         const bool isFirst = before == assignments.end();
         ExprPtr base = isFirst ? oldValue(scope, named, position) : std::move(before->value);
         value =
             bindPartAssignment(state, scope, column, std::move(base), std::move(value), item->indirection, position);
         if (!isFirst) {
            before->value = std::move(value);
            continue;
         }
      } else if (!value) {
         if (column.generated) continue; // computeGenerated computes it
         // Of a view the default is its own, or NULL, whatever the table behind it says.
         value = view && !column.identity ? defaultOf(state, *view->view, named) : defaultOf(state, table, column);
      } else {
         value = coerceForAssignment(state, std::move(value), column.type, column.name, Clause::UpdateSource);
      }
      assignments.push_back({column.attribute, std::move(value)});
   }
   for (Assignment& assignment : assignments) // a domain checks what all its parts make
      for (const catalog::Column* column : parts)
         if (column->attribute == assignment.attribute && column->type.domain && !assignment.value->type.domain)
            assignment.value = intoDomain(std::move(assignment.value), column->type);
   return assignments;
}

RelPtr bindUpdatedRows(BindState& state, Scope& scope, const ::Node& statement, const catalog::RelationPtr& table,
                       RuleBinding* rule, std::vector<GetColumn>& before, std::vector<GetColumn>& after) {
   const bool isUpdate = isNode(&statement, T_UpdateStmt);
   const auto* update = isUpdate ? as<UpdateStmt>(&statement) : nullptr;
   const auto* remove = isUpdate ? nullptr : as<DeleteStmt>(&statement);
   FromItem target =
       bindFromItem(state, scope, reinterpret_cast<const ::Node*>(update ? update->relation : remove->relation));
   for (const ScopeColumn& column : target.items[0].columns)
      before.push_back({column.column, column.attribute});
   RelPtr rel = bindTargetRows(state, scope, std::move(target), update ? update->fromClause : remove->usingClause,
                               update ? update->whereClause : remove->whereClause, rule);
   if (!update) return rel;
   after = before;
   std::vector<ComputedColumn> computed;
   for (Assignment& assignment : bindAssignments(state, scope, update->targetList, *table, rel, nullptr, nullptr)) {
      const auto* column = table->column(assignment.attribute);
      const ColumnId changed = state.addColumn(scope, column->name, column->type);
      computed.push_back({changed, std::move(assignment.value)});
      for (GetColumn& value : after)
         if (value.attribute == assignment.attribute) value.column = changed;
   }
   return makeMap(std::move(rel), std::move(computed));
}

namespace {

RelPtr fireForUpdate(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table,
                     const std::vector<GetColumn>& stored, Dml& dml) {
   const TableParts* parts = dml.table.parts.get();
   RowOnItsWay row{catalog::trigger_bit::update, &stored, &dml.target, dml.tableOid};
   row.assigned = dml.assigned;
   rel = fireRowTriggers(state, scope, std::move(rel), table, parts, row);
   return fireForMoves(state, scope, std::move(rel), table, stored, dml);
}

} // namespace

BoundRel bindUpdate(BindState& state, const ::UpdateStmt& statement, Scope* parent) {
   RuleBinding* rule = std::exchange(state.rule, nullptr);
   Scope scope(parent);
   declareCtes(state, scope, statement.withClause);
   auto table = targetTable(state, *statement.relation, "UPDATE of");
   if (!rule) refuseRules(*table, catalog::RuleEvent::Update);
   if (hasInsteadTriggers(state, *table, catalog::trigger_bit::update))
      return bindInstead(state, scope, *reinterpret_cast<const ::Node*>(&statement), table);
   ViewTarget view;
   FromItem target;
   std::unique_ptr<Dml> dml;
   const bool isView = table->relationKind == catalog::RelationKind::View;
   if (isView) {
      target = bindTargetView(state, scope, *statement.relation, table, "UPDATE", view);
      table = view.table;
      dml = makeDml(state, *table, statement.relation);
      setRowIds(*dml, view);
   } else {
      dml = makeDml(state, *table, statement.relation);
      target = bindTargetTable(state, scope, *statement.relation, table, *dml);
   }
   TargetPolicies policies = guardTarget(state, table, isView ? &view : nullptr, target);
   dml->target = policies.stored();
   RelPtr rel = bindTargetRows(state, scope, std::move(target), statement.fromClause, statement.whereClause, rule);

   std::vector<ComputedColumn> computed;
   for (Assignment& assignment :
        bindAssignments(state, scope, statement.targetList, *table, rel, nullptr, isView ? &view : nullptr)) {
      const auto* column = table->column(assignment.attribute);
      const ColumnId changed = state.addColumn(scope, column->name, column->type);
      state.columns[changed].tableOid = table->oid;
      state.columns[changed].attribute = assignment.attribute;
      dml->assigned.push_back(assignment.attribute);
      computed.push_back({changed, std::move(assignment.value)});
      for (GetColumn& old : dml->target)
         if (old.attribute == assignment.attribute) old.column = changed;
   }
   rel = makeMap(std::move(rel), std::move(computed));
   rel = fireForUpdate(state, scope, std::move(rel), *table, policies.stored(), *dml);
   rel = computeGenerated(state, scope, std::move(rel), *dml, *table);
   for (const catalog::Column& column : table->columns)
      if (column.generated && !column.isDropped) dml->assigned.push_back(column.attribute);
   if (rule && !isView) rel = withoutExcluded(state, *rule, *table, std::move(rel), policies.stored(), dml->target);
   // In RETURNING the table's name means the new row. The target is the first item.
   if (isView) {
      rel = showView(state, scope, std::move(rel), view, dml->target, scope.items.front());
   } else {
      showRow(scope.items.front(), *table, dml->target);
   }
   dml->checks = checksOf(state, *table, dml->target);
   setParts(state, table, *dml);
   if (isView) append(dml->checks, viewChecks(state, scope, view, dml->target, rel));
   return finishDml(state, scope, RelKind::Update, std::move(rel), std::move(dml), statement.returningList, policies,
                    rule);
}

BoundRel bindDelete(BindState& state, const ::DeleteStmt& statement, Scope* parent) {
   RuleBinding* rule = std::exchange(state.rule, nullptr);
   Scope scope(parent);
   declareCtes(state, scope, statement.withClause);
   auto table = targetTable(state, *statement.relation, "DELETE from");
   if (!rule) refuseRules(*table, catalog::RuleEvent::Delete);
   if (hasInsteadTriggers(state, *table, catalog::trigger_bit::del))
      return bindInstead(state, scope, *reinterpret_cast<const ::Node*>(&statement), table);
   ViewTarget view;
   FromItem target;
   std::unique_ptr<Dml> dml;
   if (table->relationKind == catalog::RelationKind::View) {
      target = bindTargetView(state, scope, *statement.relation, table, "DELETE", view);
      table = view.table;
      dml = makeDml(state, *table, statement.relation);
      setRowIds(*dml, view);
   } else {
      dml = makeDml(state, *table, statement.relation);
      target = bindTargetTable(state, scope, *statement.relation, table, *dml);
   }
   const TargetPolicies policies = guardTarget(state, table, view.table ? &view : nullptr, target);
   RelPtr rel = bindTargetRows(state, scope, std::move(target), statement.usingClause, statement.whereClause, rule);
   if (rule && !view.table) rel = withoutExcluded(state, *rule, *table, std::move(rel), policies.stored(), {});
   rel = fireRowTriggers(state, scope, std::move(rel), *table, dml->table.parts.get(),
                         {catalog::trigger_bit::del, &policies.stored(), nullptr, dml->tableOid});
   return finishDml(state, scope, RelKind::Delete, std::move(rel), std::move(dml), statement.returningList, policies,
                    rule);
}

} // namespace ouzel::sql
