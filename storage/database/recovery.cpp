#include "storage/database/recovery.hpp"

#include <cstdio>
#include <fmt/format.h>

#include "common/env/clock.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "io/object_store/trusted_read.hpp"
#include "storage/base/byte_codec.hpp"
#include "storage/base/table_place.hpp"
#include "storage/database/replay.hpp"
#include "storage/manifest/header_objects.hpp"

namespace ouzel::storage {

namespace {

uint64_t randomNumber() {
   const io::File source("/dev/urandom", io::File::Mode::Read);
   uint64_t value;
   source.readAt(&value, sizeof value, 0);
   return value;
}

std::string tagOf(uint64_t number) {
   char text[9];
   std::snprintf(text, sizeof text, "%08llx", static_cast<unsigned long long>(number & 0xffffffff));
   return text;
}

constexpr const char* noManifestHint =
    "Without its manifests the database cannot be read: put them back, or restore it "
    "from a backup. A new database needs an empty place.";

/// The newest manifest, or that of a new database.
Manifest loadManifest(const DatabaseFiles& files, bool& isNew) {
   std::optional<Manifest> newest = Manifest::load(files.store());
   isNew = !newest.has_value();
   if (newest) return std::move(*newest);
   if (files.options().readOnly)
      throw SqlError(sqlstate::undefinedFile, "there is no database in \"" + files.options().dataDirectory + "\"");
   if (Log::exists(files.walDirectory()))
      throw SqlError(sqlstate::dataCorrupted,
                     "\"" + files.walDirectory() + "\" holds a write-ahead log, but there is no manifest")
          .hint(noManifestHint);
   for (const char* kind : {"catalog/", "table/", "database/"})
      if (const auto found = files.store().list(kind, 1); !found.empty())
         throw SqlError(sqlstate::dataCorrupted, "\"" + files.options().dataDirectory + "\" holds \"" + found[0].name +
                                                     "\", but there is no manifest")
             .hint(noManifestHint);
   Manifest first;
   first.logId = randomNumber();
   return first;
}

/// The manifest needs a log that is missing: continue without the log if takeOver allows it, else throw.
void acceptLostLog(const DatabaseFiles& files, Manifest& manifest) {
   const std::string where = "the write-ahead log is missing in \"" + files.walDirectory() + "\"";
   if (files.options().readOnly || !files.options().takeOver)
      throw SqlError(sqlstate::dataCorrupted, where)
          .hint("The database was not shut down cleanly and needs its log. If the log is lost, --take-over starts "
                "without the transactions committed since the last checkpoint.");
   logLine(LogLevel::Warning, where + ": transactions since the last checkpoint are lost");
   manifest.logId = randomNumber(); // should the lost log be found, it is not taken for the new one
}

/// Tells the log how the database was left and what a start repeats.
class RecoveryReport {
public:
   RecoveryReport(const Manifest& manifest, bool isNew, bool isWanted)
      : begin_(manifest.replayLsn), isWanted_(isWanted && !isNew && !manifest.isClean) {
      if (!isWanted) return;
      if (isNew)
         logLine(LogLevel::Log, "creating a new database");
      else if (manifest.isClean)
         logLine(LogLevel::Log, "database system was shut down");
      else
         logLine(LogLevel::Log, "database system was not properly shut down; automatic recovery in progress");
   }
   void count(const Log::Frame&) {
      if (isWanted_ && frames_++ == 0) logLine(LogLevel::Log, fmt::format("redo starts at {:X}", begin_));
   }
   void finish(Lsn end) const {
      if (!isWanted_) return;
      if (frames_ == 0) return logLine(LogLevel::Log, "redo is not required");
      logLine(LogLevel::Log,
              fmt::format("redo done at {:X}: {} log records, {} kB, elapsed: {:.2f} s", end, frames_,
                          (end - begin_ + 1023) >> 10, static_cast<double>(steadyNanos() - start_) / 1e9));
   }

private:
   const Lsn begin_;
   const bool isWanted_;
   const int64_t start_ = steadyNanos();
   uint64_t frames_ = 0;
};

void applyDeletes(const TableCore& core, const DeletedRows& deleted) {
   for (const DeletedRows::Segment& rows : deleted.segments) {
      const SegmentPtr segment = core.findSegment(rows.id);
      if (!segment) ByteReader::corrupted();
      for (const uint32_t row : rows.rows) {
         if (row >= segment->rowCount()) ByteReader::corrupted();
         segment->versions->deletes.replaceMark(row, 1);
      }
   }
}

/// The header of a block as its own object has it, in place of the damaged one.
BlockHeader headerOfBlock(io::ObjectStore& store, const ListOfHeaders::Entry& entry, const SqlError& damage) {
   logLine(LogLevel::Warning, std::string(damage.what()) + ": the header is read from the block itself");
   const auto reader = store.open(entry.blockObject);
   if (!reader) throw SqlError(sqlstate::dataCorrupted, "missing block \"" + entry.blockObject + "\"");
   BlockHeader header =
       io::readTrusted(store, entry.blockObject, [&] { return Block::readHeader(*reader, entry.blockObject); });
   if (header.segment != entry.segment) ByteReader::corrupted();
   return header;
}

/// Load the segments of a table. `mended`: those whose stored headers are damaged, but not their blocks.
void loadSegments(TableCore& core, StoredTable& stored, std::set<SegmentId>& mended) {
   io::ObjectStore& store = core.context.store;
   stored.list = ListOfHeaders::deserialize(getSealed(store, stored.listName));
   HeaderObjects headers(store);
   for (const ListOfHeaders::Entry& entry : stored.list.entries) {
      auto segment = std::make_shared<Segment>();
      segment->id = entry.segment;
      segment->versions = std::make_shared<SegmentVersions>();
      BlockHeader header;
      try {
         header = headers.read(entry);
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::dataCorrupted) throw;
         header = headerOfBlock(store, entry, error);
         mended.insert(entry.segment);
         core.mended = error.what();
      }
      segment->block = std::make_shared<Block>(store, core.context.cache, entry.blockObject, std::move(header));
      segment->versions->addCommit(1, segment->block->header().rowCount, 0);
      {
         const MutexLock lock(core.mutex);
         core.addSegment(std::move(segment));
      }
      stored.segments.push_back(entry.segment);
   }
   if (stored.list.deleteObject.empty()) return;
   const std::string bytes = getSealed(store, stored.list.deleteObject);
   stored.deleteChecksum = checksumOf(bytes);
   applyDeletes(core, DeletedRows::deserialize(bytes));
}

/// A damaged table is XX001 by itself. A database without any object of a table is in the wrong place: it is refused.
void requireTables(io::ObjectStore& store) {
   for (const char* prefix : tablePrefixes)
      if (!store.list(prefix, 1).empty()) return;
   throw SqlError(sqlstate::dataCorrupted, "the manifest names tables, but there is no object below \"table/\"")
       .hint("Put the tables back, or restore the database from a backup.");
}

/// Load a table. One that is damaged gets no segments; its stored state stays as it is.
StoredTable loadTable(TableCore& core, const std::string& listName, std::set<std::string>& names) {
   StoredTable stored;
   if (listName.empty()) return stored;
   stored.listName = listName;
   std::set<SegmentId> mended;
   try {
      loadSegments(core, stored, mended);
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::dataCorrupted) throw;
      requireTables(core.context.store);
      core.damage = error.what();
      {
         const MutexLock lock(core.mutex);
         core.segments = std::make_shared<const SegmentList>();
      }
      stored.segments.clear();
      stored.deleteChecksum = 0;
      logLine(LogLevel::Error,
              fmt::format("table with storage id {} cannot be read: {}", static_cast<uint64_t>(core.id), error.what()));
   }
   stored.addNames(names);
   if (mended.empty() || !core.damage.empty()) return stored;
   // The next checkpoint stores these headers again: no list of segments equals this one.
   std::erase_if(stored.list.entries, [&](const auto& entry) { return mended.contains(entry.segment); });
   stored.segments = {0};
   return stored;
}

