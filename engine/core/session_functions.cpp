#include "engine/core/session_functions.hpp"

#include <algorithm>

#include "catalog/object/membership.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/env/clock.hpp"
#include "engine/core/event_state.hpp"
#include "engine/core/large_objects.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/server_files.hpp"
#include "engine/core/session_core.hpp"
#include "engine/core/session_services.hpp"
#include "engine/core/statistics_functions.hpp"
#include "sql/bind/function/routine_body.hpp"
#include "sql/deparse/deparse.hpp"
#include "sql/deparse/function_body.hpp"
#include "sql/deparse/rule.hpp"

namespace ouzel::engine {

namespace {

using executor::AdvisoryLock;

LockTag tagOf(const AdvisoryLock& lock, const LockOwner& owner) {
   return LockTag::advisory(owner.database(), lock.isPair, static_cast<uint64_t>(lock.key));
}

LockMode modeOf(const AdvisoryLock& lock) {
   return lock.isShared ? LockMode::Share : LockMode::Exclusive;
}

class CoreFunctions final : public executor::SessionFunctions {
public:
   explicit CoreFunctions(SessionCore& core) : core_(core), largeObjects_(makeLargeObjectFunctions(core)) {}

   int64_t clock() override { return wallClockMicros(); }
   int64_t serverStart() override { return core_.database.openedAt; }
   int64_t configurationLoad() override { return core_.database.defaults.loadedAt(); }
   double random() override { return core_.random.next(); }
   void setSeed(double seed) override { core_.random.setSeed(seed); }
   void sleep(int64_t micros) override { core_.sleep(micros); }
   std::string setting(const std::string& name) override { return examineSetting(core_, name); }
   std::string setSetting(const std::string& name, const std::string& value, bool isLocal) override {
      core_.set(name, value, isLocal);
      return core_.settings.show(name);
   }

   int64_t relationSize(Oid relation) override {
      if (relation == catalog::class_oid::pgLargeObject) {
         const auto pages = largeObjectTable(core_);
         return pages ? static_cast<int64_t>(pages->storedBytes()) : 0;
      }
      const auto object = core_.transaction.catalog().object({catalog::ObjectKind::Relation, relation});
      if (!object) return 0;
      const catalog::StorageId storage = static_cast<const catalog::Relation&>(*object).storage;
      if (storage == catalog::noStorage) return 0;
      const auto table = core_.database.storage->find(storage);
      return table ? static_cast<int64_t>(table->storedBytes()) : 0;
   }

   std::vector<std::string> runRoutine(Oid routine, std::string_view args) override {
      return core_.services.runRoutine(routine, args);
   }
   std::optional<std::string> runRowTrigger(const executor::RowTriggerCall& call) override {
      return core_.services.runRowTrigger(call);
   }
   executor::LargeObjectFunctions& largeObjects() override {
      if (!core_.services.isSessionThread()) throwNotSupported("calling a function of large objects, here");
      return *largeObjects_;
   }
   Oid partitionOf(Oid table, std::string_view keys) override { return core_.partitionOf(table, keys); }
   void notify(const std::string& channel, const std::string& payload) override { core_.notify(channel, payload); }
   std::vector<std::string> listeningChannels() override {
      return core_.database.notifications.channels(core_.listener);
   }
   uint32_t triggerDepth() override { return core_.triggerDepth; }
   std::vector<std::vector<Value>> eventRows(std::string_view function) override {
      return engine::eventRows(core_.event, function);
   }
   int64_t eventNumber(std::string_view function) override { return engine::eventNumber(core_.event, function); }

   std::vector<bool> writableColumns(const catalog::Relation& view) override {
      const catalog::SearchPath path = core_.searchPath();
      return sql::writableColumns(view, core_.bindContext(path, nullptr));
   }

   std::string viewText(const catalog::Relation& view, const executor::TextLayout& layout) override {
      const catalog::SearchPath path = core_.searchPath();
      return sql::deparse::viewText(view, core_.bindContext(path, nullptr), {layout.isPretty, layout.lineLength});
   }

   std::optional<std::string> ruleText(Oid rule, const executor::TextLayout& layout) override {
      const auto [relation, found] = core_.transaction.catalog().rule(rule);
      if (!relation) return std::nullopt;
      const catalog::SearchPath path = core_.searchPath();
      return sql::deparse::ruleText(*found, relation, core_.bindContext(path, nullptr),
                                    {layout.isPretty, layout.lineLength});
   }

   std::optional<std::string> triggerText(Oid trigger, const executor::TextLayout& layout) override {
      const catalog::Snapshot& catalog = core_.transaction.catalog();
      for (const catalog::RelationPtr& relation : catalog.relations())
         for (const catalog::Trigger& one : relation->triggers)
            if (one.oid == trigger) {
               const catalog::SearchPath path = core_.searchPath();
               return sql::deparse::triggerText(one, relation, core_.bindContext(path, nullptr),
                                                {layout.isPretty, layout.lineLength});
            }
      return std::nullopt;
   }

