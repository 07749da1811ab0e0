#include "engine/session/session_impl.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/text/number_text.hpp"
#include "common/thread/interruption.hpp"
#include "engine/command/command.hpp"
#include "engine/constraint/deferred_constraints.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/database/database.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/event_trigger/event_trigger.hpp"
#include "engine/definition/extension/extension.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/foreign/foreign_table.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/language/language.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/owned.hpp"
#include "engine/definition/publication/publication.hpp"
#include "engine/definition/rule/rule.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/program/call.hpp"
#include "engine/program/run_program.hpp"
#include "engine/program/run_routine.hpp"
#include "engine/program/xml/xml_mapping.hpp"
#include "engine/query/external_files.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/relation/relation.hpp"
#include "engine/role/default_privileges.hpp"
#include "engine/role/grant.hpp"
#include "engine/role/policy.hpp"
#include "engine/role/role.hpp"
#include "engine/trigger/command_events.hpp"
#include "engine/trigger/fire.hpp"
#include "sql/parse/fingerprint.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/string_syntax.hpp"

// Scripts of the simple protocol, and the dispatch by kind of statement. extended.cpp has prepared statements and
// portals.

namespace ouzel::engine {

using sql::as;
using sql::isNode;

std::unique_ptr<Backend> openSession(Database& database, const SessionOptions& options, NoticeSink& notices) {
   Database::Internals& internals = database.internals();
   const catalog::Snapshot snapshot = internals.catalog->newest();
   const auto role = snapshot.findRole(options.user);
   if (!role)
      throw SqlError(sqlstate::invalidAuthorizationSpecification, "role \"" + options.user + "\" does not exist");
   if (!role->canLogin)
      throw SqlError(sqlstate::invalidAuthorizationSpecification,
                     "role \"" + options.user + "\" is not permitted to log in");
   const auto found = snapshot.findDatabase(options.database);
   if (!found) throw SqlError(sqlstate::undefinedDatabase, "database \"" + options.database + "\" does not exist");
   if (!found->allowsConnections)
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "database \"" + options.database + "\" is not currently accepting connections");
   if (!catalog::mayUse(snapshot.inDatabase(found->oid), role->oid, *found, catalog::privilege::connect))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied for database \"" + options.database + "\"")
          .detail("User does not have CONNECT privilege.");
   SessionOptions inDatabase = options;
   inDatabase.databaseOid = found->oid;
   return std::make_unique<SessionImpl>(internals, inDatabase, notices);
}

std::vector<std::vector<Value>> SessionImpl::query(const std::string& sql) {
   return runInternal(core_, sql);
}

void SessionImpl::modify(const std::string& sql) {
   runModification(core_, sql);
}

namespace {

/// Throws the rows of a command in a function away.
class NoRows final : public ResultSink {
public:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch&) override {}
};

} // namespace

/// How programs run their statements that are no queries.
RunCommand SessionImpl::runsCommands() {
   return [this](const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                 std::span<const BoundParameter> parameters, ResultSink* sink) {
      if (isTransactionControl(statement))
         throw SqlError(sqlstate::featureNotSupported, "EXECUTE of transaction commands is not implemented");
      NoRows nowhere;
      runCommand(script, statement, parameters, sink ? *sink : nowhere);
      core_.transaction.storage().nextCommand();
   };
}

std::vector<std::string> SessionImpl::runRoutine(Oid routine, std::string_view args) {
   if (!isSessionThread()) // a check of a domain, which workers make
      throwNotSupported("calling a function that is more than a query, here");
   if (isXmlMapping(routine)) return {runXmlMapping(core_, routine, args)};
   return engine::runRoutine(core_, routine, args, runsCommands());
}

std::optional<std::string> SessionImpl::runRowTrigger(const executor::RowTriggerCall& call) {
   return engine::runRowTrigger(core_, call, runsCommands());
}

void SessionImpl::fireBefore(QueryExecution& query) {
   engine::fireBefore(core_, query, runsCommands());
}

void SessionImpl::fireAfter(QueryExecution& query) {
   engine::fireAfter(core_, query, runsCommands());
}

void SessionImpl::fireDeferred(const TransactionContext::DeferredTrigger& trigger) {
   engine::fireDeferred(core_, trigger, runsCommands());
}

