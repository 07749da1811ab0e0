#include <cstdio>
#include <cstring>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "storage/base/byte_codec.hpp"
#include "storage/database/database_state.hpp"
#include "storage/database/replay.hpp"
#include "storage/manifest/header_objects.hpp"

// From a directory to a database: the newest manifest gives the blocks and what is deleted in them, the log gives the
// commits since. Rows come back under the ids they had.

namespace ouzel::storage {

namespace {

uint64_t randomNumber() {
   const io::File source("/dev/urandom", io::File::Mode::Read);
   uint64_t value;
   source.readAt(&value, sizeof value, 0);
   return value;
}

void loadTable(Database::State& state, const Manifest::Table& entry) {
   auto core = std::make_unique<TableCore>(*state.context, entry.id, entry.columns);
   Database::State::Persisted persisted;
   if (!entry.listOfHeaders.empty()) {
      persisted.listName = entry.listOfHeaders;
      persisted.list = ListOfHeaders::deserialize(getSealed(*state.store, entry.listOfHeaders));
      state.referencedObjects.insert(entry.listOfHeaders);
      HeaderObjects headers(*state.store);
      for (const ListOfHeaders::Entry& header : persisted.list.entries) {
         auto segment = std::make_shared<Segment>();
         segment->id = header.segment;
         segment->versions = std::make_shared<SegmentVersions>();
         segment->block =
             std::make_shared<Block>(*state.store, state.governor.cache(), header.blockObject, headers.read(header));
         segment->versions->addCommit(1, segment->block->header().rowCount, 0);
         core->addSegment(std::move(segment));
         persisted.segments.push_back(header.segment);
         state.referencedObjects.insert(header.headerObject);
      }
      if (!persisted.list.deleteObject.empty()) {
         state.referencedObjects.insert(persisted.list.deleteObject);
         const std::string bytes = getSealed(*state.store, persisted.list.deleteObject);
         const DeletedRows deleted = DeletedRows::deserialize(bytes);
         persisted.deleteChecksum = checksumOf(bytes);
         for (const DeletedRows::Segment& rows : deleted.segments) {
            const SegmentPtr segment = core->findSegment(rows.id);
            if (!segment) ByteReader::corrupted();
            for (const uint32_t row : rows.rows) {
               if (row >= segment->rowCount()) ByteReader::corrupted();
               segment->versions->deletes.settle(row, 1);
            }
         }
      }
   }
   auto& table = state.tables[entry.id];
   table.committedColumns = static_cast<uint32_t>(entry.columns.size());
   table.isCommitted = true;
   table.table = std::make_shared<Table>(std::move(core));
   state.persisted[entry.id] = std::move(persisted);
}

std::string tagOf(uint64_t number) {
   char text[9];
   std::snprintf(text, sizeof text, "%08llx", static_cast<unsigned long long>(number & 0xffffffff));
   return text;
}

} // namespace

void Database::State::claim() {
   LeaseOptions leaseOptions;
   leaseOptions.durationMs = options.leaseMs;
   leaseOptions.takesOver = options.takeOver;
   leaseOptions.onFenced = options.onFenced;
   const std::optional<Manifest> newest = Manifest::load(*store);
   lease = std::make_unique<WriterLease>(*store, std::move(leaseOptions), newest ? newest->epoch : 0);
}

void Database::State::releaseLease() {
   try {
      if (lease) lease->release();
   } catch (const SqlError& error) {
      logLine(LogLevel::Warning, std::string("could not release the writer's lease: ") + error.what());
   }
}

void Database::State::removeLeftovers() {
   try {
      store->removeLeftovers();
   } catch (const SqlError& error) {
      logLine(LogLevel::Warning, std::string("could not remove unfinished objects: ") + error.what());
   }
}

void Database::State::recover() {
   std::optional<Manifest> newest = Manifest::load(*store);
   recovered.isNew = !newest.has_value();
   if (newest) {
      manifest = std::move(*newest);
   } else {
      if (options.readOnly)
         throw SqlError(sqlstate::undefinedFile, "there is no database in \"" + options.dataDirectory + "\"");
      if (Log::exists(walDirectory))
         throw SqlError(sqlstate::dataCorrupted,
                        "\"" + walDirectory + "\" holds a write-ahead log, but there is no manifest");
      manifest.logId = randomNumber();
   }
   context = std::make_unique<StorageContext>(*store, governor.cache(), deltaMemory, tasks, transactions, keyIndexes);
   context->sessionTag = tagOf(randomNumber());
   context->nextSegment = manifest.nextSegment;
   nextOid = manifest.nextOid;
   nextStorage = manifest.nextStorage;
   lastAssigned = manifest.lastCommit;
   counters = manifest.counters;
   transactions.publish(manifest.lastCommit);
   const bool isLogLost = !recovered.isNew && manifest.needsLog() && !Log::exists(walDirectory);
   if (isLogLost) {
      if (options.readOnly || !options.takeOver)
         throw SqlError(sqlstate::dataCorrupted, "the write-ahead log is missing in \"" + walDirectory + "\"")
             .hint("The database was not shut down cleanly and needs its log. If the log is lost, --take-over starts "
                   "without the transactions committed since the last checkpoint.");
      logLine(LogLevel::Warning, "the write-ahead log is missing in \"" + walDirectory +
                                     "\": transactions since the last checkpoint are lost");
      manifest.logId = randomNumber(); // the lost one, should it be found, does not belong to what follows
   }

   if (!manifest.catalogObject.empty()) {
      recovered.image = getSealed(*store, manifest.catalogObject);
      catalogChecksum = checksumOf(recovered.image);
      referencedObjects.insert(manifest.catalogObject);
   }
   for (const Manifest::Table& entry : manifest.tables)
      loadTable(*this, entry);
   log = std::make_unique<Log>(walDirectory, manifest.logId, options.store.key, options.keepsLog);
   Replay replay(*this);
   log->replay(manifest.replayLsn, [&](Log::Frame&& frame) { replay.apply(std::move(frame)); });
   replay.finish();
   if (options.readOnly) return;
   queue = std::make_unique<CommitQueue>(*log, *lease);

   // First, so that a log never stands without the manifest that knows it. Also when there is one: whoever wrote it may
   // have died before its name was on disk, and then a power cut takes it away again. Clean: there may be no log yet.
   Manifest first = manifest;
   first.version = manifest.version + 1;
   first.epoch = lease->epoch();
   first.isClean = recovered.isNew || isLogLost || manifest.isClean;
   publishManifest(std::move(first), referencedObjects);
   lease->require();
   log->start(lease->mayPredecessorLive());
   Manifest next = manifest;
   next.version = manifest.version + 1;
   next.epoch = lease->epoch();
   next.isClean = false;
   next.isComplete = !options.keepsLog;
   publishManifest(std::move(next), referencedObjects);
   removeUnused();
   removeOrphans(replay.namedObjects());
   startGroup();
}

} // namespace ouzel::storage
