#include "engine/query/statement_runner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/env/clock.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/constraint/replica_identity.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/session_services.hpp"
#include "engine/core/trigger_call.hpp"
#include "engine/statement/statement_use.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/relation_place.hpp"
#include "storage/version/write_conflict.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;

namespace {

/// The lock that the statement, and the commands that rules add to it, take on a relation that they write.
LockMode strongestLock(const catalog::Snapshot& snapshot, Oid relation, const sql::BoundQuery& query) {
   LockMode mode = lockForWriting(snapshot, relation, *query.root);
   for (const auto* commands : {&query.before, &query.after})
      for (const sql::BoundQuery& command : *commands)
         mode = std::max(mode, lockForWriting(snapshot, relation, *command.root));
   return mode;
}

} // namespace

sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                               std::span<const Oid> types) {
   const sql::FindCursorPlace cursorPlace = [&](const std::string& cursor, const catalog::Relation& table) {
      return core.services.cursorPlace(cursor, table);
   };
   for (int attempt = 0;; ++attempt) {
      const catalog::SearchPath path = core.searchPath();
      sql::BindContext context = core.bindContext(path, &script.source());
      context.parameterTypes = types;
      context.allowParameters = !types.empty();
      if (!core.isServer()) {
         context.routine = core.routine.function;
         context.givesRoutineRow = core.routine.givesRow;
         context.routineColumns = core.routine.expected;
         context.calledProcedure = core.calledProcedure;
         context.called = core.called;
         context.variables = core.program.variables;
         context.resultTypes = core.program.types;
         context.part = core.program.part;
         context.givesPlaces = core.cursorQuery == &node;
         context.cursorPlace = &cursorPlace;
         if (core.trigger)
            context.transitions = core.trigger->transitions ? &core.trigger->transitions->relations : nullptr;
      }
      sql::BoundQuery query = sql::bindQuery(node, context);
      const catalog::Snapshot bound = core.transaction.catalog();
      for (const Oid relation : query.relations) {
         LockMode mode = LockMode::AccessShare;
         if (std::find(query.rowLocked.begin(), query.rowLocked.end(), relation) != query.rowLocked.end())
            mode = LockMode::RowShare;
         if (query.writes(relation)) mode = strongestLock(bound, relation, query);
         try {
            core.transaction.lock(relation, mode);
         } catch (SqlError& error) {
            const auto named = error.state() == sqlstate::queryCanceled ? nullptr : bound.relation(relation);
            const int32_t place = named ? sql::placeOfRelation(node, named->name) : -1;
            if (place >= 0) error.setPosition(script.source().position(place));
            throw;
         }
      }
      // Under READ COMMITTED the snapshot shows rows that were committed during the wait for locks.
      core.transaction.startStatement();
      const catalog::Snapshot& now = core.transaction.catalog();
      const bool moved =
          bound.version() != now.version() && std::ranges::any_of(query.relations, [&](Oid relation) {
             return bound.relation(relation) != now.relation(relation) || bound.heirs(relation) != now.heirs(relation);
          });
      if (moved && attempt < 10) continue;
      requireAccess(core, query.access);
      requireReplicaIdentities(now, *query.root);
      for (const auto* commands : {&query.before, &query.after})
         for (const sql::BoundQuery& command : *commands)
            requireReplicaIdentities(now, *command.root);
      return query;
   }
}

sql::BoundQuery bindUnderLocks(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                               std::span<const BoundParameter> parameters) {
   const std::vector<Oid> types = parameterTypes(parameters);
   sql::BoundQuery query = bindUnderLocks(core, script, node, types);
   if (!query.hasRules()) substituteParameters(query, parameters);
   return query;
}

namespace {

bool hasWritten(SessionCore& core, QueryExecution& execution, Oid relation) {
   const auto table = core.transaction.catalog().relation(relation);
   return table && execution.hasWritten(*table);
}

/// Check the unique keys of the rows that the statement wrote.
void checkWritten(SessionCore& core, QueryExecution& execution) {
   if (execution.areKeysChecked()) return;
   if (execution.writtenRows() > 0)
      for (const sql::WrittenRelation& written : execution.written())
         if (written.makesRows && hasWritten(core, execution, written.relation))
            checkUniqueKeys(core, written.relation, execution.command(), written.assigned);
   execution.setKeysChecked();
}

} // namespace

