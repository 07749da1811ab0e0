#include "sql/bind/dml/on_conflict.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/dml/arbiters.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/dml/update.hpp"
#include "sql/bind/dml/view_check.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/operator.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/query/stored_row.hpp"
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

/// The columns of a key that are columns of the row.
Dml::ConflictKey plainKey(const Arbiter& arbiter) {
   return {arbiter.definition().columns, arbiter.nullsNotDistinct};
}

/// The collation by which values of key column `i` are equal, if it is not deterministic; else null.
const IcuCollation* keyCollation(BindState& state, const Arbiter& arbiter, size_t i) {
   if (!arbiter.definition().hasCollationKeys) return nullptr;
   const Oid oid = arbiter.index->columns.at(i).type.collation;
   state.noteCollation(oid);
   const IcuCollation* collation = state.columns.collations.find(oid);
   return collation && !collation->isDeterministic ? collation : nullptr;
}

/// Computes the key of the proposed rows above `rel`.
Dml::ConflictKey computedKey(BindState& state, Scope& scope, const catalog::Relation& table, const Arbiter& arbiter,
                             const std::vector<GetColumn>& proposed, RelPtr& rel) {
   const catalog::IndexDefinition& index = arbiter.definition();
   Dml::ConflictKey key{{}, arbiter.nullsNotDistinct};
   std::vector<ComputedColumn> computed;
   const auto add = [&](ExprPtr expr) {
      const ColumnId column = state.addColumn(scope, "key", expr->type);
      computed.push_back({column, std::move(expr)});
      return column;
   };
   if (!index.predicate.empty())
      key.guard = add(coerceToBoolean(
          state, bindOverTarget(state, table, proposed, index.predicate, Clause::IndexPredicate), "WHERE"));
   size_t expression = 0;
   for (size_t i = 0; i < index.columns.size(); ++i) {
      const int16_t attribute = index.columns[i];
      if (attribute != 0 && !keyCollation(state, arbiter, i)) {
         key.columns.push_back(columnOf(proposed, attribute));
         continue;
      }
      ExprPtr expr;
      if (attribute != 0)
         expr = makeColumn(columnOf(proposed, attribute), state.columns[columnOf(proposed, attribute)].type);
      else
         expr = bindOverTarget(state, table, proposed, index.expressions.at(expression++), Clause::Index);
      if (const IcuCollation* collation = keyCollation(state, arbiter, i))
         expr = makeCollationKey(std::move(expr), *collation);
      if (key.guard != noColumn) { // rows that are not in the index must not raise its errors
         auto guarded = makeTyped(ExprKind::Case, expr->type);
         guarded->args.push_back(makeColumn(key.guard, state.columns[key.guard].type));
         guarded->args.push_back(std::move(expr));
         guarded->args.push_back(makeNull(guarded->type));
         expr = std::move(guarded);
      }
      key.columns.push_back(add(std::move(expr)));
   }
   if (key.guard != noColumn && computed.size() > 1) { // what is computed reads the guard
      std::vector<ComputedColumn> guard;
      guard.push_back(std::move(computed[0]));
      computed.erase(computed.begin());
      rel = makeMap(std::move(rel), std::move(guard));
   }
   rel = makeMap(std::move(rel), std::move(computed));
   return key;
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
   scope.items.push_back(view ? view->item : target.items[0]);
   const std::vector<Arbiter> arbiters =
       inferArbiters(state, scope, clause, *table, target.rel->as<op::Get>().columns, view ? &view->target : nullptr);
   scope.items.clear();
   const Oid role = view ? view->target.role : state.access.role;
   if (clause.infer) {
      policies.noteRead(state);
      // Which keys are taken is something that only those may find out who may read them.
      if (view) state.access.of(view->target.view->oid).privileges |= catalog::privilege::select;
      RelationAccess& access = state.access.of(table->oid, role);
      access.privileges |= catalog::privilege::select;
      for (const Arbiter& arbiter : arbiters)
         for (const auto* read : {&arbiter.definition().columns, &arbiter.definition().reads})
            for (const int16_t attribute : *read)
               if (attribute != 0) access.selected.push_back(attribute);
   }
   if (isUpdate) state.access.of(table->oid, role).privileges |= catalog::privilege::update;
   dml.checks = checksOf(state, *table, dml.target);
   if (arbiters.empty()) { // nothing can conflict
      if (view) append(dml.checks, viewChecks(state, scope, view->target, dml.target, rel));
      return rel;
   }
   state.hasConflictClause = true;
   dml.conflict = isUpdate ? ConflictAction::Update : ConflictAction::Nothing;
   dml.actions = {DmlAction::Nothing, DmlAction::Insert, DmlAction::Update, DmlAction::Refuse};
   dml.proposed = dml.target;
   dml.proposedChecks = std::exchange(dml.checks, {});
   std::vector<Dml::ConflictKey> keys;
   for (const Arbiter& arbiter : arbiters) {
      keys.push_back(arbiter.definition().isComputed() ? computedKey(state, scope, *table, arbiter, dml.proposed, rel)
                                                       : plainKey(arbiter));
      if (arbiter.isOfEqual()) dml.conflictKeys.push_back(keys.back());
   }

   const auto joinOn = [&](size_t number, RelPtr get) {
      const Dml::ConflictKey& key = keys[number];
      const catalog::IndexDefinition& index = arbiters[number].definition();
      const std::vector<GetColumn>& columns = get->as<op::Get>().columns;
      std::vector<ExprPtr> equal;
      if (key.guard != noColumn) {
         equal.push_back(makeColumn(key.guard, state.columns[key.guard].type));
         // Of the scan, so that the key is computed of no row that is not in the index.
         get->as<op::Get>().predicate = coerceToBoolean(
             state, bindOverTarget(state, *table, columns, index.predicate, Clause::IndexPredicate), "WHERE");
      }
      for (size_t i = 0, expression = 0; i < index.columns.size(); ++i) {
         const int16_t attribute = index.columns[i];
         const ColumnId proposed = key.columns.empty() ? columnOf(dml.proposed, attribute) : key.columns[i];
         const ColumnId column = columnOf(columns, attribute);
         ExprPtr stored =
             attribute != 0 ? makeColumn(column, state.columns[column].type)
                            : bindOverTarget(state, *table, columns, index.expressions.at(expression++), Clause::Index);
         if (const IcuCollation* collation = keyCollation(state, arbiters[number], i))
            stored = makeCollationKey(std::move(stored), *collation);
         ExprPtr own = makeColumn(proposed, state.columns[proposed].type);
         const std::string_view op = arbiters[number].operatorName(i);
         equal.push_back(op == "=" ? makeCompare(key.nullsNotDistinct ? CompareOp::IsNotDistinctFrom : CompareOp::Eq,
                                                 std::move(own), std::move(stored))
                                   : makeOperator(state, op, std::move(own), std::move(stored), 0));
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
      for (size_t i = 0; i < keys.size(); ++i) {
         if (i > 0) target = bindTargetTable(state, scope, name, table, scanned);
         rowId = scanned.rowId;
         state.columns[rowId].nullable = true;
         joinOn(i, std::move(target.rel));
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
   joinOn(0, std::move(target.rel));
   NamespaceItem excluded = view ? view->item : target.items[0];
   excluded.alias = "excluded";
   excluded.isAliased = true;
   excluded.relation = nullptr; // it has no system columns
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
   if (hasRowTriggers(state, *table, dml.table.parts.get(), catalog::trigger_bit::update, dml.assigned)) {
      constexpr int clauses[] = {updateClause};
      RowOnItsWay row{catalog::trigger_bit::update, &old, &dml.target, dml.tableOid, dml.clause, clauses};
      row.assigned = dml.assigned;
      rel = fireRowTriggers(state, scope, std::move(rel), *table, dml.table.parts.get(), row);
   }
   rel = computeGenerated(state, scope, std::move(rel), dml, *table);
   dml.checks = checksOf(state, *table, dml.target);
   if (view) append(dml.checks, viewChecks(state, scope, view->target, dml.target, rel));
   return rel;
}

} // namespace ouzel::sql