void loadTables(StoredState& stored, StorageContext& context, TableRegistry& tables) {
   std::set<std::string> names;
   for (const Manifest::Table& entry : stored.manifest().tables) {
      auto core = std::make_unique<TableCore>(context, entry.id, entry.columns);
      stored.setTable(entry.id, loadTable(*core, entry.listOfHeaders, names));
      tables.putCommitted(std::make_shared<Table>(std::move(core)));
   }
   stored.addReferenced(names);
}

void loadCatalog(StoredState& stored, io::ObjectStore& store, RecoveredCatalog& catalog) {
   const std::string& name = stored.manifest().catalogObject;
   if (name.empty()) return;
   catalog.image = getSealed(store, name);
   stored.setCatalogChecksum(checksumOf(catalog.image));
   stored.addReferenced({name});
}

/// Publish this server's first manifests and start the log between them.
void beginEpoch(const DatabaseFiles& files, StoredState& stored, Log& log, bool hasNoLog) {
   WriterLease& lease = files.writerLease();
   // The first manifest is put before the log is made, so that there is never a log without a manifest that has its id.
   // It is put also when a manifest exists: its writer may have died before the name was durable, and a power cut may
   // still remove it. It is marked clean when there is no log.
   Manifest first = stored.manifest();
   CHECK(first.epoch < lease.epoch());
   ++first.version;
   first.epoch = lease.epoch();
   first.isClean = hasNoLog || first.isClean;
   stored.publishSame(std::move(first));
   lease.require();
   log.start(lease.mayPredecessorLive());
   Manifest next = stored.manifest();
   ++next.version;
   next.isClean = false;
   next.isComplete = !files.options().keepsLog;
   stored.publishSame(std::move(next));
   CHECK(log.endLsn() >= stored.manifest().replayLsn);
}