void SessionImpl::fireTruncate(std::span<const catalog::RelationPtr> tables, bool isBefore) {
   engine::fireTruncate(core_, tables, isBefore, runsCommands());
}

void SessionImpl::fireRewrite(const catalog::Relation& table, int32_t reason) {
   engine::fireRewrite(core_, table, reason, runsCommands());
}

void SessionImpl::runDeferredChecks() {
   engine::runDeferredChecks(core_);
}

void SessionImpl::endTemporaryRows() {
   engine::endTemporaryRows(core_);
}

io::ExternalTablePtr SessionImpl::openExternalTable(std::string_view function, const io::ExternalRequest& request) {
   return engine::openExternalTable(core_, function, request);
}

namespace {

/// What a statement needs of its transaction before it begins.
enum class Needs : uint8_t { Nothing, Objects, Snapshot };

Needs needsOf(const ::Node& node) {
   switch (nodeTag(&node)) {
   case T_VariableSetStmt: return setsRole(*as<::VariableSetStmt>(&node)) ? Needs::Objects : Needs::Nothing;
   case T_TransactionStmt:
   case T_VariableShowStmt: return Needs::Nothing;
   case T_LockStmt:
   case T_ConstraintsSetStmt:
   case T_FetchStmt:
   case T_UnlistenStmt:
   case T_CheckPointStmt: return Needs::Objects;
   default: return Needs::Snapshot;
   }
}

} // namespace

void SessionImpl::beginStatement(const sql::ParsedScript& script, const sql::ParsedStatement& statement) {
   core_.statementBegins();
   requireUsableTransaction(core_, statement);
   // The text of a script is that of all its statements, and is told once.
   beginActivity(&statement == &script.statements()[0] ? script.source().text() : std::string_view());
   switch (needsOf(*statement.node)) {
   case Needs::Nothing: break;
   case Needs::Objects: core_.transaction.startCommand(); break;
   case Needs::Snapshot: core_.transaction.startStatement(); break;
   }
}

sql::ParsedScript SessionImpl::parseCharged(std::string_view text, MemoryCharge& memory) {
   const sql::StringSyntax syntax(core_.settings.value("standard_conforming_strings") != "off");
   if (!isLong(text)) return sql::ParsedScript::parse(text);
   core_.statementBegins();
   const Interruptible interruptible(core_.interruptCheck);
   AllocationMeter meter(ledger());
   sql::ParsedScript script = sql::ParsedScript::parse(text);
   memory = meter.settle();
   return script;
}

void SessionImpl::beginQuery(std::string_view text) {
   core_.statementBegins();
   requireUsableTransaction(core_);
   beginActivity(text);
   core_.transaction.startStatement();
}

namespace {
/// Bytes of a statement that pg_stat_activity shows: PostgreSQL's default of track_activity_query_size, less a
/// terminating zero; a character stays whole.
size_t shownBytes(std::string_view text) {
   constexpr size_t bytesMax = 1023;
   if (text.size() <= bytesMax) return text.size();
   size_t bytes = bytesMax;
   while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
      --bytes;
   return bytes;
}
} // namespace

void SessionImpl::beginActivity(std::string_view text) {
   core_.checkInterrupts();
   thread_ = std::this_thread::get_id();
   core_.statementStart = wallClockMicros();
   core_.transaction.ensureStarted();
   core_.statementStart = std::max(core_.statementStart, core_.transaction.startTime());
   DCHECK(core_.transaction.isOpen());
   if (!text.empty()) core_.requestText = text;
   core_.reportActivity("active", std::string(text.substr(0, shownBytes(text))));
}

std::string SessionImpl::runStatement(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                      std::span<const BoundParameter> parameters, ResultSink& sink) {
   const Interruptible interruptible(core_.interruptCheck);
   beginStatement(script, statement);
   if (!isQuery(statement)) {
      std::string tag = runCommand(script, statement, parameters, sink, true);
      if (core_.transaction.isOpen()) core_.transaction.storage().nextCommand();
      return tag;
   }
   if (SelectInto::is(*statement.node)) {
      const SelectInto creation(*statement.node);
      CommandContext context{core_, script, statement, parameters, sink};
      prepareEditor();
      const RunCommand runsTriggers = runsCommands();
      CommandEvents events(core_, *statement.node, runsTriggers);
      if (events.areWatched()) events.begin();
      std::string tag = createTableAs(context, creation.statement());
      if (events.areWatched()) events.end();
      core_.transaction.storage().nextCommand();
      return tag;
   }
   const auto execution = startQuery(core_, script, *statement.node, parameters);
   // The client gets no row of RETURNING before all checks have passed.
   if (execution->writes()) finishQuery(core_, *execution);
   execution->run(0, &sink);
   return execution->tag();
}

