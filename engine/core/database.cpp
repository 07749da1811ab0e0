#include "engine/core/database.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "catalog/builtin/builtin.hpp"
#include "catalog/catalog.hpp"
#include "catalog/object/codec.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/system_relations.hpp"
#include "catalog/object/verify.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "common/log/secrets.hpp"
#include "common/memory/large_memory.hpp"
#include "common/memory/machine_memory.hpp"
#include "engine/core/following.hpp"
#include "engine/core/internals.hpp"
#include "engine/core/temporary_objects.hpp"
#include "engine/core/upgrade_catalog.hpp"
#include "engine/setting/settings.hpp"
#include "engine/statement/statement_statistics.hpp"
#include "executor/function/registry.hpp"
#include "io/spill/spill_target.hpp"
#include "io/store/open_store.hpp"

namespace ouzel::engine {

namespace {

bool keepsLog(const DatabaseOptions& options) {
   return !options.walDirectory.empty() || !io::isRemoteStore(options.dataDirectory);
}

storage::DatabaseOptions storageOptions(const DatabaseOptions& options) {
   storage::DatabaseOptions result;
   result.dataDirectory = options.dataDirectory;
   result.walDirectory = options.walDirectory;
   result.keepsLog = keepsLog(options);
   result.store = options.store;
   result.leaseMs = options.leaseMs;
   result.takeOver = options.takeOver;
   result.follows = options.readOnly;
   result.replacedBlocksNanos = 2'000'000 * Following::periodMs;
   result.onFenced = options.onFenced;
   if (options.checkpointWalBytes != 0) result.checkpointWalBytes = options.checkpointWalBytes;
   return result;
}

/// The default directory of spill files: the log's or data directory of this server, or else the system's temporary
/// one. A read-only server may own neither directory. Spill files are unlinked, so that servers can share a directory.
std::string spillDirectory(const DatabaseOptions& options) {
   if (!options.walDirectory.empty() && (options.readOnly || io::isRemoteStore(options.dataDirectory)))
      return options.walDirectory + "/spill";
   if (options.readOnly || !keepsLog(options)) return std::filesystem::temp_directory_path().string();
   return options.dataDirectory + "/spill";
}

catalog::Snapshot recoveredCatalog(storage::Database& storage) {
   const storage::RecoveredCatalog recovered = storage.takeRecoveredCatalog();
   catalog::Snapshot snapshot =
       recovered.image.empty() ? catalog::Snapshot::bootstrap() : catalog::decodeSnapshot(recovered.image);
   bool isOld = !recovered.image.empty() && !catalog::isComplete(recovered.image);
   for (const std::string& change : recovered.changes) {
      if (change.empty()) continue;
      snapshot = snapshot.apply(catalog::decodeChanges(change));
      isOld = isOld || !catalog::isComplete(change);
   }
   // The next checkpoint writes what was added. Until then each start finds the same again.
   return isOld ? upgradeCatalog(snapshot) : snapshot;
}

} // namespace

Database::Database() : internals_(std::make_unique<Internals>()) {}

Database::~Database() = default;

std::unique_ptr<Database> Database::open(const DatabaseOptions& options) {
   executor::registerAllKernels();
   // Parse the built-in catalog now, so that the first statement does not wait for it.
   static_cast<void>(catalog::builtins());
   static_cast<void>(catalog::systemRelations());
   std::unique_ptr<Database> database(new Database());
   Internals& internals = *database->internals_;
   internals.options = options;
   if (internals.options.threads == 0)
      internals.options.threads = static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
   internals.memoryLimit = options.memoryLimit ? options.memoryLimit : machineMemory() / 10 * 8;
   SettingList& own = internals.ownSettings;
   own.emplace_back("memory_limit", std::to_string(internals.memoryLimit >> 20));
   own.emplace_back("threads", std::to_string(internals.options.threads));
   own.emplace_back("ouzel.lease_seconds", std::to_string(options.leaseMs / 1000));
   own.emplace_back("ouzel.keeps_log", keepsLog(options) ? "on" : "off");
   if (options.readOnly) own.emplace_back("in_hot_standby", "on");
   internals.options.settings.insert(internals.options.settings.end(), own.begin(), own.end());
   internals.defaults.set(internals.options.settings);
   if (!options.readOnly && !keepsLog(options) &&
       Settings(internals.options.settings).value("ouzel.commit") != "object_store")
      throw SqlError(sqlstate::invalidParameterValue, "a database in a bucket needs a log on a local disk")
          .hint("Start with --wal DIR, or with --commit object_store to let every COMMIT wait for the bucket.");
   internals.governor = std::make_unique<storage::MemoryGovernor>(internals.memoryLimit);
   if (options.purgeMemory) internals.governor->watchResidency(options.purgeMemory);
   const Settings settings(internals.options.settings);
   internals.statements = std::make_unique<StatementStatistics>(
       internals.governor->ledger(), static_cast<size_t>(std::stoll(settings.valueOf("pg_stat_statements.max"))));
   LargeMemory::keepAtMost(internals.memoryLimit / 32);
   io::SpillOptions spill;
   spill.targets = options.spillTargets;
   if (spill.targets.empty()) spill.targets.push_back(spillDirectory(options));
   spill.encrypts = options.store.key != nullptr;
   spill.memory = &internals.governor->ledger();
   std::vector<std::string> names; // without passwords
   for (const std::string& target : spill.targets)
      names.push_back(io::spillTargetName(target));
   logLine(LogLevel::Log,
           fmt::format("memory limit {} MB, {} worker threads, spilling to \"{}\"", internals.memoryLimit >> 20,
                       internals.options.threads, fmt::join(names, "\", \"")));
   if (internals.memoryLimit > machineMemory())
      logRecord({.level = LogLevel::Warning,
                 .message = fmt::format("memory_limit ({} MB) is more than this machine, or its container, has ({} MB)",
                                        internals.memoryLimit >> 20, machineMemory() >> 20),
                 .hint = "A server that runs out of memory is killed: set --memory-limit to 80 % of what there is."});
   internals.spill = std::make_unique<io::SpillManager>(std::move(spill));
   internals.governor->setSpillCost([&spill = *internals.spill] { return spill.nanosPerByte(); });
   internals.shares = std::make_unique<executor::MemoryShares>(internals.governor->ledger(), internals.governor.get());
   internals.scheduler = std::make_unique<executor::Scheduler>(internals.options.threads);
   storage::DatabaseOptions forStorage = storageOptions(options);
   if (forStorage.store.cache) forStorage.store.cache->memory = &internals.governor->ledger();
   internals.storage = storage::Database::open(forStorage, *internals.governor, *internals.scheduler);
   internals.catalog = std::make_unique<catalog::Catalog>(recoveredCatalog(*internals.storage));
   const std::vector<std::string> damage = catalog::findDamage(internals.catalog->newest());
   for (const std::string& line : damage)
      logLine(LogLevel::Error, "the catalog is damaged: " + line);
   if (!options.readOnly) { // before a checkpoint may move rows
      internals.prepared = std::make_unique<PreparedTransactions>(*internals.storage, internals.locks);
      for (const auto& prepared : internals.catalog->newest().preparedTransactions())
         internals.prepared->restore(*prepared);
   }
   internals.storage->setCatalogImageSource(
       [&catalog = *internals.catalog] { return catalog::encodeSnapshot(catalog.newest()); });
   internals.sequences = std::make_unique<SequenceValues>(*internals.storage);
   if (options.readOnly) {
      internals.following = std::make_unique<Following>(internals);
      internals.following->start();
      return database;
   }
   for (const Oid sequence : internals.storage->counters())
      if (!internals.catalog->newest().object({catalog::ObjectKind::Relation, sequence}))
         internals.storage->forgetCounter(sequence);      // the sequence was dropped
   if (damage.empty()) dropUnreferencedTables(internals); // a damaged catalog may lack relations
   return database;
}

uint64_t Database::check(const DatabaseOptions& databaseOptions,
                         const std::function<void(const std::string&)>& report) {
   storage::MemoryGovernor governor(size_t{1} << 30);
   InlineTaskRunner tasks;
   storage::DatabaseOptions options = storageOptions(databaseOptions);
   options.readOnly = true;
   const auto storage = storage::Database::open(options, governor, tasks);
   uint64_t faults = 0;
   storage->check([&](std::string_view line) {
      ++faults;
      report(std::string(line));
   });
   for (const std::string& line : catalog::findDamage(recoveredCatalog(*storage))) {
      ++faults;
      report(line);
   }
   return faults;
}

void Database::close() {
   internals_->following.reset();
   internals_->prepared.reset(); // the catalog keeps them
   internals_->sequences->logExactValues();
   internals_->storage->close();
}

MemoryLedger& Database::ledger() {
   return internals_->governor->ledger();
}

void Database::checkSetting(const std::string& name, const std::string& value) {
   const Settings checked({{name, value}});
   static_cast<void>(checked);
}

void Database::setDefaults(const SettingList& settings, const std::function<void(const SettingList&)>& prepare) {
   const std::shared_ptr<const SettingList> before = internals_->defaults.get();
   SettingList after = settings;
   after.insert(after.end(), internals_->ownSettings.begin(), internals_->ownSettings.end());
   const Settings old(*before), fresh(after);
   std::vector<std::string> changes;
   for (const SettingInfo& info : settingTable()) {
      const std::string &was = old.values()[info.index], &is = fresh.values()[info.index];
      if (was == is) continue;
      if (info.context == "internal" || info.context == "postmaster") {
         after.emplace_back(info.name, was);
         changes.push_back(fmt::format("parameter \"{}\" cannot be changed without restarting the server", info.name));
      } else {
         changes.push_back(fmt::format("parameter \"{}\" changed to \"{}\"", info.name, displaySetting(info, is)));
      }
   }
   prepare(after);
   internals_->defaults.set(after);
   for (const std::string& change : changes)
      logLine(LogLevel::Log, change);
}

std::string Database::Internals::statementForLog(int32_t processId) {
   std::string query;
   {
      const MutexLock lock(activityMutex);
      const auto found = activity.find(processId);
      if (found == activity.end()) return "<backend information not available>";
      query = found->second.query;
   }
   MaskedStatement masked = maskSecrets(query);
   return masked.isMasked() ? std::move(masked.text) : query;
}

void Database::setSessionControl(SessionControl* control) {
   internals_->sessionControl = control;
}

std::string Database::passwordVerifier(const std::string& role) {
   const auto found = internals_->catalog->newest().findRole(role);
   if (!found) throw SqlError(sqlstate::invalidAuthorizationSpecification, "role \"" + role + "\" does not exist");
   const auto own = internals_->verifiers.find(role);
   return own == internals_->verifiers.end() ? found->verifier : own->second;
}

bool Database::isPasswordExpired(const std::string& role) const {
   const auto found = internals_->catalog->newest().findRole(role);
   return found && found->validUntil && *found->validUntil < wallClockMicros() && !internals_->verifiers.contains(role);
}

bool Database::isSuperuser(const std::string& role) const {
   const auto found = internals_->catalog->newest().findRole(role);
   return found && found->isSuperuser;
}

bool Database::isMember(const std::string& user, const std::string& role) const {
   const catalog::Snapshot snapshot = internals_->catalog->newest().inDatabase(catalog::postgresDatabase);
   const auto member = snapshot.findRole(user), of = snapshot.findRole(role);
   return member && of && catalog::isMemberOf(snapshot, member->oid, of->oid);
}

void Database::setPasswordVerifier(const std::string& role, const std::string& verifier) {
   if (internals_->following) {
      internals_->verifiers[role] = verifier;
      return;
   }
   catalog::CatalogEditor editor(internals_->catalog->newest().inDatabase(catalog::postgresDatabase),
                                 [this] { return internals_->storage->allocateOid(); });
   const auto found = editor.snapshot().findRole(role);
   if (!found || found->verifier == verifier) return;
   catalog::Role changed = *found;
   changed.verifier = verifier;
   editor.replaceRole(std::move(changed));
   const auto transaction = internals_->storage->begin();
   auto commit = internals_->catalog->prepare(editor);
   storage::CommitRequest request;
   request.catalogChange = commit.record();
   request.publish = [&commit](storage::Timestamp) { commit.publish(); };
   internals_->storage->commit(*transaction, std::move(request));
   if (!keepsLog(internals_->options)) internals_->storage->waitForStore(transaction->commitLsn());
}

} // namespace ouzel::engine
