#include "sql/bind/dml/on_conflict.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/update.hpp"
#include "sql/bind/dml/view_check.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/coercion.hpp"

// INSERT ... ON CONFLICT joins proposed rows with the stored rows that have the same keys. A CASE over the result of
// the join computes the number of the clause for each row. The operator that writes finds rows of one statement that
// share a key.

namespace ouzel::sql {

namespace {

constexpr int insertClause = 1, updateClause = 2,
              refuseClause = 3; ///< indexes of Dml::actions; 0 is DmlAction::Nothing

ColumnId columnOf(const std::vector<GetColumn>& columns, int16_t attribute) {
   for (const GetColumn& column : columns)
      if (column.attribute == attribute) return column.column;
   return noColumn;
}

[[noreturn]] void throwDeferrable() {
   throw SqlError(sqlstate::objectNotInPrerequisiteState,
                  "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters");
}

Dml::ConflictKey keyOf(const catalog::Relation& table, const catalog::Relation& index) {
   const auto* constraint = table.constraintOf(index.oid);
   if (constraint && constraint->isDeferrable) throwDeferrable();
   if (!index.index->expressions.empty() || !index.index->predicate.empty())
      throwNotSupported("ON CONFLICT with a unique index over expressions or a part of the rows");
   return {index.index->columns, index.index->nullsNotDistinct};
}

std::vector<Dml::ConflictKey> inferArbiters(BindState& state, Scope& scope, const ::OnConflictClause& clause,
                                            const catalog::Relation& table, const ViewTarget* view) {
   std::vector<Dml::ConflictKey> keys;
   const auto indexes = state.context.catalog.indexesOf(table.oid);
   if (!clause.infer) {
      if (clause.action == ONCONFLICT_UPDATE)
         throw SqlError(sqlstate::syntaxError,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name")
             .at(state.at(clause.location))
             .hint("For example, ON CONFLICT (column_name).");
      for (const auto& index : indexes)
         if (index->index->isUnique || index->index->isPrimary) keys.push_back(keyOf(table, *index));
      return keys;
   }
   const ::InferClause& infer = *clause.infer;
   if (infer.conname) {
      const catalog::Relation& named = view ? *view->view : table;
      const auto* constraint = named.findConstraint(infer.conname);
      if (!constraint)
         throw SqlError(sqlstate::undefinedObject, "constraint \"" + std::string(infer.conname) + "\" for table \"" +
                                                       named.name + "\" does not exist");
      for (const auto& index : indexes)
         if (index->oid == constraint->index) keys.push_back(keyOf(table, *index));
      if (keys.empty())
         throw SqlError(sqlstate::wrongObjectType, "constraint in ON CONFLICT clause has no associated index");
      return keys;
   }
   const auto refuse = [&](const char* what) {
      throw SqlError(sqlstate::invalidColumnReference, std::string(what) + " is not allowed in ON CONFLICT clause")
          .at(state.at(infer.location));
   };
   std::vector<int16_t> attributes;
   bool canMatch = true;
   for (const auto* element : ListOf<IndexElem>(infer.indexElems)) {
      if (element->ordering != SORTBY_DEFAULT) refuse("ASC/DESC");
      if (element->nulls_ordering != SORTBY_NULLS_DEFAULT) refuse("NULLS FIRST/LAST");
      if (!element->name) {
         bindExpr(state, scope, element->expr, Clause::Index);
         canMatch = false; // no unique index has expressions
         continue;
      }
      const auto* column = (view ? *view->view : table).findColumn(element->name);
      if (!column)
         throw SqlError(sqlstate::undefinedColumn, "column \"" + std::string(element->name) + "\" does not exist")
             .at(state.at(infer.location));
      if (view) {
         state.access.of(view->view->oid).selected.push_back(column->attribute);
         column = columnBehind(*view, *column);
      }
      if (!column) {
         canMatch = false; // the view computes it
         continue;
      }
      if (element->collation) {
         const auto* collation = catalog::builtins().findCollation(stringOf(ListOf<>(element->collation).back()));
         canMatch = canMatch && collation && collation->oid == column->type.collation;
      }
      if (std::find(attributes.begin(), attributes.end(), column->attribute) == attributes.end())
         attributes.push_back(column->attribute);
   }
   if (infer.whereClause) coerceToBoolean(state, bindExpr(state, scope, infer.whereClause, Clause::Index), "WHERE");
   std::sort(attributes.begin(), attributes.end());
   for (const auto& index : indexes) {
      if (!canMatch || !(index->index->isUnique || index->index->isPrimary)) continue;
      if (!index->index->expressions.empty() || !index->index->predicate.empty()) continue;
      auto columns = index->index->columns;
      std::sort(columns.begin(), columns.end());
      if (columns != attributes) continue;
      // Several indexes over the same columns find the same rows, except for NULLS NOT DISTINCT.
      auto key = keyOf(table, *index);
      if (keys.empty()) {
         keys.push_back(std::move(key));
      } else {
         keys[0].nullsNotDistinct = keys[0].nullsNotDistinct || key.nullsNotDistinct;
      }
   }
   if (keys.empty())
      throw SqlError(sqlstate::invalidColumnReference,
                     "there is no unique or exclusion constraint matching the ON CONFLICT specification");
   return keys;
}

/// Whether the stored row that a proposed one meets passes the policies, and the views show it, as an expression over
/// columns that are computed above `rel`; null: there are neither. The checks that say which one it fails go to `dml`.
/// `stored`: the table's columns.
ExprPtr storedPasses(BindState& state, Scope& scope, const TargetPolicies& policies, const ConflictView* view,
                     const std::vector<GetColumn>& stored, ColumnId rowId, RelPtr& rel, Dml& dml) {
   dml.storedChecks = policies.conflictChecks(state, scope);
   if (view) append(dml.storedChecks, visibilityChecks(state, scope, view->target, stored, rel));
   if (dml.storedChecks.empty()) return nullptr;
   const SqlType boolean{oid::boolean, -1, invalidOid};
   std::vector<ComputedColumn> computed;
   std::vector<ExprPtr> all;
   for (Dml::Check& check : dml.storedChecks) {
      auto holds = makeTyped(ExprKind::Case, boolean); // nothing is asked of a row that is not there
      holds->args.push_back(makeTest(ExprKind::IsNotNull, makeColumn(rowId, state.columns[rowId].type)));
      holds->args.push_back(std::move(check.expr));
      holds->args.push_back(makeBoolean(true));
      const ColumnId column = state.addColumn(scope, "policy", boolean);
      computed.push_back({column, std::move(holds)});
      check.expr = makeColumn(column, boolean);
      all.push_back(clone(*check.expr));
   }
   rel = makeMap(std::move(rel), std::move(computed));
   return makeAnd(std::move(all));
}

} // namespace

RelPtr bindOnConflict(BindState& state, Scope& scope, const ::InsertStmt& statement, const catalog::RelationPtr& table,
                      RelPtr rel, Dml& dml, TargetPolicies& policies, const ConflictView* view) {
   const ::OnConflictClause& clause = *statement.onConflictClause;
   const bool isUpdate = clause.action == ONCONFLICT_UPDATE;
   Dml scanned;
   // A table from which others inherit has a unique index over its own rows only.
   ::RangeVar name = *statement.relation;
   name.inh = name.inh && table->partitionKey.has_value();
   FromItem target = bindTargetTable(state, scope, name, table, scanned);
   ColumnId rowId = scanned.rowId;
   state.columns[rowId].nullable = true;
   {
      scope.items.push_back(view ? view->item : target.items[0]);
      dml.conflictKeys = inferArbiters(state, scope, clause, *table, view ? &view->target : nullptr);
      scope.items.clear();
   }
   const Oid role = view ? view->target.role : state.access.role;
   if (clause.infer) {
      policies.noteRead(state);
      // Which keys are taken is something that only those may find out who may read them.
      if (view) state.access.of(view->target.view->oid).privileges |= catalog::privilege::select;
      RelationAccess& access = state.access.of(table->oid, role);
      access.privileges |= catalog::privilege::select;
      for (const Dml::ConflictKey& key : dml.conflictKeys)
         access.selected.insert(access.selected.end(), key.attributes.begin(), key.attributes.end());
   }
   if (isUpdate) state.access.of(table->oid, role).privileges |= catalog::privilege::update;
   dml.checks = checksOf(state, *table, dml.target);
   if (dml.conflictKeys.empty()) { // nothing can conflict
      if (view) append(dml.checks, viewChecks(state, scope, view->target, dml.target, rel));
      return rel;
   }
   state.hasConflictClause = true;
   dml.conflict = isUpdate ? ConflictAction::Update : ConflictAction::Nothing;
   dml.actions = {DmlAction::Nothing, DmlAction::Insert, DmlAction::Update, DmlAction::Refuse};
   dml.proposed = dml.target;
   dml.proposedChecks = std::exchange(dml.checks, {});

   const auto joinOn = [&](const Dml::ConflictKey& key, RelPtr get) {
      std::vector<ExprPtr> equal;
      for (const int16_t attribute : key.attributes) {
         const ColumnId proposed = columnOf(dml.proposed, attribute),
                        stored = columnOf(get->as<op::Get>().columns, attribute);
         equal.push_back(makeCompare(key.nullsNotDistinct ? CompareOp::IsNotDistinctFrom : CompareOp::Eq,
                                     makeColumn(proposed, state.columns[proposed].type),
                                     makeColumn(stored, state.columns[stored].type)));
      }
      get->as<op::Get>().seesWith = true;
      rel = makeJoin(JoinKind::Left, std::move(rel), std::move(get), makeAnd(std::move(equal)));
   };
   const auto isFound = [&](ColumnId id) {
      return makeTest(ExprKind::IsNotNull, makeColumn(id, state.columns[id].type));
   };
   const ColumnId number = state.addColumn(scope, "clause", clauseType);
   dml.clause = number;
   const auto choose = [&](std::vector<ExprPtr> args) {
      auto choice = makeTyped(ExprKind::Case, clauseType);
      choice->args = std::move(args);
      std::vector<ComputedColumn> computed;
      computed.push_back({number, std::move(choice)});
      rel = makeMap(std::move(rel), std::move(computed));
   };

   // The row proposed for insertion has to satisfy the views' checks if it is inserted.
   const auto checkProposed = [&] {
      if (!view) return;
      for (Dml::Check& check : viewChecks(state, scope, view->target, dml.proposed, rel)) {
         auto holds = makeTyped(ExprKind::Case, check.expr->type);
         holds->args.push_back(makeCompare(CompareOp::Eq, makeColumn(number, clauseType), clauseNumber(insertClause)));
         holds->args.push_back(std::move(check.expr));
         holds->args.push_back(makeBoolean(true));
         check.expr = std::move(holds);
         dml.proposedChecks.push_back(std::move(check));
      }
   };

   if (!isUpdate) {
      std::vector<ExprPtr> found, args;
      for (size_t i = 0; i < dml.conflictKeys.size(); ++i) {
         if (i > 0) target = bindTargetTable(state, scope, name, table, scanned);
         rowId = scanned.rowId;
         state.columns[rowId].nullable = true;
         joinOn(dml.conflictKeys[i], std::move(target.rel));
         found.push_back(isFound(rowId));
      }
      args.push_back(makeOr(std::move(found)));
      args.push_back(clauseNumber(0));
      args.push_back(clauseNumber(insertClause));
      choose(std::move(args));
      checkProposed();
      return rel;
   }

   dml.rowId = rowId;
   dml.tableOid = scanned.tableOid;
   std::vector<GetColumn> old;
   for (const GetColumn& column : target.rel->as<op::Get>().columns)
      if (column.attribute > 0) old.push_back(column);
   policies.setStored(old);
   joinOn(dml.conflictKeys[0], std::move(target.rel));
   NamespaceItem excluded = view ? view->item : target.items[0];
   excluded.alias = "excluded";
   excluded.isAliased = true;
   // `excluded` has the names of the table or view, not those of the alias.
   for (const catalog::Column& column : view ? view->target.view->columns : table->columns)
      for (ScopeColumn& shown : excluded.columns)
         if (shown.attribute == column.attribute) shown.name = column.name;
   if (view) {
      target.items[0] = view->item;
      rel = showView(state, scope, std::move(rel), view->target, old, target.items[0]);
      rel = showView(state, scope, std::move(rel), view->target, dml.proposed, excluded);
   } else {
      showRow(excluded, *table, dml.proposed);
   }
   for (const ScopeColumn& column : excluded.columns) // they come from the query of INSERT ... SELECT
      state.adopt(scope, column.column);
   addEntry(scope, excluded);
   policies.watch(target.items[0]);
   scope.items.push_back(std::move(target.items[0]));
   scope.items.push_back(std::move(excluded));
   ExprPtr passes = storedPasses(state, scope, policies, view, old, rowId, rel, dml);
   ExprPtr changes = isFound(rowId);
   if (passes) changes = conjunction(std::move(changes), clone(*passes));
   auto assignments =
       bindAssignments(state, scope, clause.targetList, *table, rel, changes.get(), view ? &view->target : nullptr);
   for (const Assignment& assignment : assignments)
      dml.assigned.push_back(assignment.attribute);
   for (const catalog::Column& column : table->columns)
      if (column.generated && !column.isDropped) dml.assigned.push_back(column.attribute);
   std::vector<ExprPtr> args;
   args.push_back(makeNot(isFound(rowId)));
   args.push_back(clauseNumber(insertClause));
   if (passes) {
      args.push_back(makeNot(std::move(passes)));
      args.push_back(clauseNumber(refuseClause));
   }
   if (clause.whereClause) {
      args.push_back(coerceToBoolean(state, bindExpr(state, scope, clause.whereClause, Clause::Where), "WHERE"));
      args.push_back(clauseNumber(updateClause));
      args.push_back(clauseNumber(0));
   } else {
      args.push_back(clauseNumber(updateClause));
   }
   choose(std::move(args));
   checkProposed();

   // The row to write: the proposed row, or the stored row with its changes. Rows that are not written take the stored
   // values, so that no assignment is computed for them.
   std::vector<ComputedColumn> computed;
   const auto is = [&](int wanted) {
      return makeCompare(CompareOp::Eq, makeColumn(number, clauseType), clauseNumber(wanted));
   };
   for (GetColumn& written : dml.target) {
      const catalog::Column& column = *table->column(written.attribute);
      auto value = makeTyped(ExprKind::Case, column.type);
      value->args.push_back(is(insertClause));
      value->args.push_back(makeColumn(written.column, column.type));
      for (Assignment& assignment : assignments) {
         if (assignment.attribute != written.attribute) continue;
         value->args.push_back(is(updateClause));
         value->args.push_back(std::move(assignment.value));
      }
      value->args.push_back(makeColumn(columnOf(old, written.attribute), column.type));
      written.column = state.addColumn(scope, column.name, column.type);
      state.columns[written.column].tableOid = table->oid;
      state.columns[written.column].attribute = written.attribute;
      computed.push_back({written.column, std::move(value)});
   }
   rel = makeMap(std::move(rel), std::move(computed));
   rel = computeGenerated(state, scope, std::move(rel), dml, *table);
   dml.checks = checksOf(state, *table, dml.target);
   if (view) append(dml.checks, viewChecks(state, scope, view->target, dml.target, rel));
   return rel;
}

} // namespace ouzel::sql