/// Whose names and objects the catalog's editor makes.
void SessionImpl::prepareEditor() {
   if (!core_.transaction.isOpen()) return;
   core_.transaction.editor().setSearchPath(core_.searchPath());
   core_.transaction.editor().setCreator(core_.role());
}

std::string SessionImpl::runCommand(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                    std::span<const BoundParameter> parameters, ResultSink& sink, bool isTopLevel) {
   CommandContext context{core_, script, statement, parameters, sink, isTopLevel};
   prepareEditor();
   const RunCommand runsTriggers = runsCommands();
   CommandEvents events(core_, *statement.node, runsTriggers);
   if (!events.areWatched()) return dispatch(context);
   events.begin();
   std::string tag = dispatch(context);
   events.end();
   return tag;
}

// Dispatches by kind of statement. Long because there are many kinds.
std::string SessionImpl::dispatch(CommandContext& context) {
   const sql::ParsedScript& script = context.script;
   const sql::ParsedStatement& statement = context.statement;
   const std::span<const BoundParameter> parameters = context.parameters;
   ResultSink& sink = context.sink;
   const ::Node* node = statement.node;
   switch (nodeTag(node)) {
   case T_TransactionStmt: return controlTransaction(context, *as<::TransactionStmt>(node));
   case T_VariableSetStmt: return setVariable(context, *as<::VariableSetStmt>(node));
   case T_VariableShowStmt: return showVariable(context, *as<::VariableShowStmt>(node));
   case T_CreateStmt: return createTable(context, *as<::CreateStmt>(node));
   case T_CreateTableAsStmt: return runCreateTableAs(context, *as<::CreateTableAsStmt>(node));
   case T_CompositeTypeStmt: return createCompositeType(context, *as<::CompositeTypeStmt>(node));
   case T_CreateEnumStmt: return createEnum(context, *as<::CreateEnumStmt>(node));
   case T_CreateRangeStmt: return createRange(context, *as<::CreateRangeStmt>(node));
   case T_AlterEnumStmt: return alterEnum(context, *as<::AlterEnumStmt>(node));
   case T_CreateDomainStmt: return createDomain(context, *as<::CreateDomainStmt>(node));
   case T_AlterDomainStmt: return alterDomain(context, *as<::AlterDomainStmt>(node));
   case T_ViewStmt: return createView(context, *as<::ViewStmt>(node));
   case T_CreateSchemaStmt:
      return createSchema(context, *as<::CreateSchemaStmt>(node), [&](const sql::ParsedStatement& element) {
         CommandContext part{core_, script, element, parameters, sink};
         prepareEditor();
         dispatch(part);
         core_.transaction.storage().nextCommand();
      });
   case T_CreateExtensionStmt:
      return createExtension(context, *as<::CreateExtensionStmt>(node),
                             [&](const sql::ParsedScript& made, const sql::ParsedStatement& element) {
                                runCommand(made, element, {}, sink);
                                core_.transaction.storage().nextCommand();
                             });
   case T_AlterExtensionStmt: return alterExtension(context, *as<::AlterExtensionStmt>(node));
   case T_AlterExtensionContentsStmt: return alterExtension(context, *as<::AlterExtensionContentsStmt>(node));
   case T_IndexStmt: return createIndex(context, *as<::IndexStmt>(node));
   case T_CreateFunctionStmt: return createFunction(context, *as<::CreateFunctionStmt>(node));
   case T_CreatePLangStmt: return createLanguage(context, *as<::CreatePLangStmt>(node));
   case T_CreateEventTrigStmt: return createEventTrigger(context, *as<::CreateEventTrigStmt>(node));
   case T_AlterEventTrigStmt: return alterEventTrigger(context, *as<::AlterEventTrigStmt>(node));
   case T_CreatePublicationStmt: return createPublication(context, *as<::CreatePublicationStmt>(node));
   case T_AlterPublicationStmt: return alterPublication(context, *as<::AlterPublicationStmt>(node));
   case T_CreateTrigStmt: return createTrigger(context, *as<::CreateTrigStmt>(node));
   case T_CreateStatsStmt: return createStatistics(context, *as<::CreateStatsStmt>(node));
   case T_AlterStatsStmt: return alterStatistics(context, *as<::AlterStatsStmt>(node));
   case T_DefineStmt:
      if (as<::DefineStmt>(node)->kind == OBJECT_OPERATOR) return createOperator(context, *as<::DefineStmt>(node));
      if (as<::DefineStmt>(node)->kind == OBJECT_TYPE) return createShell(context, *as<::DefineStmt>(node));
      if (as<::DefineStmt>(node)->kind == OBJECT_AGGREGATE) return createAggregate(context, *as<::DefineStmt>(node));
      if (textSearchKind(as<::DefineStmt>(node)->kind)) return createTextSearch(context, *as<::DefineStmt>(node));
      if (as<::DefineStmt>(node)->kind != OBJECT_COLLATION) throwNotSupported(commandTag(node));
      return createCollation(context, *as<::DefineStmt>(node));
   case T_CreateCastStmt: return createCast(context, *as<::CreateCastStmt>(node));
   case T_AlterTSDictionaryStmt: return alterDictionary(context, *as<::AlterTSDictionaryStmt>(node));
   case T_AlterTSConfigurationStmt: return alterConfiguration(context, *as<::AlterTSConfigurationStmt>(node));
   case T_AlterCollationStmt: return refreshCollation(context, *as<::AlterCollationStmt>(node));
   case T_DropStmt: return dropObjects(context, *as<::DropStmt>(node));
   case T_TruncateStmt: return truncateTables(context, *as<::TruncateStmt>(node));
   case T_AlterTableStmt: return alterTable(context, *as<::AlterTableStmt>(node));
   case T_RenameStmt: return renameObject(context, *as<::RenameStmt>(node));
   case T_AlterObjectSchemaStmt: return alterSchema(context, *as<::AlterObjectSchemaStmt>(node));
   case T_AlterOwnerStmt: return alterOwner(context, *as<::AlterOwnerStmt>(node));
   case T_CommentStmt: return commentOn(context, *as<::CommentStmt>(node));
   case T_CreateRoleStmt: return createRole(context, *as<::CreateRoleStmt>(node));
   case T_AlterRoleStmt: return alterRole(context, *as<::AlterRoleStmt>(node));
   case T_DropRoleStmt: return dropRole(context, *as<::DropRoleStmt>(node));
   case T_RuleStmt: return createRule(context, *as<::RuleStmt>(node));
   case T_CreatePolicyStmt: return createPolicy(context, *as<::CreatePolicyStmt>(node));
   case T_AlterPolicyStmt: return alterPolicy(context, *as<::AlterPolicyStmt>(node));
   case T_CreateForeignTableStmt: return createForeignTable(context, *as<::CreateForeignTableStmt>(node));
   case T_ImportForeignSchemaStmt: return importForeignSchema(context, *as<::ImportForeignSchemaStmt>(node));
   case T_CreateFdwStmt: return createWrapper(context, *as<::CreateFdwStmt>(node));
   case T_AlterFdwStmt: return alterWrapper(context, *as<::AlterFdwStmt>(node));
   case T_CreateForeignServerStmt: return createServer(context, *as<::CreateForeignServerStmt>(node));
   case T_AlterForeignServerStmt: return alterServer(context, *as<::AlterForeignServerStmt>(node));
   case T_CreateUserMappingStmt: return createUserMapping(context, *as<::CreateUserMappingStmt>(node));
   case T_AlterUserMappingStmt: return alterUserMapping(context, *as<::AlterUserMappingStmt>(node));
   case T_DropUserMappingStmt: return dropUserMapping(context, *as<::DropUserMappingStmt>(node));
   case T_GrantRoleStmt: return grantRole(context, *as<::GrantRoleStmt>(node));
   case T_ReassignOwnedStmt: return reassignOwned(context, *as<::ReassignOwnedStmt>(node));
   case T_DropOwnedStmt: return dropOwned(context, *as<::DropOwnedStmt>(node));
   case T_AlterRoleSetStmt: return alterRoleSettings(context, *as<::AlterRoleSetStmt>(node));
   case T_CreatedbStmt: return createDatabase(context, *as<::CreatedbStmt>(node));
   case T_DropdbStmt: return dropDatabase(context, *as<::DropdbStmt>(node));
   case T_AlterDatabaseStmt: return alterDatabase(context, *as<::AlterDatabaseStmt>(node));
   case T_AlterDatabaseRefreshCollStmt:
      return refreshDatabaseCollation(context, *as<::AlterDatabaseRefreshCollStmt>(node));
   case T_AlterDatabaseSetStmt: return alterDatabaseSettings(context, *as<::AlterDatabaseSetStmt>(node));
   case T_DoStmt: return runDo(context, *as<::DoStmt>(node), runsCommands(), mayEndTransactions(context));
   case T_CallStmt: return callProcedure(context, *as<::CallStmt>(node), runsCommands());
   case T_ExplainStmt: return runExplain(context, *as<::ExplainStmt>(node));
   case T_CopyStmt: return copy(context, *as<::CopyStmt>(node));
   case T_VacuumStmt: return vacuum(context, *as<::VacuumStmt>(node));
   case T_CheckPointStmt: return checkpoint(context);
   case T_LoadStmt: return load(context, *as<::LoadStmt>(node));
   case T_ReindexStmt: return reindex(context, *as<::ReindexStmt>(node));
   case T_ClusterStmt: return cluster(context, *as<::ClusterStmt>(node));
   case T_PrepareStmt: return prepareSql(script, statement);
   case T_ExecuteStmt: return executeSql(script, statement, sink);
   case T_DeallocateStmt: return deallocate(*node);
   case T_DeclareCursorStmt: return declareCursor(script, statement, parameters);
   case T_FetchStmt: return fetch(*node, sink);
   case T_ClosePortalStmt: return closeCursors(*node);
   case T_DiscardStmt: return discard(*node);
   case T_ConstraintsSetStmt: return setConstraints(context, *as<::ConstraintsSetStmt>(node));
   case T_LockStmt: return lockTables(context, *as<::LockStmt>(node));
   case T_CreateSeqStmt: return createSequence(context, *as<::CreateSeqStmt>(node));
   case T_AlterSeqStmt: return alterSequence(context, *as<::AlterSeqStmt>(node));
   case T_AlterDefaultPrivilegesStmt: return alterDefaultPrivileges(context, *as<::AlterDefaultPrivilegesStmt>(node));
   case T_GrantStmt:
      switch (as<::GrantStmt>(node)->objtype) {
      case OBJECT_FUNCTION:
      case OBJECT_PROCEDURE:
      case OBJECT_ROUTINE: return grantFunctions(context, *as<::GrantStmt>(node));
      default: return grantPrivileges(context, *as<::GrantStmt>(node));
      }
   case T_ListenStmt: return listen(context, *as<::ListenStmt>(node));
   case T_NotifyStmt: return notify(context, *as<::NotifyStmt>(node));
   case T_UnlistenStmt: return unlisten(context, *as<::UnlistenStmt>(node));
   case T_RefreshMatViewStmt: return refreshMaterializedView(context, *as<::RefreshMatViewStmt>(node));
   default:
      if (auto tag = changeSystemObject(context, node)) return *std::move(tag);
      throwNotSupported(commandTag(node));
   }
}