   std::optional<std::string> functionBody(Oid function) override {
      const catalog::FunctionPtr found = core_.transaction.catalog().function(function);
      if (!found || found->bodyForm == 's') return std::nullopt;
      const catalog::SearchPath path = core_.searchPath();
      const auto own = sql::bodyPath(core_.bindContext(path, nullptr), *found);
      return sql::deparse::functionBody(*found, core_.bindContext(own ? *own : path, nullptr), path);
   }

   executor::ExpressionText expressionText(std::string_view stored, Oid relation,
                                           const executor::TextLayout& layout) override {
      const catalog::SearchPath path = core_.searchPath();
      const auto table = core_.transaction.catalog().relation(relation);
      const auto [expression, column] = catalog::expressionOf(stored, table.get());
      auto printed =
          sql::deparse::expressionText(expression, table, column ? &column->type : nullptr,
                                       core_.bindContext(path, nullptr), {layout.isPretty, layout.lineLength});
      return {std::move(printed.text), printed.isCall};
   }

   std::string exportSnapshot() override { return core_.transaction.exportSnapshot(); }
   int64_t transactionId() override { return static_cast<int64_t>(core_.transaction.useId()); }
   uint64_t oldestOpenTransaction() override { return core_.transaction.storage().oldestOpen(); }
   bool hasWritten() override { return core_.transaction.lockOwner().transaction != 0; }

   bool lockAdvisory(const AdvisoryLock& lock) override {
      LockWait wait = core_.transaction.lockWait();
      wait.noWait = lock.noWait;
      LockOwner& owner = core_.transaction.lockOwner();
      LockManager& locks = core_.database.locks;
      return lock.isSession ? locks.acquireSession(owner, tagOf(lock, owner), modeOf(lock), wait)
                            : locks.acquire(owner, tagOf(lock, owner), modeOf(lock), wait);
   }
   bool unlockAdvisory(const AdvisoryLock& lock) override {
      LockOwner& owner = core_.transaction.lockOwner();
      return core_.database.locks.releaseSession(owner, tagOf(lock, owner), modeOf(lock));
   }
   void unlockAllAdvisory() override { core_.database.locks.releaseAllSession(core_.transaction.lockOwner()); }
   std::vector<int32_t> blockersOf(int32_t pid) override { return core_.database.locks.blockersOf(pid); }

   const Endpoints& endpoints() override { return core_.options.endpoints; }
   std::string currentQuery() override { return std::string(core_.requestText); }
   bool cancelBackend(int32_t pid) override {
      SessionControl* control = core_.database.sessionControl;
      requireSignalling(pid, "cancel", "query", "whose query is being canceled");
      return (control && control->cancelStatement(pid)) || warnMissing(pid);
   }
   bool terminateBackend(int32_t pid, int64_t waitMillis) override {
      SessionControl* control = core_.database.sessionControl;
      requireSignalling(pid, "terminate", "process", "whose process is being terminated");
      if (!control || !control->terminate(pid)) return warnMissing(pid);
      constexpr int64_t sliceMillis = 10;
      for (int64_t waited = 0; waited < waitMillis && control->isOpen(pid); waited += sliceMillis)
         core_.sleep(1000 * sliceMillis);
      if (waitMillis == 0 || !control->isOpen(pid)) return true;
      core_.warnLater(sqlstate::warning, "backend with PID " + std::to_string(pid) + " did not terminate within " +
                                             std::to_string(waitMillis) + " milliseconds");
      return false;
   }

   void resetStatistics(const std::string& part, Oid object) override { engine::resetStatistics(core_, part, object); }
   std::string serverDirectory(std::string_view kind) override { return engine::serverDirectory(core_, kind); }
   std::string serverFile(std::string_view path) override { return engine::serverFile(core_, path); }
   void clearStatistics() override { core_.statistics.clear(); }
   std::optional<int64_t> statisticsTime() override {
      if (core_.settings.value("stats_fetch_consistency") != "snapshot") return std::nullopt;
      return core_.statistics.takenAt(core_.transaction.number());
   }
   bool logMemory(int32_t pid) override { return engine::logMemory(core_, pid) || warnMissing(pid); }
   int64_t logPosition() override { return static_cast<int64_t>(core_.database.storage->walPosition()); }
   std::optional<std::vector<std::string>> settingFlags(const std::string& name) override {
      const SettingInfo* info = findSetting(name);
      if (!info) return std::nullopt;
      return std::vector<std::string>(info->flags.begin(), info->flags.end());
   }

