#include "engine/core/session_core.hpp"

#include <algorithm>
#include <chrono>

#include "catalog/object/text_search/text_search.hpp"
#include "common/client/notice_level.hpp"
#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/log/log.hpp"
#include "common/memory/allocation_meter.hpp"
#include "common/text/ascii.hpp"
#include "common/thread/wait_scope.hpp"
#include "common/type/row.hpp"
#include "common/type/text_codec.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/program_cache.hpp"
#include "engine/core/session_functions.hpp"
#include "engine/core/session_services.hpp"
#include "executor/schedule/running_query.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::engine {

namespace {

/// Whether the reason cancels a statement only, and does not end the session.
bool endsStatementOnly(CancelReason reason) {
   return reason == CancelReason::Request || reason == CancelReason::StatementTimeout;
}

const char* messageOf(CancelReason reason) {
   if (reason == CancelReason::Request) return "canceling statement due to user request";
   if (reason == CancelReason::StatementTimeout) return "canceling statement due to statement timeout";
   return "terminating connection due to administrator command";
}

void tell(executor::ExecutionContext& context, CancelReason reason) {
   // Workers read the message after they see the state, so that only the first cancel() may write it. 57P01 has a text
   // of its own.
   if (!context.cancelState.load()) context.cancelMessage = messageOf(reason);
   context.cancelState.store(endsStatementOnly(reason) ? "57014" : "57P01");
}

/// Gives a notice to the client, who passes it to the log, or only to the log if the client does not want it.
void send(SessionCore& core, const Notice& notice) {
   const LogLevel level = levelOf(notice.severity);
   const bool isWanted = level == LogLevel::Info || level >= levelNamed(core.settings.value("client_min_messages"));
   if (isWanted) return core.notices.notice(notice);
   logRecord({.level = level,
              .message = notice.message,
              .state = notice.state.text(),
              .detail = notice.detail,
              .hint = notice.hint,
              .hidesPlace = true});
}

/// Holds the lock under which a session begins in its database.
class Arrival {
public:
   Arrival(LockManager& locks, TransactionContext& transaction) : locks_(locks), owner_(transaction.lockOwner()) {
      locks_.acquire(owner_, LockTag::database(owner_.database()), LockMode::RowExclusive, transaction.lockWait());
   }
   ~Arrival() { locks_.releaseAll(owner_); }
   Arrival(const Arrival&) = delete;
   Arrival& operator=(const Arrival&) = delete;

private:
   LockManager& locks_;
   LockOwner& owner_;
};

} // namespace

SessionCore::SessionCore(Database::Internals& internals, const SessionOptions& sessionOptions, NoticeSink& noticeSink,
                         SessionServices& sessionServices)
   : database(internals), notices(noticeSink), services(sessionServices), options(sessionOptions),
     log(sessionOptions.log ? *sessionOptions.log : ownLog_), settings(*internals.defaults.get()),
     transaction(internals, options.databaseOid, settings, options.processId, [this] { checkInterrupts(); }),
     programs(std::make_unique<ProgramCache>()), listener{options.databaseOid, options.processId,
                                                          std::make_shared<NotificationQueue>()} {
   // Who drops or renames the database waits until the session stands in the list, or has seen that it came too late.
   const Arrival arrival(database.locks, transaction);
   adoptNewDefaults(); // a reload may have come in between
   functions_ = makeSessionFunctions(*this);
   types_ = std::make_unique<DomainChecks>(functions_.get(), database.governor->ledger());
   computedIndexes_ = std::make_unique<ComputedIndexes>(functions_.get(), types_.get(), database.governor->ledger());
   transaction.checkDeferred = [this] { services.runDeferredChecks(); };
   transaction.endTemporaryRows = [this] { services.endTemporaryRows(); };
   transaction.warnUnstored = [this](std::string message, std::string detail) {
      send(*this, {Notice::Severity::Warning, sqlstate::warning, std::move(message), std::move(detail), {}});
   };
   transaction.publish = [this](const PendingNotifications& said) { publish(said); };
   settings.force("session_authorization", options.user);
   const catalog::Snapshot catalog = database.catalog->newest().inDatabase(options.databaseOid);
   const catalog::RolePtr role = catalog.findRole(options.user);
   noteRoleName(catalog, options.user);
   const catalog::DatabasePtr own = catalog.database(options.databaseOid);
   if (!own || own->name != options.database)
      throw SqlError(sqlstate::undefinedDatabase, "database \"" + options.database + "\" does not exist")
          .detail("It seems to have just been dropped or renamed.");
   settings.force("lc_collate", own->collate);
   settings.force("lc_ctype", own->ctype);
   adoptStoredSettings(catalog, own->oid, role ? role->oid : invalidOid);
   for (const auto& [name, value] : options.settings) {
      requireSettable(*this, name);
      noteTruncation(name, value);
      setInitial(name, value);
   }
   noteRole(*this);
   enter(role.get(), *own);
   log.localTransaction = &transaction.number();
   log.transactionId = &transaction.lockOwner().transaction;
}