/// Runs a command with the statement that an EXECUTE in it names, and that statement's parameters.
std::string SessionImpl::withPrepared(CommandContext& context, const ::Node* execute,
                                      const std::function<std::string(CommandContext&)>& run) {
   const auto& call = *as<::ExecuteStmt>(execute);
   const std::shared_ptr<PreparedStatement> prepared = requireStatement(call.name);
   const std::vector<BoundParameter> parameters = executeParameters(context.script, call, *prepared);
   const SessionCore::LiteralsAsPrepared literals(core_, prepared->literals);
   const sql::ParsedScript script = sql::ParsedScript::parse(prepared->text);
   if (script.statements().empty()) throwNotSupported("EXECUTE of an empty statement within another");
   CommandContext inner{core_, script, script.statements().at(0), parameters, context.sink};
   return run(inner);
}

std::string SessionImpl::runCreateTableAs(CommandContext& context, const ::CreateTableAsStmt& statement) {
   if (!isNode(statement.query, T_ExecuteStmt)) return createTableAs(context, statement);
   return withPrepared(context, statement.query, [&](CommandContext& prepared) {
      if (!isNode(prepared.statement.node, T_SelectStmt))
         throw SqlError(sqlstate::wrongObjectType, "prepared statement is not a SELECT");
      ::CreateTableAsStmt create = statement;
      create.query = const_cast<::Node*>(prepared.statement.node);
      return createTableAs(prepared, create);
   });
}

