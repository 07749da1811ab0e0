#include <algorithm>
#include <filesystem>

#include "common/text/ascii.hpp"
#include "common/type/time_zone.hpp"
#include "common/type/zone_history.hpp"
#include "engine/query/system_state.hpp"

// What statements have done with tables and databases, what the server has written, and what it is built of: the
// statistics views, pg_config and pg_timezone_names.

namespace ouzel::engine {

namespace {

double millis(int64_t nanos) {
   return static_cast<double>(nanos) / 1e6;
}

catalog::SystemState::TableUse shown(const storage::TableUse& use) {
   const auto count = [](const storage::UseCounter& counter) { return static_cast<int64_t>(counter.load()); };
   const int64_t analyzedAt = use.analyzedAt.load();
   catalog::SystemState::TableUse result{.scans = count(use.scans),
                                         .rowsScanned = count(use.rowsScanned),
                                         .inserted = count(use.inserted),
                                         .updated = count(use.updated),
                                         .deleted = count(use.deleted),
                                         .modified = count(use.modified),
                                         .analyses = count(use.analyses),
                                         .blocksFound = count(use.blocksFound),
                                         .blocksLoaded = count(use.blocksLoaded),
                                         .analyzedAt = analyzedAt ? std::optional(analyzedAt) : std::nullopt,
                                         .lookups = {}};
   use.forEachLookup([&](const storage::LookupUse& lookup) {
      auto& row = result.lookups.emplace_back();
      for (const uint32_t column : lookup.columns)
         row.columns.push_back(static_cast<int16_t>(column + 1));
      row.scans = count(lookup.scans);
      row.rows = count(lookup.rows);
   });
   return result;
}

catalog::SystemState::FunctionUse shown(const FunctionUses::Use& use) {
   return {use.calls, millis(use.totalNanos), millis(use.selfNanos)};
}

} // namespace

/// The value as the transaction sees it.
template <typename Key, typename Value, typename Read>
Value SessionSystemState::kept(std::map<Key, Value> KeptStatistics::Numbers::*part, Key key, const Read& read) const {
   const std::string& consistency = sessionSettings_.value("stats_fetch_consistency");
   if (consistency == "none") {
      core_.statistics.clear();
      return read();
   }
   const auto takeAll = [this] { return newestNumbers(); };
   return core_.statistics.value(core_.transaction.number(), part, key, read,
                                 consistency == "snapshot" ? &takeAll : nullptr, wallClockMicros());
}

KeptStatistics::Numbers SessionSystemState::newestNumbers() const {
   KeptStatistics::Numbers all;
   for (const catalog::RelationPtr& relation : catalog_.relations())
      if (relation->storage != catalog::noStorage)
         all.tables.emplace(relation->storage, newestTableUse(relation->storage));
   for (const catalog::DatabasePtr& database : catalog_.databases())
      all.databases.emplace(database->oid, newestDatabaseUse(database->oid));
   for (const auto& [function, use] : database_.functionUses.all())
      all.functions.emplace(function, newestFunctionUse(function));
   return all;
}

catalog::SystemState::TableUse SessionSystemState::newestTableUse(catalog::StorageId id) const {
   const auto table = database_.storage->find(id);
   return table ? shown(table->use()) : TableUse();
}

catalog::SystemState::TableUse SessionSystemState::tableUse(catalog::StorageId id) const {
   return kept(&KeptStatistics::Numbers::tables, id, [&] { return newestTableUse(id); });
}

catalog::SystemState::TableUse SessionSystemState::transactionTableUse(catalog::StorageId id) const {
   const auto table = database_.storage->find(id);
   const auto use = table ? core_.transaction.storage().use().find(table->use()) : nullptr;
   return use ? shown(*use) : TableUse();
}

catalog::SystemState::DatabaseUse SessionSystemState::newestDatabaseUse(Oid database) const {
   const DatabaseUses::Use use = database_.uses.of(database);
   return {.commits = use.commits,
           .rollbacks = use.rollbacks,
           .sessions = use.sessions,
           .deadlocks = use.deadlocks,
           .resetAt = use.resetAt ? std::optional(use.resetAt) : std::nullopt};
}

catalog::SystemState::DatabaseUse SessionSystemState::databaseUse(Oid database) const {
   return kept(&KeptStatistics::Numbers::databases, database, [&] { return newestDatabaseUse(database); });
}

/// Of a function that was dropped nothing is known, from the commit on.
std::optional<catalog::SystemState::FunctionUse> SessionSystemState::newestFunctionUse(Oid function) const {
   const auto use = database_.functionUses.of(function);
   if (!use) return std::nullopt;
   const bool exists =
       catalog_.function(function) ||
       database_.catalog->newest().inDatabase(core_.transaction.catalog().database()).function(function);
   return exists ? std::optional(shown(*use)) : std::nullopt;
}

std::optional<catalog::SystemState::FunctionUse> SessionSystemState::functionUse(Oid function) const {
   return kept(&KeptStatistics::Numbers::functions, function, [&] { return newestFunctionUse(function); });
}

std::optional<catalog::SystemState::FunctionUse> SessionSystemState::transactionFunctionUse(Oid function) const {
   const auto use = core_.transaction.functionUses.of(function);
   return use ? std::optional(shown(*use)) : std::nullopt;
}

catalog::SystemState::ServerUse SessionSystemState::serverUse() const {
   const storage::LogUse log = database_.storage->logUse(), logBase = database_.serverUses.of("wal").log;
   const storage::CheckpointUse checkpoints = database_.storage->checkpointUse(),
                                checkpointBase = database_.serverUses.of("bgwriter").checkpoints;
   const auto since = [](uint64_t now, uint64_t before) { return static_cast<int64_t>(now - before); };
   return {.logFrames = since(log.frames, logBase.frames),
           .logBytes = since(log.bytes, logBase.bytes),
           .logWrites = since(log.writes, logBase.writes),
           .logSyncs = since(log.syncs, logBase.syncs),
           .logWriteMillis = millis(log.writeNanos - logBase.writeNanos),
           .logSyncMillis = millis(log.syncNanos - logBase.syncNanos),
           .checkpointsScheduled = since(checkpoints.scheduled, checkpointBase.scheduled),
           .checkpointsRequested = since(checkpoints.requested, checkpointBase.requested),
           .checkpointMillis = millis(checkpoints.nanos - checkpointBase.nanos)};
}

int64_t SessionSystemState::resetAt(const std::string& part) const {
   const int64_t at = database_.serverUses.of(part).resetAt;
   return at ? at : database_.openedAt;
}

std::vector<std::pair<std::string, std::string>> SessionSystemState::configuration() const {
   std::error_code ignored;
   const std::string programs = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
   std::vector<std::pair<std::string, std::string>> rows{{"BINDIR", programs}};
   // Ouzel is one program: it has no libraries to build extensions with, and is not configured as PostgreSQL is.
   for (const char* name : {"DOCDIR", "HTMLDIR", "INCLUDEDIR", "PKGINCLUDEDIR", "INCLUDEDIR-SERVER", "LIBDIR",
                            "PKGLIBDIR", "LOCALEDIR", "MANDIR", "SHAREDIR", "SYSCONFDIR", "PGXS"})
      rows.emplace_back(name, "");
   for (const char* name :
        {"CONFIGURE", "CC", "CPPFLAGS", "CFLAGS", "CFLAGS_SL", "LDFLAGS", "LDFLAGS_EX", "LDFLAGS_SL", "LIBS"})
      rows.emplace_back(name, "not recorded");
   rows.emplace_back("VERSION", "PostgreSQL " + sessionSettings_.show("server_version"));
   return rows;
}

std::vector<catalog::SystemState::TimeZone> SessionSystemState::timeZones() const {
   const int64_t now = core_.transaction.startTime();
   std::vector<TimeZone> rows;
   for (const std::string& name : timeZoneNames()) {
      const ouzel::TimeZone* zone = findTimeZone(name);
      if (!zone) continue;
      const auto offset = zone->offsetAt(now);
      rows.push_back({name, std::string(offset.abbreviation), int64_t{offset.seconds} * 1'000'000, offset.isDst});
   }
   return rows;
}

std::vector<catalog::SystemState::TimeZone> SessionSystemState::timeZoneAbbreviations() const {
   const int64_t now = core_.transaction.startTime();
   std::vector<TimeZone> rows;
   for (const std::string_view name : zoneAbbreviations()) {
      const ZoneAbbreviation abbreviation = *findZoneAbbreviation(name);
      TimeZone row{.name = {}, .abbreviation = std::string(name), .offsetMicros = 0, .isDst = abbreviation.isDst};
      std::transform(name.begin(), name.end(), row.abbreviation.begin(), [](char c) { return asciiUpper(c); });
      int32_t seconds = abbreviation.seconds;
      if (abbreviation.zone) {
         const auto offset = offsetOfAbbreviation(*abbreviation.zone, name, now);
         seconds = offset ? *offset : abbreviation.zone->offsetAt(now).seconds;
      }
      row.offsetMicros = int64_t{seconds} * 1'000'000;
      rows.push_back(std::move(row));
   }
   return rows;
}

} // namespace ouzel::engine