void SessionCore::enter(const catalog::Role* role, const catalog::Database& own) {
   SessionActivity activity;
   activity.processId = options.processId;
   activity.role = role ? role->oid : invalidOid;
   activity.databaseOid = own.oid;
   activity.user = options.user;
   activity.database = options.database;
   activity.applicationName = settings.value("application_name");
   activity.endpoints = options.endpoints;
   activity.backendStart = activity.stateChange = wallClockMicros();
   const MutexLock lock(database.activityMutex);
   DCHECK(!database.activity.contains(options.processId)); // each session has its own process id
   const auto requirePlace = [&](int32_t limit, const auto& isCounted,
                                 const std::string& of) REQUIRES(database.activityMutex) {
      if (limit < 0 || (role && role->isSuperuser)) return;
      const auto sessions = std::count_if(database.activity.begin(), database.activity.end(),
                                          [&](const auto& entry) { return isCounted(entry.second); });
      if (sessions >= limit) throw SqlError(sqlstate::tooManyConnections, "too many connections for " + of);
   };
   if (role)
      requirePlace(
          role->connectionLimit, [&](const SessionActivity& other) { return other.role == role->oid; },
          "role \"" + role->name + "\"");
   requirePlace(
       own.connectionLimit, [&](const SessionActivity& other) { return other.databaseOid == own.oid; },
       "database \"" + own.name + "\"");
   database.activity[options.processId] = std::move(activity);
   database.uses.add(options.databaseOid, &DatabaseUses::Use::sessions);
}

SessionCore::~SessionCore() {
   timeLimitEnds();
   transaction.rollback();
   database.notifications.unlistenAll(listener);
   log.localTransaction = nullptr;
   log.transactionId = nullptr;
   const MutexLock lock(database.activityMutex);
   database.activity.erase(options.processId);
}

void SessionCore::notify(const std::string& channel, const std::string& payload) {
   constexpr size_t channelMax = 63, payloadMax = 7999; // as PostgreSQL has them
   const auto refuse = [](const char* message) { throw SqlError(sqlstate::invalidParameterValue, message); };
   if (channel.empty()) refuse("channel name cannot be empty");
   if (channel.size() > channelMax) refuse("channel name too long");
   if (payload.size() > payloadMax) refuse("payload string too long");
   transaction.notifications.notify({options.processId, channel, payload});
}

void SessionCore::publish(const PendingNotifications& said) {
   NotificationHub& hub = database.notifications;
   for (const auto& [step, channel] : said.steps())
      switch (step) {
      case PendingNotifications::Step::Listen: hub.listen(listener, channel); break;
      case PendingNotifications::Step::Unlisten: hub.unlisten(listener, channel); break;
      case PendingNotifications::Step::UnlistenAll: hub.unlistenAll(listener); break;
      }
   if (said.messages().empty()) return;
   std::set<int32_t> reached = hub.publish(listener.database, said.messages());
   reached.erase(options.processId); // its client hears of them with the end of the statement
   SessionControl* control = database.sessionControl;
   if (!reached.empty() && control) control->wake(reached);
}