/// Remove objects that neither the manifest nor the log names. Which blocks a damaged table has is not known: all of
/// its objects stay.
void removeOrphans(StoredState& stored, const TableRegistry& tables, const RetiredSegments& retired,
                   std::set<std::string> namedByLog) {
   for (const auto& table : tables.all()) {
      TableCore& core = table->core();
      for (const SegmentPtr& segment : *core.segmentList())
         if (segment->block) namedByLog.insert(segment->block->objectName());
      if (core.damage.empty()) continue;
      for (const io::ObjectInfo& object : core.context.store.list(prefixOf(core.id)))
         namedByLog.insert(object.name);
   }
   retired.addBlockNames(namedByLog);
   stored.removeOrphans(namedByLog);
}

} // namespace

RecoveredDatabase recoverDatabase(DatabaseFiles& files, StorageContext& context, TableRegistry& tables,
                                  Counters& counters, RetiredSegments& retired) {
   RecoveredCatalog catalog;
   Manifest manifest = loadManifest(files, catalog.isNew);
   context.sessionTag = tagOf(randomNumber());
   context.ids.continueBehind(manifest);
   counters.replaceAll(manifest.counters);
   context.transactions.publish(manifest.lastCommit);
   const bool isLogLost = !catalog.isNew && manifest.needsLog() && !Log::exists(files.walDirectory());
   if (isLogLost) acceptLostLog(files, manifest);

   StoredState stored(files, std::move(manifest));
   loadCatalog(stored, files.store(), catalog);
   loadTables(stored, context, tables);
   const DatabaseOptions& options = files.options();
   auto log = std::make_unique<Log>(files.walDirectory(), stored.manifest().logId, options.store.key, options.keepsLog);
   Replay replay(context, tables, counters, retired, stored.manifest().lastCommit, !options.readOnly,
                 options.takeOver || options.readOnly);
   RecoveryReport report(stored.manifest(), catalog.isNew, !options.readOnly);
   log->replay(stored.manifest().replayLsn, [&](Log::Frame&& frame) {
      report.count(frame);
      replay.apply(std::move(frame));
   });
   replay.finish();
   report.finish(log->endLsn());
   catalog.changes = replay.takeCatalogChanges();
   CHECK(replay.lastCommit() == context.transactions.lastCommitted());

   if (!options.readOnly) {
      beginEpoch(files, stored, *log, catalog.isNew || isLogLost);
      stored.removeUnused();
      removeOrphans(stored, tables, retired, replay.namedObjects());
   }
   return {std::move(catalog), std::move(stored), std::move(log), replay.lastCommit()};
}

} // namespace ouzel::storage
