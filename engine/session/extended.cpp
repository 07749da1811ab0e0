#include "catalog/pg_catalog/acl_items.hpp"
#include "common/env/clock.hpp"
#include "common/thread/interruption.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/text_codec.hpp"
#include "common/type/user_types.hpp"
#include "common/value/object_names.hpp"
#include "engine/command/command.hpp"
#include "engine/definition/definition.hpp"
#include "engine/query/command_tag.hpp"
#include "engine/query/source_range.hpp"
#include "engine/session/describe.hpp"
#include "engine/session/session_impl.hpp"
#include "executor/expression/evaluator.hpp"
#include "executor/function/value_text.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/string_syntax.hpp"

// Prepared statements and portals, both by protocol messages and by SQL. cursor.cpp has cursors.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

std::string portalNoun(std::string_view name) {
   return name.empty() ? "unnamed portal" : "portal \"" + std::string(name) + "\"";
}

} // namespace

std::shared_ptr<PreparedStatement> SessionImpl::makePrepared(std::string_view text,
                                                             std::span<const Oid> parameterTypes) {
   const Interruptible interruptible(core_.interruptCheck);
   AllocationMeter meter(ledger());
   auto prepared = std::make_shared<PreparedStatement>();
   prepared->text = std::string(text);
   prepared->declaredTypes.assign(parameterTypes.begin(), parameterTypes.end());
   prepared->shownText = prepared->text;
   prepared->preparedAt = wallClockMicros();
   describeText(*prepared);
   prepared->literals = core_.format();
   prepared->memory = meter.settle();
   return prepared;
}

/// Fill in what the statement's text tells.
void SessionImpl::describeText(PreparedStatement& prepared) {
   core_.statementBegins(); // its time limit goes on until the Sync, or until a portal has run
   const sql::StringSyntax syntax(core_.settings.value("standard_conforming_strings") != "off");
   const auto script = sql::ParsedScript::parse(prepared.text);
   if (script.statements().size() > 1)
      throw SqlError(sqlstate::syntaxError, "cannot insert multiple commands into a prepared statement");
   prepared.isEmpty = script.statements().empty();
   if (prepared.isEmpty) return;
   const sql::ParsedStatement& statement = script.statements()[0];
   prepared.logClass = classOf(statement.node);
   prepared.audit = auditTraits(statement.node);
   prepared.counted = counting_.describe(statement);
   prepared.command = commandTag(statement.node);
   requireUsableTransaction(core_, statement);
   core_.transaction.ensureStarted();
   if (!core_.transaction.hasFailed())
      prepared.description = engine::describeStatement(core_, script, statement, prepared.declaredTypes);
   prepared.showsOthers = isNode(statement.node, T_FetchStmt) || isNode(statement.node, T_ExecuteStmt);
   if (prepared.showsOthers) describeRowsOfOthers(statement, prepared.description);
   // Executions use the inferred types.
   prepared.declaredTypes = prepared.description.shownParameterTypes;
}

/// Describe FETCH and EXECUTE by the cursor or prepared statement that they name, if it exists by now.
void SessionImpl::describeRowsOfOthers(const sql::ParsedStatement& statement, StatementDescription& description) {
   PortalDescription source;
   if (isNode(statement.node, T_FetchStmt)) {
      const auto& fetch = *as<::FetchStmt>(statement.node);
      const Portal* cursor = portals_.find(fetch.portalname);
      if (!fetch.ismove && cursor) source = cursor->describe();
   } else if (isNode(statement.node, T_ExecuteStmt)) {
      const auto found = statements_.find(std::string_view(as<::ExecuteStmt>(statement.node)->name));
      if (found != statements_.end())
         source = {found->second->description.returnsRows, found->second->description.columns, {}};
   }
   if (!source.returnsRows) return;
   description.returnsRows = true;
   description.columns.assign(source.columns.begin(), source.columns.end());
}

const std::shared_ptr<PreparedStatement>& SessionImpl::requireStatement(std::string_view name) {
   const auto found = statements_.find(name);
   if (found != statements_.end()) return found->second;
   throw SqlError(sqlstate::invalidSqlStatementName,
                  name.empty() ? "unnamed prepared statement does not exist"
                               : "prepared statement \"" + std::string(name) + "\" does not exist");
}