void SessionCore::adoptStoredSettings(const catalog::Snapshot& catalog, Oid ownDatabase, Oid role) {
   const Oid everyRole = invalidOid, everyDatabase = invalidOid;
   const std::pair<Oid, Oid> sources[] = {{everyDatabase, everyRole},
                                          {ownDatabase, everyRole},
                                          {everyDatabase, role},
                                          {ownDatabase, role}}; // the later ones win
   for (const auto& [ofDatabase, ofRole] : sources)
      for (const auto& [name, value] : catalog.settingsFor(ofDatabase, ofRole))
         try {
            setInitial(name, value);
         } catch (const SqlError& error) { // it was good when it was stored, in other circumstances
            warn(error.state(), error.what());
         }
}

void SessionCore::setInitial(const std::string& name, const std::string& value) {
   setRole(*this, lowerCase(name), value, false);
   settings.setInitial(name, value);
}

void SessionCore::adoptNewDefaults() {
   seenDefaults_ = database.defaults.version();
   std::shared_ptr<const SettingList> now = database.defaults.get();
   if (defaults_) settings.adoptDefaults(*defaults_, *now);
   defaults_ = std::move(now);
}

catalog::SearchPath SessionCore::searchPath() {
   const std::vector<std::string> names = settings.searchPath(user());
   const Oid temporary = temporarySchema();
   types_->setSearchPath(names, user(), temporary); // errors of literals name types by it
   catalog::SearchPath path = catalog::SearchPath::resolve(transaction.catalog(), names, user(), temporary);
   path.role = isServer() ? invalidOid : role();
   return path;
}

Oid SessionCore::role() {
   return roleNamed(transaction.catalog(), user());
}

Oid SessionCore::roleNamed(const catalog::Snapshot& catalog, const std::string& name) const {
   const auto found = catalog.findRole(name);
   const auto known = roleNames_.find(name);
   return found && known != roleNames_.end() && known->second == found->oid ? found->oid : catalog::nobodyRole;
}

void SessionCore::noteRoleName(const catalog::Snapshot& catalog, const std::string& name) {
   if (const auto found = catalog.findRole(name)) roleNames_[name] = found->oid;
}

Oid SessionCore::temporarySchema() {
   return temporaryBackend ? transaction.editor().temporarySchema(temporaryBackend) : invalidOid;
}

const SessionFormat& SessionCore::format() {
   format_ = settings.format();
   format_.now = transaction.isOpen() ? transaction.startTime() : wallClockMicros();
   format_.types = types_.get();
   types_->setFormat(format_);
   if (transaction.isOpen()) types_->follow(transaction.catalog(), transaction.editor().base());
   return format_;
}

void SessionCore::noteTruncation(std::string_view setting, std::string_view value) {
   const std::string_view kept = truncateName(value);
   if (kept.size() == value.size() || lowerCase(setting) != "application_name") return;
   notice("identifier \"" + std::string(value) + "\" will be truncated to \"" + std::string(kept) + "\"", {},
          sqlstate::nameTooLong);
}

namespace {

constexpr std::string_view textSearchSetting = "default_text_search_config";

/// The configuration's name with its schema. Throws 22023 if there is none.
std::string resolvedConfiguration(SessionCore& core, std::string_view value) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto found = catalog::findTextSearch(snapshot, core.searchPath(), catalog::ObjectKind::TextSearchConfiguration,
                                              catalog::toQualifiedName(catalog::parseQualifiedName(value)));
   if (!found)
      throw SqlError(sqlstate::invalidParameterValue, "invalid value for parameter \"" +
                                                          std::string(textSearchSetting) + "\": \"" +
                                                          std::string(value) + '"');
   const auto schema = snapshot.schema(found->schema);
   return catalog::quoteIdentifier(schema ? schema->name : "") + "." + catalog::quoteIdentifier(found->name);
}

} // namespace

void SessionCore::set(std::string_view name, std::string_view value, bool isLocal) {
   if (lowerCase(name) == textSearchSetting) return settings.set(name, resolvedConfiguration(*this, value), isLocal);
   if (setRole(*this, lowerCase(name), std::string(value), isLocal)) return;
   requireSettable(*this, name);
   noteTruncation(name, value);
   settings.set(name, value, isLocal);
   if (lowerCase(name) == "seed") random.setSeed(std::strtod(settings.valueOf(name).c_str(), nullptr));
}

