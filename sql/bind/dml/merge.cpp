#include "sql/bind/dml/merge.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/dml/dml.hpp"
#include "sql/bind/dml/insert.hpp"
#include "sql/bind/dml/triggers.hpp"
#include "sql/bind/dml/update.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/cte.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/coercion.hpp"

// MERGE joins the source with the target. A CASE over the WHEN clauses computes the number of the clause that applies
// to a row. The columns of the new row are CASEs over that number.

namespace ouzel::sql {

namespace {

/// Refuses a clause after an unconditional clause of the same kind (matched or not matched): no row reaches it.
void checkReachable(const ListOf<MergeWhenClause>& clauses) {
   bool isTaken[2] = {};
   for (const auto* clause : clauses) {
      if (isTaken[clause->matched])
         throw SqlError(sqlstate::syntaxError, "unreachable WHEN clause specified after unconditional WHEN clause");
      isTaken[clause->matched] = !clause->condition;
   }
}

/// The values that an INSERT or UPDATE clause gives to columns of the new row.
struct ClauseRow {
   int number;
   bool isInsert;
   std::vector<std::pair<int16_t, ExprPtr>> values;
};

} // namespace

namespace {

/// BEFORE ROW triggers, each for the rows of the clauses with its event.
RelPtr fireForClauses(BindState& state, Scope& scope, RelPtr rel, const catalog::Relation& table,
                      const std::vector<GetColumn>& old, Dml& dml) {
   namespace bit = catalog::trigger_bit;
   const TableParts* parts = dml.table.parts.get();
   for (const auto& [action, event] :
        {std::pair(DmlAction::Insert, bit::insert), std::pair(DmlAction::Update, bit::update),
         std::pair(DmlAction::Delete, bit::del)}) {
      std::vector<int> clauses;
      for (size_t i = 0; i < dml.actions.size(); ++i)
         if (dml.actions[i] == action) clauses.push_back(static_cast<int>(i));
      if (clauses.empty() || !hasRowTriggers(state, table, parts, event, dml.assigned)) continue;
      RowOnItsWay row{event,
                      event == bit::insert ? nullptr : &old,
                      event == bit::del ? nullptr : &dml.target,
                      dml.tableOid,
                      dml.clause,
                      clauses};
      row.assigned = dml.assigned;
      rel = fireRowTriggers(state, scope, std::move(rel), table, parts, row);
   }
   return rel;
}

} // namespace

BoundRel bindMerge(BindState& state, const ::MergeStmt& statement, Scope* parent) {
   Scope scope(parent);
   if (statement.withClause && statement.withClause->recursive)
      throw SqlError(sqlstate::syntaxError, "WITH RECURSIVE is not supported for MERGE statement");
   declareCtes(state, scope, statement.withClause);
   const ListOf<MergeWhenClause> clauses(statement.mergeWhenClauses);
   checkReachable(clauses);
   const auto table = targetTable(state, *statement.relation, "MERGE");
   auto dml = makeDml(state, *table, statement.relation);
   FromItem source = bindFromItem(state, scope, statement.sourceRelation);
   FromItem target = bindTargetTable(state, scope, *statement.relation, table, *dml);
   for (const NamespaceItem& item : source.items)
      if (item.hasVisibleName && item.alias == target.items[0].alias)
         throw SqlError(sqlstate::duplicateAlias, "name \"" + item.alias + "\" specified more than once")
             .detail("The name is used both as MERGE target table and data source.");
   std::vector<GetColumn> old;
   for (const GetColumn& column : target.rel->as<op::Get>().columns)
      if (column.attribute > 0) old.push_back(column);
   TargetPolicies policies(state, table, state.access.role);
   policies.setStored(old);
   policies.watch(target.items[0]);
   target.rel = policies.guard(std::move(target.rel));

   // The target is the first item, so that `see` can hide it from clauses for rows without a match.
   std::vector<NamespaceItem> both = target.items;
   both.insert(both.end(), source.items.begin(), source.items.end());
   const auto see = [&](bool matched) {
      scope.items = both;
      if (!matched) scope.items.erase(scope.items.begin());
   };
   see(true);
   bool hasInserts = false;
   for (const auto* clause : clauses)
      hasInserts = hasInserts || !clause->matched;
   op::Join join;
   join.kind = hasInserts ? JoinKind::Left : JoinKind::Inner;
   if (hasInserts) state.columns[dml->rowId].nullable = true;
   join.predicate = coerceToBoolean(state, bindExpr(state, scope, statement.joinCondition, Clause::JoinOn), "JOIN/ON");
   RelPtr rel = makeRel(RelKind::Join, std::move(join), std::move(source.rel), std::move(target.rel));

   const auto matched = [&] {
      return makeTest(ExprKind::IsNotNull, makeColumn(dml->rowId, state.columns[dml->rowId].type));
   };
   auto choice = makeTyped(ExprKind::Case, clauseType);
   dml->actions = {DmlAction::Nothing};
   std::vector<ClauseRow> written;
   bool hasDeletes = false;
   for (const auto* clause : clauses) {
      see(clause->matched);
      std::vector<ExprPtr> conditions;
      if (hasInserts) conditions.push_back(clause->matched ? matched() : makeNot(matched()));
      if (clause->condition)
         conditions.push_back(
             coerceToBoolean(state, bindExpr(state, scope, clause->condition, Clause::MergeWhen), "WHEN"));
      int number = 0;
      if (clause->commandType != CMD_NOTHING) {
         number = static_cast<int>(dml->actions.size());
         dml->actions.push_back(clause->commandType == CMD_INSERT   ? DmlAction::Insert
                                : clause->commandType == CMD_UPDATE ? DmlAction::Update
                                                                    : DmlAction::Delete);
      }
      hasDeletes = hasDeletes || clause->commandType == CMD_DELETE;
      if (clause->commandType == CMD_DELETE) state.access.of(table->oid).privileges |= catalog::privilege::del;
      if (clause->commandType == CMD_UPDATE) {
         const auto condition = matched();
         ClauseRow& row = written.emplace_back(ClauseRow{number, false, {}});
         for (Assignment& assignment :
              bindAssignments(state, scope, clause->targetList, *table, rel, condition.get())) {
            dml->assigned.push_back(assignment.attribute);
            row.values.emplace_back(assignment.attribute, std::move(assignment.value));
         }
         for (const catalog::Column& column : table->columns)
            if (column.generated && !column.isDropped) dml->assigned.push_back(column.attribute);
      } else if (clause->commandType == CMD_INSERT) {
         ClauseRow& row = written.emplace_back(ClauseRow{number, true, {}});
         const auto columns = insertColumns(state, clause->targetList, *table);
         noteInserted(state, *table, columns, columns.size());
         for (const InsertColumn& column : columns)
            if (column.indirection) throwNotSupported("INSERT of a part of a column in MERGE", column.position);
         std::vector<ExprPtr> values;
         if (clause->values)
            values = bindInsertValues(state, scope, clause->values, columns, clause->targetList != nullptr,
                                      clause->override, *table);
         for (size_t i = 0; i < values.size(); ++i)
            row.values.emplace_back(columns[i].column->attribute, std::move(values[i]));
      }
      choice->args.push_back(makeAnd(std::move(conditions)));
      choice->args.push_back(clauseNumber(number));
   }
   choice->args.push_back(clauseNumber(0));
   if (!scope.srfs.empty())
      throw SqlError(sqlstate::featureNotSupported, "set-valued function called in context that cannot accept a set")
          .at(scope.srfs[0].call->position);

   // Rows to which no clause applies are dropped here, so that no values are computed for them.
   dml->clause = state.addColumn(scope, "clause", clauseType);
   const auto number = [&] { return makeColumn(dml->clause, clauseType); };
   std::vector<ComputedColumn> computed;
   computed.push_back({dml->clause, std::move(choice)});
   rel = makeMap(std::move(rel), std::move(computed));
   rel = makeSelect(std::move(rel), makeCompare(CompareOp::Ne, number(), clauseNumber(0)));

   computed.clear();
   for (const catalog::Column& column : table->columns) {
      if (column.isDropped || written.empty()) continue;
      auto value = makeTyped(ExprKind::Case, column.type);
      for (size_t i = 0; i < written.size(); ++i) {
         ClauseRow& row = written[i];
         ExprPtr own;
         for (auto& [attribute, expr] : row.values)
            if (attribute == column.attribute) own = std::move(expr);
         if (!own && row.isInsert) own = column.generated ? makeNull(column.type) : defaultOf(state, *table, column);
         if (!own)
            for (const GetColumn& stored : old)
               if (stored.attribute == column.attribute) own = makeColumn(stored.column, column.type);
         // The last clause needs no test, unless a DELETE clause makes rows that match no clause of `written`.
         if (hasDeletes || i + 1 < written.size())
            value->args.push_back(makeCompare(CompareOp::Eq, number(), clauseNumber(row.number)));
         value->args.push_back(std::move(own));
      }
      const ColumnId changed = state.addColumn(scope, column.name, column.type);
      state.columns[changed].tableOid = table->oid;
      state.columns[changed].attribute = column.attribute;
      if (value->args.size() == 1) {
         ExprPtr only = std::move(value->args[0]);
         value = std::move(only);
      }
      computed.push_back({changed, std::move(value)});
      dml->target.push_back({changed, column.attribute});
   }
   rel = makeMap(std::move(rel), std::move(computed));
   if (!written.empty())
      for (const GetColumn& stored : old) // of heirs only
         if (static_cast<size_t>(stored.attribute) > table->columns.size()) dml->target.push_back(stored);
   rel = fireForClauses(state, scope, std::move(rel), *table, old, *dml);
   if (!written.empty()) {
      rel = computeGenerated(state, scope, std::move(rel), *dml, *table);
      dml->checks = checksOf(state, *table, dml->target);
      setParts(state, table, *dml);
   }
   return finishDml(state, scope, RelKind::Merge, std::move(rel), std::move(dml), nullptr, policies);
}

} // namespace ouzel::sql