std::unique_ptr<QueryExecution> runUntilWritten(SessionCore& core,
                                                const std::function<std::unique_ptr<QueryExecution>()>& make) {
   TransactionContext& transaction = core.transaction;
   std::vector<std::pair<LockTag, LockMode>> queues;
   std::string violated; // the key that made ON CONFLICT run again last
   while (true) {
      std::unique_ptr<QueryExecution> execution = make();
      if (!execution || !execution->writes()) return execution;
      const storage::Transaction::Savepoint savepoint = transaction.storage().mark();
      std::optional<storage::WriteConflict> conflict;
      try {
         if (!execution->triggered().empty()) core.services.fireBefore(*execution);
         execution->finishWriting();
      } catch (const storage::WriteConflict& error) {
         conflict = error;
      }
      if (!conflict && execution->hasConflictClause()) {
         // A key that another transaction committed after the snapshot is a conflict that a new snapshot shows, so the
         // statement runs again. Where the check does not know when the other row was committed, a key that is
         // violated twice, or without any commit since, is a plain violation.
         const auto locked = transaction.lockOwner().position();
         try {
            checkWritten(core, *execution);
         } catch (const SqlError& error) {
            const std::string key = error.constraintName() + error.detailText();
            const bool mayBeLate =
                (error.state() == sqlstate::uniqueViolation || error.state() == sqlstate::exclusionViolation) &&
                key != violated &&
                transaction.storage().snapshot().commitTimestamp != transaction.snapshot().commitTimestamp;
            if (!mayBeLate && !dynamic_cast<const LateViolation*>(&error)) throw;
            if (transaction.isolation() != Isolation::ReadCommitted)
               throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
            violated = key;
            execution.reset();
            transaction.storage().rollbackTo(savepoint, true);
            // The next attempt may wait for a row whose writer waits for the key.
            transaction.locks().releaseTo(transaction.lockOwner(), locked);
            continue;
         }
      }
      if (!conflict) {
         // A statement that waited for rows and then changed none does not hold them: it must not block other waiters.
         if (execution->writtenRows() == 0)
            for (const auto& [tag, mode] : queues)
               transaction.locks().release(transaction.lockOwner(), tag, mode);
         return execution;
      }
      execution.reset();
      if (conflict->holder == 0 && transaction.isolation() != Isolation::ReadCommitted) throw *conflict;
      // Keep the delete marks that the statement has set, so that each attempt gets further.
      transaction.storage().rollbackTo(savepoint, true);
      if (const auto queue = transaction.awaitRow(*conflict)) queues.push_back(*queue);
   }
}

void requirePopulated(SessionCore& core, std::span<const Oid> relations) {
   for (const Oid oid : relations) {
      const auto relation = core.transaction.catalog().relation(oid);
      if (!relation || relation->isPopulated) continue;
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "materialized view \"" + relation->name + "\" has not been populated")
          .hint("Use the REFRESH MATERIALIZED VIEW command.");
   }
}

bool SelectInto::is(const ::Node& statement) {
   return isNode(&statement, T_SelectStmt) && as<::SelectStmt>(&statement)->intoClause;
}

SelectInto::SelectInto(const ::Node& statement)
   : query_(std::make_unique<::SelectStmt>(*as<::SelectStmt>(&statement))),
     create_(std::make_unique<::CreateTableAsStmt>()) {
   create_->type = T_CreateTableAsStmt;
   create_->query = reinterpret_cast<::Node*>(query_.get());
   create_->into = std::exchange(query_->intoClause, nullptr);
   create_->objtype = OBJECT_TABLE;
}

SelectInto::~SelectInto() = default;

const ::IntoClause* intoOf(const ::Node& query) {
   if (!isNode(&query, T_SelectStmt)) return nullptr;
   const auto* select = as<::SelectStmt>(&query);
   while (select->larg)
      select = select->larg;
   return select->intoClause;
}

void refuseInto(const sql::ParsedScript& script, const ::Node& query) {
   if (const ::IntoClause* into = intoOf(query))
      throw SqlError(sqlstate::syntaxError, "SELECT ... INTO is not allowed here")
          .at(script.source().position(into->rel->location));
}

bool isQuery(const sql::ParsedStatement& statement) {
   return sql::isBindable(*statement.node);
}

bool isTransactionControl(const sql::ParsedStatement& statement) {
   return isNode(statement.node, T_TransactionStmt);
}

void requireUsableTransaction(const SessionCore& core, const sql::ParsedStatement& statement) {
   if (isTransactionControl(statement)) {
      const auto kind = as<::TransactionStmt>(statement.node)->kind;
      if (kind == TRANS_STMT_COMMIT || kind == TRANS_STMT_ROLLBACK || kind == TRANS_STMT_ROLLBACK_TO ||
          kind == TRANS_STMT_PREPARE)
         return;
   }
   requireUsableTransaction(core);
}