std::string SessionImpl::runExplain(CommandContext& context, const ::ExplainStmt& statement) {
   static constexpr RelationMaker relations{skipsCreation, createTableAs};
   const auto* creation =
       isNode(statement.query, T_CreateTableAsStmt) ? as<::CreateTableAsStmt>(statement.query) : nullptr;
   const ::Node* execute = creation ? creation->query : statement.query;
   if (!isNode(execute, T_ExecuteStmt)) return explain(context, statement, relations);
   return withPrepared(context, execute, [&](CommandContext& prepared) {
      ::ExplainStmt inner = statement;
      inner.query = const_cast<::Node*>(prepared.statement.node);
      if (!creation) return explain(prepared, inner, relations);
      ::CreateTableAsStmt create = *creation;
      create.query = inner.query;
      inner.query = reinterpret_cast<::Node*>(&create);
      return explain(prepared, inner, relations);
   });
}

/// The statements of one simple query.
class ScriptImpl final : public Script {
public:
   ScriptImpl(SessionImpl& session, std::string_view text)
      : session_(session), script_(session.parseCharged(text, memory_)) {
      session_.announceScript(script_);
   }

   bool next() override {
      if (++current_ <= script_.statements().size()) return true;
      if (script_.statements().empty()) session_.core_.statementEnds(); // parseCharged() may have begun one
      session_.log_.finish([] { return "statement"; }, [&] { return session_.preparedForLog(script_); });
      return false;
   }