Portal& SessionImpl::requirePortal(std::string_view name) {
   if (Portal* found = portals_.find(name)) return *found;
   throw SqlError(sqlstate::invalidCursorName, "portal \"" + std::string(name) + "\" does not exist");
}

std::vector<catalog::SystemState::PreparedStatement> SessionImpl::preparedStatements() const {
   std::vector<catalog::SystemState::PreparedStatement> out;
   for (const auto& [name, statement] : statements_)
      if (!name.empty())
         out.push_back({name, statement->shownText, statement->preparedAt, statement->description.shownParameterTypes,
                        statement->isFromSql});
   return out;
}

std::vector<catalog::SystemState::Cursor> SessionImpl::cursors() const {
   return portals_.list();
}

PortalDescription SessionImpl::describePortal(std::string_view name) {
   core_.checkInterrupts();
   const Portal& portal = requirePortal(name);
   if (portal.isFailed) refuseFailed(name);
   PortalDescription out = portal.describe();
   if (out.returnsRows) requireUsableTransaction(core_);
   return out;
}

void SessionImpl::refuseFailed(std::string_view portal) {
   requireUsableTransaction(core_);
   throwCannotRun(portal);
}

void SessionImpl::throwCannotRun(std::string_view portal) {
   throw SqlError(sqlstate::objectNotInPrerequisiteState, "portal \"" + std::string(portal) + "\" cannot be run");
}

std::string SessionImpl::nameForLog(std::string_view verb, const PreparedStatement* statement,
                                    std::string_view portal) {
   std::string name = std::string(verb) + " " + (statement && !statement->name.empty() ? statement->name : "<unnamed>");
   if (!portal.empty()) name.append("/").append(portal);
   return name;
}

void SessionImpl::prepare(std::string_view name, std::string_view text, std::span<const Oid> parameterTypes) {
   log_.begin(text, nullptr, "PARSE");
   if (!name.empty() && statements_.count(name))
      throw SqlError(sqlstate::duplicatePstatement, "prepared statement \"" + std::string(name) + "\" already exists");
   std::shared_ptr<PreparedStatement> prepared;
   try {
      prepared = makePrepared(text, parameterTypes);
   } catch (const SqlError& error) {
      audit_.refuseText(text, error);
      throw;
   }
   prepared->name = name;
   const PreparedStatement& made = *(statements_[std::string(name)] = std::move(prepared));
   log_.finish([&] { return nameForLog("parse", &made, {}); }, [] { return std::string(); });
}

const StatementDescription& SessionImpl::describeStatement(std::string_view name) {
   core_.checkInterrupts();
   return requireStatement(name)->description;
}

void SessionImpl::bind(std::string_view portalName, std::string_view statementName,
                       std::span<const RawParameter> parameters, std::span<const ValueFormat> resultFormats) {
   const std::shared_ptr<PreparedStatement> statement = requireStatement(statementName);
   log_.begin(statement->text, statement, "BIND");
   if (parameters.size() != statement->description.parameterTypes.size())
      throw SqlError(sqlstate::protocolViolation, "bind message supplies " + std::to_string(parameters.size()) +
                                                      " parameters, but prepared statement \"" +
                                                      std::string(statementName) + "\" requires " +
                                                      std::to_string(statement->description.parameterTypes.size()));
   core_.statementBegins();
   core_.checkInterrupts();
   StatementDescription others; // the cursor may be another one than when the statement was prepared
   if (statement->showsOthers) {
      const sql::StringSyntax syntax(core_.settings.value("standard_conforming_strings") != "off");
      describeRowsOfOthers(sql::ParsedScript::parse(statement->text).statements()[0], others);
   }
   checkFormats(resultFormats, statement->showsOthers ? others.columns.size() : statement->description.columns.size());
   if (!portalName.empty() && portals_.find(portalName))
      throw SqlError(sqlstate::duplicateCursor, "cursor \"" + std::string(portalName) + "\" already exists");
   core_.transaction.ensureStarted();
   AllocationMeter meter(ledger());
   Portal portal;
   portal.statement = statement;
   portal.createdAt = wallClockMicros();
   portal.formats.assign(resultFormats.begin(), resultFormats.end());
   if (statement->showsOthers) portal.others = std::move(others);
   try {
      for (const RawParameter& parameter : parameters) {
         const SqlType type = statement->description.parameterType(portal.parameters.size());
         Value value = parseParameter(type, parameter);
         checkDomain(type, value, core_.format().types); // the input of a domain's values checks them
         portal.parameters.push_back({type, std::move(value)});
      }
   } catch (SqlError& error) {
      const size_t number = portal.parameters.size();
      std::string context = portalNoun(portalName) + " parameter $" + std::to_string(number + 1);
      if (parameters[number].format == ValueFormat::Text)
         context += " = " + log_.quotedOnError(parameters[number].bytes);
      error.addContext(context);
      audit_.refuseText(statement->text, error);
      throw;
   }
   DCHECK(portal.parameters.size() == statement->description.parameterTypes.size());
   portal.memory = meter.settle();
   const Portal& bound = portals_.add(portalName, std::move(portal), core_.transaction.savepointCount());
   log_.finish([&] { return nameForLog("bind", statement.get(), portalName); },
               [&] { return log_.parameters(bound.parameters); });
}

