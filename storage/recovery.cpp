#include <cstdio>
#include <cstring>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/batch_codec.hpp"
#include "storage/database_state.hpp"

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

/// Applies log records. Single-threaded; nobody else uses the tables yet.
class Replay {
public:
   explicit Replay(Database::State& state) : state_(state) {}

   void apply(Log::Frame&& frame) {
      if (frame.kind == FrameKind::Counter) {
         ByteReader in(frame.payload);
         const auto [id, counter] = readCounter(in);
         state_.counters[id] = counter;
         return;
      }
      if (frame.kind != FrameKind::Commit)
         throw SqlError(sqlstate::dataCorrupted, "write-ahead log holds a record of unknown kind");
      const CommitRecord record = CommitRecord::deserialize(frame.payload);
      if (frame.timestamp <= state_.lastAssigned)
         throw SqlError(sqlstate::dataCorrupted, "write-ahead log is corrupted: commits are out of order");
      for (const auto& created : record.created)
         addTable(created.id, created.columns);
      for (const auto& added : record.added)
         addColumn(added);
      for (const auto& writes : record.writes)
         applyWrites(writes, frame.timestamp);
      for (const StorageId id : record.dropped)
         dropTable(id);
      if (!record.catalogChange.empty()) state_.recovered.changes.push_back(record.catalogChange);
      state_.nextOid = std::max(state_.nextOid.load(), record.nextOid);
      state_.nextStorage = std::max(state_.nextStorage.load(), record.nextStorage);
      state_.context->nextSegment = std::max(state_.context->nextSegment.load(), record.nextSegment);
      state_.lastAssigned = frame.timestamp;
      state_.transactions.publish(frame.timestamp);
   }

   const std::set<std::string>& namedObjects() const { return namedObjects_; }

private:
   void addTable(StorageId id, std::vector<ColumnDefinition> columns) {
      auto& entry = state_.tables[id];
      if (entry.table) throw SqlError(sqlstate::dataCorrupted, "write-ahead log creates a table twice");
      entry.committedColumns = static_cast<uint32_t>(columns.size());
      entry.isCommitted = true;
      entry.table = std::make_shared<Table>(std::make_unique<TableCore>(*state_.context, id, std::move(columns)));
   }

   TableCore& coreOf(StorageId id) {
      const auto it = state_.tables.find(id);
      if (it == state_.tables.end()) throw SqlError(sqlstate::dataCorrupted, "write-ahead log names an unknown table");
      return it->second.table->core();
   }

   void addColumn(const CommitRecord::AddedColumn& added) {
      TableCore& core = coreOf(added.id);
      auto columns = std::make_shared<std::vector<ColumnDefinition>>(*core.columns);
      columns->push_back(added.column);
      core.columns = std::move(columns);
      ++state_.tables[added.id].committedColumns;
   }

   void dropTable(StorageId id) {
      coreOf(id).isDropped = !state_.options.readOnly;
      state_.tables.erase(id);
   }

   void applyWrites(const CommitRecord::TableWrites& writes, Timestamp timestamp) {
      TableCore& core = coreOf(writes.id);
      for (const auto& rows : writes.rows)
         applyRows(core, rows, timestamp);
      for (const auto& logged : writes.blocks) {
         const auto reader = state_.store->open(logged.objectName);
         if (!reader)
            throw SqlError(sqlstate::dataCorrupted, "missing block \"" + logged.objectName + "\" of a committed load");
         auto segment = std::make_shared<Segment>();
         segment->id = logged.segment;
         segment->versions = std::make_shared<SegmentVersions>();
         segment->block = std::make_shared<Block>(*state_.store, state_.governor.cache(), logged.objectName,
                                                  Block::readHeader(*reader, logged.objectName));
         segment->versions->addCommit(timestamp, segment->block->header().rowCount, 0);
         core.addSegment(std::move(segment));
         namedObjects_.insert(logged.objectName);
      }
      for (const auto& deletes : writes.deletes) {
         const SegmentPtr segment = core.findSegment(deletes.segment);
         if (!segment) throw SqlError(sqlstate::dataCorrupted, "write-ahead log deletes rows of an unknown segment");
         for (const uint32_t row : deletes.rows) {
            if (row >= segment->rowCount())
               throw SqlError(sqlstate::dataCorrupted, "write-ahead log deletes a row that does not exist");
            segment->versions->deletes.settle(row, timestamp);
         }
      }
   }

