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

} // namespace

catalog::SystemState::TableUse SessionSystemState::tableUse(catalog::StorageId id) const {
   const auto table = database_.storage->find(id);
   if (!table) return {};
   const storage::TableUse& use = table->use();
   const auto count = [](const std::atomic<uint64_t>& counter) { return static_cast<int64_t>(counter.load()); };
   const int64_t analyzedAt = use.analyzedAt.load();
   TableUse result{.scans = count(use.scans),
                   .rowsScanned = count(use.rowsScanned),
                   .inserted = count(use.inserted),
                   .updated = count(use.updated),
                   .deleted = count(use.deleted),
                   .modified = count(use.modified),
                   .analyses = count(use.analyses),
                   .analyzedAt = analyzedAt ? std::optional(analyzedAt) : std::nullopt,
                   .lookups = {}};
   use.forEachLookup([&](const storage::LookupUse& lookup) {
      TableUse::Lookup& row = result.lookups.emplace_back();
      for (const uint32_t column : lookup.columns)
         row.columns.push_back(static_cast<int16_t>(column + 1));
      row.scans = count(lookup.scans);
      row.rows = count(lookup.rows);
   });
   return result;
}

catalog::SystemState::DatabaseUse SessionSystemState::databaseUse(Oid database) const {
   const DatabaseUses::Use use = database_.uses.of(database);
   return {.commits = use.commits,
           .rollbacks = use.rollbacks,
           .sessions = use.sessions,
           .deadlocks = use.deadlocks,
           .resetAt = use.resetAt ? std::optional(use.resetAt) : std::nullopt};
}

std::optional<catalog::SystemState::FunctionUse> SessionSystemState::functionUse(Oid function) const {
   const auto use = database_.functionUses.of(function);
   if (!use) return std::nullopt;
   return FunctionUse{use->calls, millis(use->totalNanos), millis(use->selfNanos)};
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
