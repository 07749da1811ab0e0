#include "sql/bind/query/lock_rows.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "sql/algebra/row_keys.hpp"
#include "sql/algebra/table_parts.hpp"
#include "sql/bind/policy/row_security.hpp"

// FOR UPDATE, FOR SHARE, ...: finds the tables whose rows are locked, and refuses queries that do not allow it.

namespace ouzel::sql {

namespace {

storage::LockStrength strengthOf(const ::LockingClause& clause) {
   switch (clause.strength) {
   case LCS_FORKEYSHARE: return storage::LockStrength::KeyShare;
   case LCS_FORSHARE: return storage::LockStrength::Share;
   case LCS_FORNOKEYUPDATE: return storage::LockStrength::NoKeyUpdate;
   default: return storage::LockStrength::Update;
   }
}

const char* nameOf(const ::LockingClause& clause) {
   return storage::clauseOf(strengthOf(clause));
}

LockWaitPolicy policyOf(const ::LockingClause& clause) {
   return clause.waitPolicy == LockWaitSkip    ? LockWaitPolicy::Skip
          : clause.waitPolicy == LockWaitError ? LockWaitPolicy::Error
                                               : LockWaitPolicy::Wait;
}

bool isNamed(const ::LockingClause& clause, const std::string& alias) {
   for (const ::RangeVar* name : ListOf<RangeVar>(clause.lockedRels))
      if (alias == name->relname) return true;
   return !clause.lockedRels;
}

/// Refuses a query, or a subquery in FROM, that makes one row of several rows: such rows cannot be locked.
void refuseGrouped(const Rel& rel, const char* name) {
   const char* what = rel.kind == RelKind::GroupBy
                          ? rel.as<op::GroupBy>().keys.empty() ? "aggregate functions" : "GROUP BY clause"
                      : rel.kind == RelKind::Window   ? "window functions"
                      : rel.kind == RelKind::Distinct ? "DISTINCT clause"
                      : rel.kind == RelKind::SetOp    ? "UNION/INTERSECT/EXCEPT"
                                                      : nullptr;
   if (what) throw SqlError(sqlstate::featureNotSupported, std::string(name) + " is not allowed with " + what);
}

/// Adds a lock and a column of row ids for each table that FROM reads, also in subqueries and views.
void lockTablesBelow(BindState& state, Scope& scope, Rel& rel, const ::LockingClause& clause, bool isNullable,
                     std::vector<RowLock>& locks) {
   checkStack();
   switch (rel.kind) {
   case RelKind::Get: {
      auto& get = rel.as<op::Get>();
      if (!isNamed(clause, get.table.alias)) return;
      if (isNullable)
         throw SqlError(sqlstate::featureNotSupported,
                        std::string(nameOf(clause)) + " cannot be applied to the nullable side of an outer join");
      const auto relation = state.context.catalog.relation(get.table.relation);
      if (relation && relation->relationKind == catalog::RelationKind::MaterializedView)
         throw SqlError(sqlstate::wrongObjectType, "cannot lock rows in materialized view \"" + relation->name + "\"");
      ColumnId rowId = noColumn;
      for (const GetColumn& column : get.columns)
         if (column.attribute == rowIdAttribute) rowId = column.column;
      if (rowId == noColumn) {
         rowId = state.addColumn(scope, "rowid", {oid::int8, -1, invalidOid});
         state.columns[rowId].nullable = false;
         get.columns.push_back({rowId, rowIdAttribute});
      }
      for (RowLock& lock : locks)
         if (lock.rowId == rowId) {
            lock.wait = std::max(lock.wait, policyOf(clause));
            lock.strength = std::max(lock.strength, strengthOf(clause));
            return;
         }
      locks.push_back({get.table, rowId, policyOf(clause)});
      locks.back().strength = strengthOf(clause);
      locks.back().keys = rowKeys(state.context.catalog, get.table);
      if (state.rowLocked.empty()) state.firstLock = strengthOf(clause);
      for (const GetColumn& column : get.columns)
         if (column.attribute == tableOidAttribute) locks.back().tableOid = column.column;
      if (get.table.parts)
         for (const TablePart& part : get.table.parts->parts)
            state.rowLocked.push_back(part.relation->oid);
      state.rowLocked.push_back(get.table.relation);
      for (RelationAccess& access : state.access.all) // in whose name it is read, it is locked
         if (access.relation == get.table.relation) access.privileges |= catalog::privilege::update;
      return;
   }
   case RelKind::Join: {
      const JoinKind kind = rel.as<op::Join>().kind;
      const bool left = kind == JoinKind::Right || kind == JoinKind::Full;
      const bool right = kind == JoinKind::Left || kind == JoinKind::Full;
      lockTablesBelow(state, scope, *rel.inputs[0], clause, isNullable || left, locks);
      if (kind == JoinKind::Inner || right || left)
         lockTablesBelow(state, scope, *rel.inputs[1], clause, isNullable || right, locks);
      return;
   }
   case RelKind::Barrier: {
      const size_t before = locks.size();
      lockTablesBelow(state, scope, *rel.inputs[0], clause, isNullable, locks);
      const Rel* scan = rel.inputs[0].get();
      while (scan->kind == RelKind::Select)
         scan = scan->inputs[0].get();
      if (const auto* get = scan->getIf<op::Get>(); get && locks.size() > before)
         restrictLocked(state, scope, rel, *get);
      return;
   }
   case RelKind::Select:
   case RelKind::Map:
   case RelKind::ProjectSet:
   case RelKind::Sort:
   case RelKind::Limit:
   case RelKind::LockRows:
   case RelKind::With: return lockTablesBelow(state, scope, *rel.inputs[0], clause, isNullable, locks);
   default:
      if (!clause.lockedRels) refuseGrouped(rel, nameOf(clause));
      return; // the rows come from no table
   }
}

/// Locks need the privilege to UPDATE what they name.
void noteLocked(BindState& state, const Scope& scope, const ::LockingClause& clause) {
   for (const NamespaceItem& item : scope.items) {
      bool isMeant = !clause.lockedRels;
      for (const auto* table : ListOf<RangeVar>(clause.lockedRels))
         isMeant = isMeant || item.alias == textOf(table->relname);
      if (isMeant && item.relation) state.access.of(item.relation->oid).privileges |= catalog::privilege::update;
   }
}

} // namespace

RelPtr lockRows(BindState& state, Scope& scope, const ::SelectStmt& select, RelPtr rel) {
   const ListOf<LockingClause> clauses(select.lockingClause);
   const auto refuse = [&](const char* with) {
      throw SqlError(sqlstate::featureNotSupported,
                     std::string(nameOf(*clauses.front())) + " is not allowed with " + with);
   };
   if (select.distinctClause) refuse("DISTINCT clause");
   if (select.groupClause) refuse("GROUP BY clause");
   if (select.havingClause) refuse("HAVING clause");
   const Rel* top = rel.get();
   while (top->kind == RelKind::Map || top->kind == RelKind::Select || top->kind == RelKind::Sort ||
          top->kind == RelKind::Barrier)
      top = top->inputs[0].get();
   refuseGrouped(*top, nameOf(*clauses.front()));
   std::vector<RowLock> locks;
   for (const auto* clause : clauses) {
      for (const auto* table : ListOf<RangeVar>(clause->lockedRels)) {
         const bool known = std::any_of(scope.items.begin(), scope.items.end(), [&](const NamespaceItem& item) {
            return item.hasVisibleName && item.alias == table->relname;
         });
         if (!known)
            throw SqlError(sqlstate::undefinedTable, "relation \"" + std::string(table->relname) + "\" in " +
                                                         nameOf(*clause) + " clause not found in FROM clause")
                .at(state.at(table->location));
      }
      noteLocked(state, scope, *clause);
      const size_t before = locks.size();
      lockTablesBelow(state, scope, *rel, *clause, false, locks);
      if (clause->lockedRels && locks.size() == before)
         throwNotSupported(std::string(nameOf(*clause)) + " of what is not a table");
   }
   if (locks.empty()) return rel;
   return makeRel(RelKind::LockRows, op::LockRows{std::move(locks)}, std::move(rel));
}

} // namespace ouzel::sql