Value SessionImpl::parseParameter(const SqlType& type, const RawParameter& parameter) {
   if (parameter.isNull) return Value::null(storedRepresentation(type).physical);
   if (parameter.format == ValueFormat::Binary) {
      const ClientText client(clientEncoding());
      const BinaryTexts texts = client.converts() && type.oid != oid::xml // whose text says in which encoding it is
                                    ? textsInBinary(type.oid)
                                    : BinaryTexts::None;
      if (texts == BinaryTexts::InParts) throwBinaryTexts(core_, type.oid, client.encoding());
      std::string storage;
      return parseBinary(type,
                         texts == BinaryTexts::None ? parameter.bytes : client.fromClient(parameter.bytes, storage),
                         core_.format().types);
   }
   if (isObjectName(type.oid) || catalog::isAclType(type.oid)) return parseName(type, parameter.bytes);
   return parseText(type, parameter.bytes, core_.format());
}

/// The value of a reg type or an aclitem from text, whose names are looked up in the catalog.
Value SessionImpl::parseName(const SqlType& type, std::string_view text) {
   const executor::FunctionContext functions = core_.functionContext();
   Arena arena;
   alignas(16) std::byte place[16] = {};
   executor::parseValueText(place, functions, type, text, arena);
   return Value::fromVector(Vector::constant(storedRepresentation(type).physical, place, nullptr), 0);
}

/// The log of one Execute message. Keeps what it needs of the portal, which the statement may end.
class SessionImpl::PortalLog {
public:
   PortalLog(SessionImpl& session, const Portal& portal, std::string_view name)
      : session_(session), statement_(portal.statement), name_(name),
        isFetch_(portal.cursor ? portal.cursor->hasGiven() : portal.execution && portal.execution->givenRows() > 0) {
      StatementLog& log = session.log_;
      if (!statement_) {                                               // DECLARE has made the portal
         const auto text = std::make_shared<std::string>(portal.text); // an error ends the portal before it is logged
         log.begin(*text, text, "SELECT");
         return;
      }
      log.begin(statement_->text, statement_, statement_->command);
      needsParameters_ = log.mayShowParameters();
      if (needsParameters_) parameters_ = portal.parameters;
      if (log.wants(statement_->logClass) && !statement_->isEmpty)
         log.announce(nameForLog(verb(), statement_.get(), name_), log.parameters(portal.parameters));
   }

   void finish() const {
      session_.log_.finish([&] { return nameForLog(verb(), statement_.get(), name_); },
                           [&] { return session_.log_.parameters(parameters_); });
   }
   /// Adds the parameters to the context of an error, when log_parameter_max_length_on_error asks for them.
   template <typename Run>
   ExecuteResult withContext(Run&& run) const {
      if (!needsParameters_) return run();
      try {
         return run();
      } catch (SqlError& error) {
         const std::string list = session_.log_.parametersOnError(parameters_);
         if (!list.empty()) {
            error.addContext(portalNoun(name_) + " with parameters: " + list);
         }
         throw;
      }
   }

private:
   const char* verb() const { return isFetch_ ? "execute fetch from" : "execute"; }

   SessionImpl& session_;
   const std::shared_ptr<const PreparedStatement> statement_;
   const std::string_view name_;
   const bool isFetch_;
   bool needsParameters_ = false;
   std::vector<BoundParameter> parameters_;
};