   ExecuteResult run(ResultSink& sink) override {
      const StatementCount count(session_.core_.database.counters);
      DCHECK(current_ > 0); // run() needs a next() before it
      DCHECK(current_ <= script_.statements().size());
      const sql::ParsedStatement& statement = script_.statements()[current_ - 1];
      session_.log_.setCommand(commandTag(statement.node));
      if (isAuditOn()) session_.beginAudit(statement);
      CountedRun counted(session_.counting_, session_.counting_.describe(statement));
      session_.useFormatOf(*statement.node, sink);
      std::string tag = session_.audit_.guard([&] { return session_.runStatement(script_, statement, {}, sink); });
      session_.audit_.end(tag);
      counted.end(tag, [&] { return sql::normalizedText(statement); });
      const bool last = current_ == script_.statements().size();
      if (last && !session_.core_.transaction.inBlock()) session_.commitImplicit();
      session_.core_.statementEnds();
      if (last)
         session_.core_.reportActivity(session_.core_.transaction.inBlock() ? "idle in transaction" : "idle", {});
      return {ExecuteResult::Kind::Complete, std::move(tag)};
   }

private:
   SessionImpl& session_;
   MemoryCharge memory_; // of script_
   const sql::ParsedScript script_;
   size_t current_ = 0;
};

void SessionImpl::beginAudit(const sql::ParsedStatement& statement) {
   AuditTraits traits = auditTraits(statement.node);
   std::shared_ptr<const PreparedStatement> prepared;
   if (isNode(statement.node, T_ExecuteStmt)) {
      const auto found = statements_.find(std::string_view(as<::ExecuteStmt>(statement.node)->name));
      if (found != statements_.end()) prepared = found->second;
   }
   if (prepared) traits = prepared->audit;
   audit_.begin(traits, commandTag(statement.node), statement.text, prepared);
   if (prepared) audit_.running()->prepared = trimBlanks(prepared->text);
}

void SessionImpl::announceScript(const sql::ParsedScript& script) {
   for (const sql::ParsedStatement& statement : script.statements()) {
      StatementClass kind = classOf(statement.node);
      if (isNode(statement.node, T_ExecuteStmt)) {
         const auto found = statements_.find(std::string_view(as<::ExecuteStmt>(statement.node)->name));
         if (found != statements_.end()) kind = found->second->logClass;
      }
      if (log_.wants(kind)) return log_.announce("statement", preparedForLog(script));
   }
}