   int64_t nextValue(const catalog::Relation& sequence) override {
      requireEither(sequence, catalog::privilege::usage, catalog::privilege::update);
      refuseReadOnly(sequence, "nextval()");
      const std::optional<int64_t> restarted = core_.transaction.restartedSequences.next(sequence);
      const int64_t value = restarted ? *restarted : drawShared(sequence);
      core_.sequences.remember(sequence.oid, value);
      core_.transaction.usesCounters();
      return value;
   }
   int64_t currentValue(const catalog::Relation& sequence) override {
      requireEither(sequence, catalog::privilege::usage, catalog::privilege::select);
      if (const auto value = core_.sequences.last(sequence.oid)) return *value;
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "currval of sequence \"" + sequence.name + "\" is not yet defined in this session");
   }
   int64_t lastValue() override {
      const auto last = core_.sequences.last();
      // A dropped sequence has no last value.
      if (!last || !core_.transaction.catalog().relation(last->sequence))
         throw SqlError(sqlstate::objectNotInPrerequisiteState, "lastval is not yet defined in this session");
      return last->value;
   }
   std::optional<int64_t> lastDrawn(const catalog::Relation& sequence) override {
      requireEither(sequence, catalog::privilege::usage, catalog::privilege::select);
      const std::optional<storage::Counter> restarted = core_.transaction.restartedSequences.current(sequence.oid);
      const storage::Counter counter = restarted ? *restarted : core_.database.sequences->current(sequence);
      return counter.isCalled ? std::optional(counter.value) : std::nullopt;
   }
   void setValue(const catalog::Relation& sequence, int64_t value, bool isCalled) override {
      requirePrivilege(core_, sequence, catalog::privilege::update);
      refuseReadOnly(sequence, "setval()");
      const catalog::SequenceDefinition& definition = *sequence.sequence;
      if (value < definition.minimum || value > definition.maximum)
         throw SqlError(sqlstate::numericValueOutOfRange, "setval: value " + std::to_string(value) +
                                                              " is out of bounds for sequence \"" + sequence.name +
                                                              "\" (" + std::to_string(definition.minimum) + ".." +
                                                              std::to_string(definition.maximum) + ")");
      if (!core_.transaction.restartedSequences.set(sequence.oid, {value, isCalled}))
         while (!core_.database.sequences->set(sequence.oid, {value, isCalled}))
            waitForHolder(sequence.oid);
      if (isCalled) core_.sequences.rememberSet(sequence.oid, value);
      core_.transaction.usesCounters();
   }

private:
   int64_t drawShared(const catalog::Relation& sequence) {
      while (true) {
         if (const auto value = core_.database.sequences->next(sequence)) return *value;
         waitForHolder(sequence.oid);
      }
   }
   /// Waits for the transaction that has restarted the sequence.
   void waitForHolder(Oid sequence) {
      core_.database.locks.acquire(core_.transaction.lockOwner(), LockTag::relation(sequence), LockMode::RowExclusive,
                                   core_.transaction.lockWait());
   }
   bool warnMissing(int32_t pid) {
      core_.warnLater(sqlstate::warning, "PID " + std::to_string(pid) + " is not a PostgreSQL backend process");
      return false;
   }
   /// Superusers' sessions are for superusers; others for who is a member of their role.
   void requireSignalling(int32_t pid, const std::string& verb, const std::string& what, const std::string& whose) {
      constexpr Oid signalBackend = 4200; // the predefined role pg_signal_backend
      Oid role = invalidOid;
      {
         const MutexLock lock(core_.database.activityMutex);
         const auto found = core_.database.activity.find(pid);
         if (found == core_.database.activity.end()) return;
         role = found->second.role;
      }
      const catalog::Snapshot& snapshot = core_.transaction.catalog();
      if (catalog::isSuperuser(snapshot, core_.role())) return;
      if (catalog::isSuperuser(snapshot, role))
         throw SqlError(sqlstate::insufficientPrivilege, "must be a superuser to " + verb + " superuser " + what);
      if (catalog::inheritsFrom(snapshot, core_.role(), role) ||
          catalog::inheritsFrom(snapshot, core_.role(), signalBackend))
         return;
      throw SqlError(sqlstate::insufficientPrivilege,
                     "must be a member of the role " + whose + " or member of pg_signal_backend");
   }
   /// Who may insert rows may draw their numbers.
   bool mayInsertInto(Oid relation) const {
      const catalog::Snapshot& snapshot = core_.transaction.catalog();
      const auto table = snapshot.relation(relation);
      return table && std::any_of(table->columns.begin(), table->columns.end(), [&](const catalog::Column& column) {
                return catalog::mayUseColumn(snapshot, core_.role(), *table, column, catalog::privilege::insert);
             });
   }
   void requireEither(const catalog::Relation& sequence, uint32_t one, uint32_t other) {
      if (sequence.sequence->isIdentity && mayInsertInto(sequence.sequence->ownerRelation)) return;
      if (!catalog::mayUse(core_.transaction.catalog(), core_.role(), sequence, one))
         requirePrivilege(core_, sequence, other);
   }
   void refuseReadOnly(const catalog::Relation& sequence, const char* function) const {
      if (core_.transaction.isReadOnly() && sequence.persistence != catalog::Persistence::Temporary)
         throw SqlError(sqlstate::readOnlySqlTransaction,
                        std::string("cannot execute ") + function + " in a read-only transaction");
   }

   SessionCore& core_;
   const std::unique_ptr<executor::LargeObjectFunctions> largeObjects_;
};

} // namespace

std::unique_ptr<executor::SessionFunctions> makeSessionFunctions(SessionCore& core) {
   return std::make_unique<CoreFunctions>(core);
}

} // namespace ouzel::engine