ExecuteResult SessionImpl::execute(std::string_view name, uint64_t maxRows, ResultSink& sink) {
   StatementCount count(core_.database.counters);
   Portal& portal = requirePortal(name);
   const PortalLog log(*this, portal, name);
   if (portal.isFailed) refuseFailed(name);
   sink.useFormats(portal.formats);
   if (isAuditOn()) beginAudit(portal);
   const std::shared_ptr<const PreparedStatement> statement = portal.statement;
   std::unique_ptr<CountedRun> counted = beginCount(portal);
   ExecuteResult result = audit_.guard([&] {
      return log.withContext([&] { return runOrFail(name, [&] { return runPortal(portal, maxRows, sink); }); });
   });
   endAudit(name, result, maxRows);
   if (counted) endCount(name, std::move(counted), result, maxRows, statement);
   count.isOver = result.kind == ExecuteResult::Kind::Complete;
   core_.timeLimitEnds(); // each Execute message has its own time limit
   log.finish();
   return result;
}

ExecuteResult SessionImpl::runPortal(Portal& portal, uint64_t maxRows, ResultSink& sink) {
   const Interruptible interruptible(core_.interruptCheck);
   DCHECK(portal.cursor || portal.statement);
   // What has begun may outlive an error, in a block with savepoints.
   if (portal.cursor || portal.execution) requireUsableTransaction(core_);
   if (portal.cursor) { // made by DECLARE, run by an Execute message
      core_.statementBegins();
      sink.begin(portal.cursor->columns());
      const uint64_t given = portal.cursor->forward(maxRows == 0 ? CursorRows::all : maxRows, &sink);
      if (!portal.cursor->isAfterEnd()) return {ExecuteResult::Kind::Suspended, {}};
      return {ExecuteResult::Kind::Complete, "SELECT " + std::to_string(given)};
   }
   if (portal.statement->isEmpty) return {ExecuteResult::Kind::Empty, {}};
   if (portal.isDone) {
      if (!portal.execution) throw SqlError(sqlstate::objectNotInPrerequisiteState, "portal cannot be run anymore");
      portal.execution->run(maxRows, &sink); // sends the description; no rows are left
      return {ExecuteResult::Kind::Complete, "SELECT 0"};
   }
   if (!portal.execution) portal.execution = startGeneric(portal);
   if (portal.execution) {
      if (portal.execution->givenRows() > 0) core_.statementBegins(); // a suspended portal goes on
      return runQuery(portal, maxRows, sink);
   }
   MemoryCharge treeMemory;
   const sql::ParsedScript script = parseCharged(portal.statement->text, treeMemory);
   const sql::ParsedStatement& statement = script.statements()[0];
   const bool selectsInto = isNode(statement.node, T_SelectStmt) && as<::SelectStmt>(statement.node)->intoClause;
   if (!isQuery(statement) || selectsInto) {
      // The statement may end the transaction, and with it this portal.
      const std::shared_ptr<const PreparedStatement> keep = portal.statement;
      const std::vector<BoundParameter> parameters = portal.parameters;
      portal.isDone = true;
      std::string tag = runStatement(script, statement, parameters, sink);
      return {ExecuteResult::Kind::Complete, std::move(tag)};
   }
   beginStatement(script, statement);
   startPortal(portal, script);
   return runQuery(portal, maxRows, sink);
}

/// Runs the portal's execution until `maxRows` rows were given or it ends.
ExecuteResult SessionImpl::runQuery(Portal& portal, uint64_t maxRows, ResultSink& sink) {
   DCHECK(portal.execution != nullptr);
   DCHECK(!portal.isDone);
   // A statement that writes ignores `maxRows`: its RETURNING rows are few.
   const bool writes = portal.execution->writes();
   if (writes) finishQuery(core_, *portal.execution); // no row before all checks have passed
   const uint64_t before = portal.execution->givenRows();
   if (!portal.execution->run(writes ? 0 : maxRows, &sink)) return {ExecuteResult::Kind::Suspended, {}};
   portal.isDone = true;
   if (writes) return {ExecuteResult::Kind::Complete, portal.execution->tag()};
   return {ExecuteResult::Kind::Complete, "SELECT " + std::to_string(portal.execution->givenRows() - before)};
}