void SessionCore::reset(std::string_view name) {
   const std::string setting = lowerCase(name);
   if (setRole(*this, setting, setting == "role" ? settings.resetValue("role") : options.user, false)) return;
   requireSettable(*this, name);
   settings.reset(name);
}

Oid SessionCore::partitionOf(Oid table, std::string_view keys) {
   const catalog::Snapshot& catalog = transaction.catalog();
   if (!parts_ || parts_->table->oid != table || partsVersion_ != catalog.version()) {
      const auto relation = catalog.relation(table);
      if (!relation) throwInternal("a partitioned table does not exist");
      parts_ = sql::partsOf(catalog, relation, false);
      partsVersion_ = catalog.version();
   }
   std::vector<Value> all;
   const RowView row(keys);
   for (RowView::Cursor field(row); field.next();)
      all.push_back(valueOfField(*field));
   std::vector<size_t> begins; // by node, of its key among the values
   size_t begin = 0;
   for (const sql::PartitionNode& node : parts_->nodes) {
      begins.push_back(begin);
      begin += node.key.size();
   }
   for (size_t at = 0;;) {
      const sql::PartitionNode& node = parts_->nodes[at];
      const int partition = node.map->find(std::span<const Value>(all).subspan(begins[at], node.key.size()));
      if (partition == catalog::PartitionMap::none) return invalidOid;
      const sql::PartitionNode::Child& child = node.children[static_cast<size_t>(partition)];
      if (child.node < 0) return parts_->parts[child.first].relation->oid;
      at = static_cast<size_t>(child.node);
   }
}

sql::BindContext SessionCore::bindContext(const catalog::SearchPath& path, const sql::SourceText* source) {
   if (!openExternal_)
      openExternal_ = [this](std::string_view function, const io::ExternalRequest& request) {
         return services.openExternalTable(function, request);
      };
   sql::BindContext context{.catalog = transaction.catalog(),
                            .searchPath = path,
                            .format = literals_ ? *literals_ : format(),
                            .source = source};
   context.openExternal = &openExternal_;
   if (!openForeign_)
      openForeign_ = [this](const catalog::Relation& relation, Oid asRole) {
         return services.openForeignTable(relation, asRole == invalidOid ? role() : asRole);
      };
   context.openForeign = &openForeign_;
   context.rowSecurity = settings.boolean("row_security");
   context.isReplica = settings.value("session_replication_role") == "replica";
   // A compiled function is a part of the query, and nobody could count its calls.
   const bool countsCalls = settings.value("track_functions") != "none";
   if (settings.boolean("ouzel.compile_programs") && !countsCalls) context.programs = &services.programCompiler();
   return context;
}

executor::FunctionContext SessionCore::functionContext() {
   executor::FunctionContext context;
   context.format = &format();
   context.transactionStart = transaction.startTime();
   context.statementStart = statementStart;
   context.session = functions_.get();
   context.catalog = &transaction.catalog();
   context.user = user();
   context.sessionUser = sessionUser();
   context.database = options.database;
   context.searchPath = settings.searchPath(user());
   context.temporarySchema = temporarySchema();
   types_->setSearchPath(context.searchPath, user(), context.temporarySchema);
   context.backendPid = options.processId;
   context.isInRecovery = database.following != nullptr;
   return context;
}

void SessionCore::warn(SqlState state, std::string message) {
   send(*this, {Notice::Severity::Warning, state, std::move(message), {}, {}});
}

void SessionCore::warnLater(SqlState state, std::string message) {
   const MutexLock lock(cancelMutex_);
   warnings_.push_back({Notice::Severity::Warning, state, std::move(message), {}, {}});
}

void SessionCore::report(const Notice& notice) {
   send(*this, notice);
}

void SessionCore::notice(std::string message, std::string detail, SqlState state) {
   send(*this, {Notice::Severity::Notice, state, std::move(message), std::move(detail), {}});
}

void SessionCore::inform(std::string message) {
   send(*this, {Notice::Severity::Info, sqlstate::successfulCompletion, std::move(message), {}, {}});
}