std::string SessionImpl::preparedForLog(const sql::ParsedScript& script) const {
   for (const sql::ParsedStatement& statement : script.statements()) {
      if (!isNode(statement.node, T_ExecuteStmt)) continue;
      const auto found = statements_.find(std::string_view(as<::ExecuteStmt>(statement.node)->name));
      if (found != statements_.end() && found->second->isFromSql) return "prepare: " + found->second->shownText;
   }
   return "";
}

std::unique_ptr<Script> SessionImpl::parseScript(std::string_view text) {
   log_.begin(text, nullptr, "");
   closeStatement("");
   portals_.close("");
   if (!core_.transaction.inBlock()) portals_.endFrom(0);
   try {
      return std::make_unique<ScriptImpl>(*this, text);
   } catch (const SqlError& error) {
      audit_.refuseText(text, error);
      throw;
   }
}

void SessionImpl::holdPortals() {
   try {
      const bool isLong = portals_.willHold();
      if (isLong) core_.timeLimitEnds(); // as in PostgreSQL, whose limit does not reach into the commit
      portals_.hold();
      if (isLong) core_.statementBegins(); // a new limit for the wait for the store
   } catch (...) {
      portals_.endFrom(0);
      core_.transaction.rollback();
      throw;
   }
}

void SessionImpl::commitImplicit() {
   const Interruptible interruptible(core_.interruptCheck);
   try {
      holdPortals();
      core_.transaction.commit();
   } catch (const SqlError& error) {
      audit_.refuseCommit(error);
      throw;
   }
   portals_.committed();
}

std::string SessionImpl::controlTransaction(CommandContext& context, const ::TransactionStmt& statement) {
   const TransactionContext& transaction = core_.transaction;
   const bool commits = statement.kind == TRANS_STMT_COMMIT && !transaction.hasFailed();
   if (commits) holdPortals();
   const bool isRefused = statement.kind == TRANS_STMT_PREPARE && transaction.inBlock() && !transaction.hasFailed() &&
                          portals_.hasNewHoldable();
   // Portals end before the rows that they read.
   if (statement.kind == TRANS_STMT_ROLLBACK || statement.kind == TRANS_STMT_PREPARE ||
       (statement.kind == TRANS_STMT_COMMIT && !commits))
      portals_.endFrom(0);
   if (statement.kind == TRANS_STMT_ROLLBACK_TO && transaction.inBlock())
      portals_.endFrom(transaction.savepointLevel(statement.savepoint_name) + 1);
   if (isRefused) {
      core_.transaction.rollback(); // the block is over, as after other errors of PREPARE TRANSACTION
      throw SqlError(sqlstate::featureNotSupported, "cannot PREPARE a transaction that has created a cursor WITH HOLD");
   }
   std::string tag = transactionControl(context, statement);
   if (commits) portals_.committed();
   if (statement.kind == TRANS_STMT_RELEASE) portals_.joinLevel(transaction.savepointCount());
   return tag;
}

void SessionImpl::endTransaction(bool commits, bool isChained) {
   TransactionContext& transaction = core_.transaction;
   const TransactionContext::Characteristics characteristics = transaction.characteristics();
   if (commits) {
      holdPortals();
      transaction.commit();
      portals_.committed();
   } else {
      portals_.holdPinned();
      transaction.rollback();
   }
   transaction.ensureStarted();
   if (isChained) transaction.setCharacteristics(characteristics);
}

void SessionImpl::sync() {
   if (core_.transaction.inBlock()) return core_.statementEnds();
   commitImplicit();
   core_.statementEnds();
   core_.reportActivity("idle", {});
}

void SessionImpl::fail() noexcept {
   core_.database.counters.errors.fetch_add(1, std::memory_order_relaxed);
   // Their rows go with the transaction, or with what it has done since its last savepoint.
   const size_t level = core_.transaction.savepointCount();
   core_.transaction.inBlock() ? portals_.failFrom(level) : portals_.endFrom(level);
   core_.transaction.fail();
   core_.statementEnds();
   core_.reportActivity(core_.transaction.inBlock() ? "idle in transaction (aborted)" : "idle", {});
}

} // namespace ouzel::engine