namespace {

/// The client has a description of the rows, possibly from before the table changed.
void requireToldColumns(const PreparedStatement& statement, const QueryExecution& execution) {
   const auto& told = statement.description.columns;
   const auto& columns = execution.columns();
   if (!std::equal(columns.begin(), columns.end(), told.begin(), told.end(),
                   [](const ResultColumn& a, const ResultColumn& b) { return a.name == b.name && a.type == b.type; }))
      throw SqlError(sqlstate::featureNotSupported, "cached plan must not change result type")
          .routine("RevalidateCachedQuery");
}

} // namespace

/// Start an execution by the statement's generic plan. Null: there is no generic plan, or it is in use or outdated.
std::unique_ptr<QueryExecution> SessionImpl::startGeneric(Portal& portal) {
   const PreparedStatement& statement = *portal.statement;
   if (!statement.generic) return nullptr;
   beginQuery(statement.text);
   if (!statement.generic->isFree()) return nullptr;
   if (!statement.generic->isCurrent(core_)) {
      statement.generic = nullptr;
      return nullptr;
   }
   const SessionCore::LiteralsAsPrepared literals(core_, statement.literals);
   const std::shared_ptr<GenericPlan> generic = statement.generic;
   bool hasRules = false;
   auto execution = runUntilWritten(core_, [&]() -> std::unique_ptr<QueryExecution> {
      if (generic->lock(core_)) return generic->start(core_, portal.parameters);
      MemoryCharge treeMemory;
      const sql::ParsedScript script = parseCharged(statement.text, treeMemory);
      return planForValues(core_, script, *script.statements()[0].node, portal.parameters, hasRules);
   });
   if (hasRules) return nullptr;
   requireToldColumns(statement, *execution);
   return execution;
}

/// Start the portal: by the statement's generic plan, which its second execution makes if one plan is good for all
/// values, or by a plan for the portal's values.
void SessionImpl::startPortal(Portal& portal, const sql::ParsedScript& script) {
   DCHECK(portal.execution == nullptr);
   DCHECK(script.statements().size() == 1);
   const PreparedStatement& statement = *portal.statement;
   const SessionCore::LiteralsAsPrepared literals(core_, statement.literals);
   const ::Node& node = *script.statements()[0].node;
   if (std::exchange(statement.hasRun, true) && !statement.generic && !statement.needsPlanning) {
      const std::vector<Oid> types = parameterTypes(portal.parameters);
      {
         AllocationMeter meter(ledger());
         statement.generic = GenericPlan::make(core_, bindUnderLocks(core_, script, node, types));
         if (statement.generic) statement.generic->keep(meter.settle());
      }
      statement.needsPlanning = !statement.generic;
      portal.execution = startGeneric(portal);
   }
   if (!portal.execution) portal.execution = startQuery(core_, script, node, portal.parameters);
   requireToldColumns(statement, *portal.execution);
}

void SessionImpl::startBound(std::string_view name, Portal& portal) {
   if (portal.isDone || portal.statement->isEmpty) throwCannotRun(name);
   MemoryCharge treeMemory;
   const sql::ParsedScript script = parseCharged(portal.statement->text, treeMemory);
   const ::Node& node = *script.statements()[0].node;
   if (!isNode(&node, T_SelectStmt) || as<::SelectStmt>(&node)->intoClause) throwCannotRun(name);
   const SessionCore::LiteralsAsPrepared literals(core_, portal.statement->literals);
   auto execution = startQuery(core_, script, node, portal.parameters);
   if (execution->writes()) throwCannotRun(name);
   requireToldColumns(*portal.statement, *execution);
   portal.execution = std::move(execution);
}

void SessionImpl::closeStatement(std::string_view name) {
   const auto found = statements_.find(name);
   if (found != statements_.end()) statements_.erase(found);
}

void SessionImpl::closePortal(std::string_view name) {
   portals_.close(name);
}

// ---- PREPARE, EXECUTE, DEALLOCATE, DISCARD ----