void SessionCore::cancel(CancelReason reason) noexcept {
   const MutexLock lock(cancelMutex_);
   if (reason == CancelReason::Request && !isActive_) return;
   // A request to end the session replaces a request to cancel a statement; among requests of one kind the first stays.
   int seen = -1;
   if (!cancelRequested_.compare_exchange_strong(seen, static_cast<int>(reason))) {
      if (endsStatementOnly(reason) || !endsStatementOnly(static_cast<CancelReason>(seen))) return;
      cancelRequested_.store(static_cast<int>(reason));
   }
   if (running_) tell(*running_, reason);
   transaction.lockOwner().interrupt();
   cancelled_.notify_all();
}

void SessionCore::checkInterrupts() {
   AllocationMeter::look();
   const int requested = cancelRequested_.load();
   if (requested < 0) return;
   const auto reason = static_cast<CancelReason>(requested);
   throw SqlError(endsStatementOnly(reason) ? sqlstate::queryCanceled : sqlstate::adminShutdown, messageOf(reason));
}

void SessionCore::sleep(int64_t micros) {
   const WaitScope waiting;
   UniqueLock lock(cancelMutex_);
   cancelled_.wait_for(lock, std::chrono::microseconds(micros),
                       [&]() REQUIRES(cancelMutex_) { return cancelRequested_.load() >= 0; });
   lock.unlock();
   checkInterrupts();
}

void SessionCore::statementBegins() {
   const int64_t millis = settings.integer("statement_timeout");
   if (millis > 0 && timeLimit_ == 0)
      timeLimit_ =
          database.alarms.set(steadyNanos() + millis * 1'000'000, [this] { cancel(CancelReason::StatementTimeout); });
   const MutexLock lock(cancelMutex_);
   isActive_ = true;
}

void SessionCore::statementEnds() {
   timeLimitEnds();
   std::vector<Notice> warnings;
   {
      const MutexLock lock(cancelMutex_);
      isActive_ = false;
      forget(CancelReason::Request);
      warnings.swap(warnings_);
   }
   for (const Notice& warning : warnings)
      send(*this, warning);
}

void SessionCore::timeLimitEnds() {
   if (timeLimit_ == 0) return;
   database.alarms.clear(timeLimit_); // without cancelMutex_, which the alarm takes
   timeLimit_ = 0;
   const MutexLock lock(cancelMutex_);
   forget(CancelReason::StatementTimeout);
}

void SessionCore::forget(CancelReason reason) {
   int requested = static_cast<int>(reason);
   cancelRequested_.compare_exchange_strong(requested, -1);
}

SessionCore::Cancellable::Cancellable(SessionCore& core, executor::ExecutionContext& context) : core_(core) {
   const MutexLock lock(core.cancelMutex_);
   outer_ = core.running_;
   DCHECK(outer_ != &context);
   core.running_ = &context;
   const int reason = core.cancelRequested_.load();
   if (reason >= 0) tell(context, static_cast<CancelReason>(reason));
}

SessionCore::Cancellable::~Cancellable() {
   const MutexLock lock(core_.cancelMutex_);
   DCHECK(core_.running_ != nullptr);
   core_.running_ = outer_;
}

void SessionCore::reportActivity(const std::string& state, const std::string& query) {
   const MutexLock lock(database.activityMutex);
   SessionActivity& activity = database.activity[options.processId];
   activity.state = state;
   activity.stateChange = wallClockMicros();
   activity.applicationName = settings.value("application_name");
   if (!query.empty()) {
      activity.query = query;
      activity.queryStart = activity.stateChange;
   }
   activity.transactionStart = transaction.isOpen() ? transaction.startTime() : 0;
}

void requireWritable(SessionCore& core, std::string_view command) {
   if (core.transaction.isReadOnly())
      throw SqlError(sqlstate::readOnlySqlTransaction,
                     "cannot execute " + std::string(command) + " in a read-only transaction");
}

void refuseInBlock(const SessionCore& core, std::string_view command) {
   if (core.transaction.inBlock())
      throw SqlError(sqlstate::activeSqlTransaction, std::string(command) + " cannot run inside a transaction block");
}

} // namespace ouzel::engine
