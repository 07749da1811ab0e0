#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/database_state.hpp"

// A checkpoint. Under the commit lock it fixes what belongs to it: the log position, the catalog image, each table's
// segments. Then, while others go on, delta segments become blocks under the same segment ids (rows keep their order,
// dead ones included), headers and deletes are written, and one put of a manifest makes all of it the database's state.

namespace ouzel::storage {

namespace {

struct CapturedTable {
   std::shared_ptr<Table> table;
   std::vector<ColumnDefinition> columns;
   SegmentList segments;
};

/// The block that a sealed delta segment becomes.
SegmentPtr encodeSegment(StorageContext& context, StorageId table, const Segment& segment) {
   const uint32_t rows = segment.versions->committedRows();
   BlockBuilder builder(segment.delta->types());
   for (uint32_t first = 0; first < rows; first += rowGroupRows)
      builder.addRowGroup(segment.delta->slices(first, std::min(rowGroupRows, rows - first)));
   const std::string name = context.newBlockName(table, segment.id);
   auto result = std::make_shared<Segment>();
   result->id = segment.id;
   result->versions = segment.versions;
   result->block =
       std::make_shared<Block>(context.store, context.cache, name, builder.finish(context.store, name, segment.id));
   return result;
}

void replaceSegments(TableCore& core, const std::map<SegmentId, SegmentPtr>& replacements,
                     const std::set<SegmentId>& removed) {
   const std::lock_guard lock(core.mutex);
   auto list = std::make_shared<SegmentList>();
   for (const SegmentPtr& segment : *core.segments) {
      if (removed.contains(segment->id)) continue;
      const auto it = replacements.find(segment->id);
      list->push_back(it == replacements.end() ? segment : it->second);
   }
   core.segments = std::move(list);
}

/// Unlike those of a checkpoint that failed half-way with the same version number.
std::string uniqueName(StorageContext& context, uint64_t version) {
   return std::to_string(version) + "-" + context.sessionTag + "-" + std::to_string(context.nextObject.fetch_add(1));
}

/// Write what is new about a table and return the manifest's entry.
Manifest::Table persistTable(Database::State& state, const CapturedTable& captured, uint64_t version,
                             Timestamp timestamp, std::set<std::string>& referenced) {
   const StorageId id = captured.table->id();
   const auto objectName = [&](const char* kind) {
      return "table/" + std::to_string(static_cast<uint64_t>(id)) + "/" + kind + "/" +
             uniqueName(*state.context, version);
   };
   Database::State::Persisted& persisted = state.persisted[id];
   std::vector<SegmentId> segments;
   DeletedRows deleted;
   uint64_t deleteCount = 0;
   for (const SegmentPtr& segment : captured.segments) {
      segments.push_back(segment->id);
      DeletedRows::Segment rows{segment->id, {}};
      segment->versions->deletes.forEachCommitted(segment->rowCount(), timestamp,
                                                  [&](uint32_t row) { rows.rows.push_back(row); });
      deleteCount += rows.rows.size();
      if (!rows.rows.empty()) deleted.segments.push_back(std::move(rows));
   }
   if (segments != persisted.segments || deleteCount != persisted.deleteCount) {
      std::map<SegmentId, ListOfHeaders::Entry> known;
      for (const ListOfHeaders::Entry& entry : persisted.list.entries)
         known[entry.segment] = entry;
      ListOfHeaders list;
      std::string headers;
      const std::string headerObject = objectName("header");
      for (const SegmentPtr& segment : captured.segments) {
         if (const auto it = known.find(segment->id); it != known.end()) {
            list.entries.push_back(it->second);
            continue;
         }
         ListOfHeaders::Entry entry;
         entry.segment = segment->id;
         entry.blockObject = segment->block->objectName();
         entry.headerObject = headerObject;
         entry.offset = headers.size();
         segment->block->header().serialize(headers);
         entry.size = headers.size() - entry.offset;
         entry.checksum = checksumOf(std::string_view(headers).substr(entry.offset));
         list.entries.push_back(std::move(entry));
      }
      const auto mustBeNew = [](bool stored) {
         if (!stored) throw SqlError(sqlstate::dataCorrupted, "an object of the next checkpoint exists already");
      };
      if (!headers.empty()) mustBeNew(state.store->put(headerObject, headers, io::PutCondition::ifAbsent()));
      if (deleteCount == persisted.deleteCount) {
         list.deleteObject = persisted.list.deleteObject;
      } else if (deleteCount != 0) {
         list.deleteObject = objectName("delete");
         mustBeNew(putSealed(*state.store, list.deleteObject, deleted.serialize()));
      }
      persisted.listName.clear();
      if (!list.entries.empty()) {
         persisted.listName = objectName("list-of-headers");
         mustBeNew(putSealed(*state.store, persisted.listName, list.serialize()));
      }
      persisted.list = std::move(list);
      persisted.segments = std::move(segments);
      persisted.deleteCount = deleteCount;
   }
   if (!persisted.listName.empty()) referenced.insert(persisted.listName);
   for (const ListOfHeaders::Entry& entry : persisted.list.entries)
      referenced.insert(entry.headerObject);
   if (!persisted.list.deleteObject.empty()) referenced.insert(persisted.list.deleteObject);
   return {id, captured.columns, persisted.listName};
}

} // namespace

void Database::State::checkpoint(bool isClean) {
   CHECK(catalogImage != nullptr);
   Manifest next;
   std::string image;
   std::vector<CapturedTable> captured;
   {
      const std::lock_guard commitLock(commitMutex);
      queue->drain();
      next.replayLsn = log->rotate();
      next.lastCommit = lastAssigned;
      next.nextOid = nextOid.load();
      next.nextStorage = nextStorage.load();
      next.nextSegment = context->nextSegment.load();
      next.counters = counters;
      image = catalogImage();
      const std::lock_guard tablesLock(tablesMutex);
      for (auto& [id, entry] : tables) {
         if (!entry.isCommitted) continue;
         TableCore& core = entry.table->core();
         const std::lock_guard coreLock(core.mutex);
         core.sealDelta();
         CapturedTable table{entry.table, *core.columns, *core.segments};
         table.columns.resize(entry.committedColumns);
         captured.push_back(std::move(table));
      }
   }
   next.version = manifest.version + 1;
   next.epoch = manifest.epoch;
   next.logId = manifest.logId;
   next.isClean = isClean;

   // Deltas become blocks, all at once.
   struct Work {
      size_t table, segment;
   };
   std::vector<Work> work;
   for (size_t t = 0; t < captured.size(); ++t)
      for (size_t s = 0; s < captured[t].segments.size(); ++s)
         if (captured[t].segments[s]->delta && captured[t].segments[s]->versions->committedRows() > 0)
            work.push_back({t, s});
   tasks.parallelFor(work.size(), [&](uint64_t i) {
      SegmentPtr& slot = captured[work[i].table].segments[work[i].segment];
      slot = encodeSegment(*context, captured[work[i].table].table->id(), *slot);
   });
   for (CapturedTable& table : captured) {
      std::map<SegmentId, SegmentPtr> replacements;
      std::set<SegmentId> removed;
      for (const SegmentPtr& segment : table.segments) {
         if (segment->block)
            replacements[segment->id] = segment;
         else
            removed.insert(segment->id); // placed rows were taken back: nothing ever was visible here
      }
      std::erase_if(table.segments, [](const SegmentPtr& segment) { return segment->delta != nullptr; });
      replaceSegments(table.table->core(), replacements, removed);
   }

   std::set<std::string> referenced;
   next.catalogObject = manifest.catalogObject;
   if (manifest.catalogObject.empty() || image != getSealed(*store, manifest.catalogObject)) {
      next.catalogObject = "catalog/" + uniqueName(*context, next.version);
      if (!putSealed(*store, next.catalogObject, image))
         throw SqlError(sqlstate::dataCorrupted, "an object of the next checkpoint exists already");
   }
   referenced.insert(next.catalogObject);
   for (const CapturedTable& table : captured)
      next.tables.push_back(persistTable(*this, table, next.version, next.lastCommit, referenced));
   const Lsn replayLsn = next.replayLsn;
   publishManifest(std::move(next), std::move(referenced));
   log->removeBefore(replayLsn);
   std::set<StorageId> alive;
   for (const CapturedTable& table : captured)
      alive.insert(table.table->id());
   std::erase_if(persisted, [&](const auto& entry) { return !alive.contains(entry.first); });
}

void Database::State::publishManifest(Manifest next, std::set<std::string> referenced) {
   if (!putSealed(*store, Manifest::objectName(next.version), next.serialize()))
      throw SqlError(sqlstate::objectInUse, "another server has written to the database");
   // One older manifest is kept for a look at what was; its objects are not.
   if (next.version >= 2) store->remove(Manifest::objectName(next.version - 2));
   for (const std::string& name : referencedObjects)
      if (!referenced.contains(name)) store->remove(name);
   referencedObjects = std::move(referenced);
   manifest = std::move(next);
}

void Database::State::removeOrphans(const std::set<std::string>& namedByLog) {
   std::set<std::string> blocks;
   for (const auto& [id, entry] : tables)
      for (const SegmentPtr& segment : *entry.table->core().segments)
         if (segment->block) blocks.insert(segment->block->objectName());
   for (const char* prefix : {"table/", "catalog/"})
      for (const io::ObjectInfo& object : store->list(prefix))
         if (!referencedObjects.contains(object.name) && !blocks.contains(object.name) &&
             !namedByLog.contains(object.name))
            store->remove(object.name);
}

} // namespace ouzel::storage