std::string SessionImpl::prepareSql(const sql::ParsedScript& script, const sql::ParsedStatement& statement) {
   const auto& prepare = *as<::PrepareStmt>(statement.node);
   if (statements_.count(prepare.name))
      throw SqlError(sqlstate::duplicatePstatement,
                     "prepared statement \"" + std::string(prepare.name) + "\" already exists");
   const catalog::SearchPath path = core_.searchPath();
   std::vector<Oid> types;
   for (const ::TypeName* type : ListOf<::TypeName>(prepare.argtypes))
      types.push_back(sql::resolveValueType(*type, core_.bindContext(path, &script.source())).named());
   // The text behind AS is the statement.
   const std::string_view text = script.source().text();
   const size_t begin = afterKeyword(text, statement.offset, "as");
   const size_t end = statement.offset + statement.text.size();
   std::shared_ptr<PreparedStatement> prepared;
   try {
      prepared = makePrepared(text.substr(begin, end - begin), types);
   } catch (SqlError& error) { // positions count from the beginning of what the client has sent
      if (error.position() != 0)
         error.setPosition(error.position() + script.source().position(static_cast<int32_t>(begin)) - 1);
      throw;
   }
   prepared->isFromSql = true;
   prepared->name = prepare.name;
   prepared->shownText = std::string(statement.text) + (end < text.size() && text[end] == ';' ? ";" : "");
   statements_[prepare.name] = std::move(prepared);
   return "PREPARE";
}

std::vector<BoundParameter> SessionImpl::executeParameters(const sql::ParsedScript& script, const ::ExecuteStmt& call,
                                                           const PreparedStatement& prepared) {
   const ListOf<> args(call.params);
   const std::vector<Oid>& types = prepared.description.parameterTypes;
   if (args.size() != types.size())
      throw SqlError(sqlstate::syntaxError,
                     "wrong number of parameters for prepared statement \"" + std::string(call.name) + "\"")
          .detail("Expected " + std::to_string(types.size()) + " parameters but got " + std::to_string(args.size()) +
                  ".");
   std::vector<BoundParameter> parameters;
   const catalog::SearchPath path = core_.searchPath();
   executor::FunctionContext functions = core_.functionContext();
   Reservation memory(core_.database.governor->ledger());
   const auto evaluator = std::make_unique<executor::ExpressionEvaluator>(functions, memory);
   for (uint32_t i = 0; i < args.size(); ++i) {
      const SqlType type = prepared.description.parameterType(i);
      const auto bound = sql::bindExpression(*args[i], sql::ExpressionUse::ExecuteParameter, nullptr, type,
                                             "$" + std::to_string(i + 1), core_.bindContext(path, &script.source()));
      parameters.push_back({type, evaluator->evaluate(*bound.expr)});
   }
   return parameters;
}

std::string SessionImpl::executeSql(const sql::ParsedScript& script, const sql::ParsedStatement& statement,
                                    ResultSink& sink) {
   const auto& call = *as<::ExecuteStmt>(statement.node);
   Portal portal;
   portal.statement = requireStatement(call.name);
   portal.parameters = executeParameters(script, call, *portal.statement);
   CountedRun counted(counting_, portal.statement->counted);
   std::string tag = runPortal(portal, 0, sink).tag;
   counted.end(tag, [&] { return countedText(*portal.statement); });
   return tag;
}

std::string SessionImpl::deallocate(const ::Node& node) {
   const auto& statement = *as<::DeallocateStmt>(&node);
   if (!statement.name) {
      statements_.clear();
      return "DEALLOCATE ALL";
   }
   requireStatement(statement.name);
   closeStatement(statement.name);
   return "DEALLOCATE";
}

std::string SessionImpl::discard(const ::Node& node) {
   const auto target = as<::DiscardStmt>(&node)->target;
   if (target == DISCARD_ALL) {
      refuseInBlock(core_, "DISCARD ALL");
      portals_.clear();
      core_.reset("session_authorization");
      core_.settings.resetAll();
      statements_.clear();
      core_.transaction.locks().releaseAllSession(core_.transaction.lockOwner());
      core_.transaction.notifications.add(PendingNotifications::Step::UnlistenAll, {});
   }
   if (target == DISCARD_PLANS)
      for (const auto& [name, statement] : statements_) {
         statement->generic = nullptr;
         statement->hasRun = statement->needsPlanning = false;
      }
   if (target == DISCARD_ALL || target == DISCARD_TEMP) dropTemporaryObjects(core_);
   if (target == DISCARD_ALL || target == DISCARD_SEQUENCES) core_.sequences.clear();
   return std::string(commandTag(&node));
}

} // namespace ouzel::engine