void requireUsableTransaction(const SessionCore& core) {
   if (core.transaction.hasFailed())
      throw SqlError(sqlstate::inFailedSqlTransaction,
                     "current transaction is aborted, commands ignored until end of transaction block");
}

const char* statementName(sql::StatementKind kind) {
   static constexpr const char* names[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"};
   return names[static_cast<size_t>(kind)];
}

namespace {

/// While it lives, the client's statement is prepared: its query does not run yet. Queries of functions and of the
/// server are a part of how it runs.
class PreparationTime {
public:
   explicit PreparationTime(const SessionCore& core)
      : use_(core.routine.function || core.isServer() ? nullptr : StatementUseScope::current()),
        startNanos_(use_ ? steadyNanos() : 0) {}
   ~PreparationTime() {
      if (use_) use_->preparationNanos += steadyNanos() - startNanos_;
   }
   PreparationTime(const PreparationTime&) = delete;
   PreparationTime& operator=(const PreparationTime&) = delete;

private:
   StatementUse* const use_;
   const int64_t startNanos_;
};

} // namespace

bool changesOnlyTemporary(const SessionCore& core, const sql::BoundQuery& query) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   return std::all_of(query.written.begin(), query.written.end(), [&](const sql::WrittenRelation& written) {
      const catalog::RelationPtr relation = snapshot.relation(written.relation);
      return relation && relation->persistence == catalog::Persistence::Temporary;
   });
}

std::unique_ptr<QueryExecution> planForValues(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                                              std::span<const BoundParameter> parameters, bool& hasRules) {
   const PreparationTime preparation(core);
   AllocationMeter meter(core.database.governor->ledger());
   sql::BoundQuery query = bindUnderLocks(core, script, node, parameters);
   hasRules = query.hasRules();
   if (hasRules) return nullptr;
   requirePopulated(core, query.relations);
   if (!query.rowLocked.empty()) requireWritable(core, std::string("SELECT ") + storage::clauseOf(query.firstLock));
   if (!changesOnlyTemporary(core, query)) requireWritable(core, statementName(query.kind));
   auto execution = std::make_unique<QueryExecution>(core, std::move(query));
   execution->keep(meter.settle());
   return execution;
}

namespace {

/// Runs the commands that rules make of a statement one after the other. The client gets the answer of one of them.
std::unique_ptr<QueryExecution> startByRules(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                                             std::span<const BoundParameter> parameters) {
   std::unique_ptr<QueryExecution> main;
   size_t count = 1;
   for (size_t step = 0; step < count; ++step) {
      bool isMain = false;
      auto execution = runUntilWritten(core, [&] {
         sql::BoundQuery all = bindUnderLocks(core, script, node, parameters);
         count = all.before.size() + 1 + all.after.size();
         isMain = step == all.before.size();
         sql::BoundQuery one = step < all.before.size() ? std::move(all.before[step])
                               : isMain                 ? std::move(all)
                                                        : std::move(all.after[step - all.before.size() - 1]);
         one.before.clear();
         one.after.clear();
         requirePopulated(core, one.relations);
         if (!changesOnlyTemporary(core, one)) requireWritable(core, statementName(one.kind));
         substituteParameters(one, parameters);
         return std::make_unique<QueryExecution>(core, std::move(one));
      });
      if (!isMain) execution->run(0, nullptr);
      finishQuery(core, *execution);
      if (isMain) main = std::move(execution);
   }
   return main;
}

} // namespace

std::unique_ptr<QueryExecution> startQuery(SessionCore& core, const sql::ParsedScript& script, const ::Node& node,
                                           std::span<const BoundParameter> parameters) {
   bool hasRules = false;
   auto execution = runUntilWritten(core, [&] { return planForValues(core, script, node, parameters, hasRules); });
   return hasRules ? startByRules(core, script, node, parameters) : std::move(execution);
}

void finishQuery(SessionCore& core, QueryExecution& execution) {
   if (!execution.writes() || execution.isFinished()) return;
   execution.setFinished();
   checkWritten(core, execution);
   if (!execution.cursor().empty() && execution.isUpdate()) core.services.cursorFollows(execution);
   core.transaction.storage().nextCommand();
   if (execution.writtenRows() > 0) {
      std::vector<sql::WrittenRelation> written = execution.written();
      std::erase_if(written,
                    [&](const sql::WrittenRelation& one) { return !hasWritten(core, execution, one.relation); });
      checkForeignKeys(core, written, &execution.plan(), execution.command());
   }
   if (!execution.triggered().empty()) core.services.fireAfter(execution);
}

} // namespace ouzel::engine