   void applyRows(TableCore& core, const LocalWrites::LoggedRows& rows, Timestamp timestamp) {
      SegmentPtr segment = core.findSegment(rows.segment);
      if (!segment) {
         segment = core.newDeltaSegment(rows.segment);
         core.addSegment(segment);
      }
      if (!segment->delta || segment->delta->rowCount() != rows.firstRow)
         throw SqlError(sqlstate::dataCorrupted, "write-ahead log is corrupted: rows are not in order");
      ByteReader in(rows.batches);
      const std::vector<Value> missing = core.missingValues();
      while (!in.atEnd()) {
         Arena arena;
         const Batch batch = decodeBatch(in, arena);
         if (batch.columns.size() > segment->columnCount() || batch.liveRows() > segment->delta->room())
            ByteReader::corrupted();
         segment->delta->append(batch, missing);
      }
      if (segment->delta->rowCount() != rows.firstRow + rows.rowCount) ByteReader::corrupted();
      segment->versions->addCommit(timestamp, segment->delta->rowCount(), timestamp);
   }

   Database::State& state_;
   std::set<std::string> namedObjects_;
};

void loadTable(Database::State& state, const Manifest::Table& entry) {
   auto core = std::make_unique<TableCore>(*state.context, entry.id, entry.columns);
   Database::State::Persisted persisted;
   if (!entry.listOfHeaders.empty()) {
      persisted.listName = entry.listOfHeaders;
      persisted.list = ListOfHeaders::deserialize(getSealed(*state.store, entry.listOfHeaders));
      state.referencedObjects.insert(entry.listOfHeaders);
      std::map<std::string, std::unique_ptr<io::ObjectReader>> readers;
      for (const ListOfHeaders::Entry& header : persisted.list.entries) {
         auto& reader = readers[header.headerObject];
         if (!reader) reader = state.store->open(header.headerObject);
         if (!reader) throw SqlError(sqlstate::dataCorrupted, "missing object \"" + header.headerObject + "\"");
         if (header.offset + header.size > reader->size() || header.size > (uint64_t{1} << 30)) ByteReader::corrupted();
         std::string bytes(header.size, '\0');
         reader->read(header.offset, bytes.size(), bytes.data());
         if (checksumOf(bytes) != header.checksum)
            throw SqlError(sqlstate::dataCorrupted, "checksum mismatch in object \"" + header.headerObject + "\"");
         auto segment = std::make_shared<Segment>();
         segment->id = header.segment;
         segment->versions = std::make_shared<SegmentVersions>();
         segment->block = std::make_shared<Block>(*state.store, state.governor.cache(), header.blockObject,
                                                  BlockHeader::deserialize(bytes));
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
   if (!recovered.isNew && !manifest.isClean && !Log::exists(walDirectory))
      throw SqlError(sqlstate::dataCorrupted, "the write-ahead log is missing in \"" + walDirectory + "\"")
          .hint("The database was not shut down cleanly and needs its log.");

   if (!manifest.catalogObject.empty()) {
      recovered.image = getSealed(*store, manifest.catalogObject);
      referencedObjects.insert(manifest.catalogObject);
   }
   for (const Manifest::Table& entry : manifest.tables)
      loadTable(*this, entry);
   log = std::make_unique<Log>(walDirectory, manifest.logId);
   Replay replay(*this);
   log->replay(manifest.replayLsn, [&](Log::Frame&& frame) { replay.apply(std::move(frame)); });
   queue = std::make_unique<CommitQueue>(*log);
   if (options.readOnly) return;

   if (recovered.isNew) {
      // First, so that a log never stands without the manifest that knows it. Clean: there may be no log yet.
      Manifest first = manifest;
      first.version = 1;
      first.isClean = true;
      publishManifest(std::move(first), {});
   }
   log->start();
   Manifest next = manifest;
   next.version = manifest.version + 1;
   next.epoch = manifest.epoch + 1;
   next.isClean = false;
   publishManifest(std::move(next), referencedObjects);
   removeOrphans(replay.namedObjects());
}

} // namespace ouzel::storage
