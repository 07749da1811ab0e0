#include <algorithm>
#include <cstdio>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/thread/low_priority.hpp"
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

void mustBeNew(bool stored) {
   if (!stored) throw SqlError(sqlstate::dataCorrupted, "an object of the next checkpoint exists already");
}

/// Unlike those of a checkpoint that failed half-way with the same version number.
std::string uniqueName(StorageContext& context, uint64_t version) {
   return std::to_string(version) + "-" + context.sessionTag + "-" + std::to_string(context.nextObject.fetch_add(1));
}

/// Write what is new about a table and return the manifest's entry. Names of objects that the manifest is going to need
/// are added to `referenced` as soon as they may exist.
Manifest::Table persistTable(Database::State& state, const CapturedTable& captured, uint64_t version,
                             Timestamp timestamp, std::set<std::string>& referenced) {
   const StorageId id = captured.table->id();
   const auto newObject = [&](const char* kind) {
      std::string name =
          "table/" + std::to_string(static_cast<uint64_t>(id)) + "/" + kind + "/" + uniqueName(*state.context, version);
      referenced.insert(name);
      return name;
   };
   Database::State::Persisted& persisted = state.persisted[id];
   std::vector<SegmentId> segments;
   DeletedRows deleted;
   for (const SegmentPtr& segment : captured.segments) {
      segments.push_back(segment->id);
      DeletedRows::Segment rows{segment->id, {}};
      segment->versions->deletes.forEachCommitted(segment->rowCount(), timestamp,
                                                  [&](uint32_t row) { rows.rows.push_back(row); });
      if (!rows.rows.empty()) deleted.segments.push_back(std::move(rows));
   }
   const std::string deletedBytes = deleted.segments.empty() ? std::string() : deleted.serialize();
   const uint64_t deleteChecksum = deletedBytes.empty() ? 0 : checksumOf(deletedBytes);
   if (segments != persisted.segments || deleteChecksum != persisted.deleteChecksum) {
      std::map<SegmentId, ListOfHeaders::Entry> known;
      for (const ListOfHeaders::Entry& entry : persisted.list.entries)
         known[entry.segment] = entry;
      Database::State::Persisted next; // takes effect when all of it is stored
      std::string headers, headerObject;
      for (const SegmentPtr& segment : captured.segments) {
         if (const auto it = known.find(segment->id); it != known.end()) {
            next.list.entries.push_back(it->second);
            continue;
         }
         if (headerObject.empty()) headerObject = newObject("header");
         ListOfHeaders::Entry entry;
         entry.segment = segment->id;
         entry.blockObject = segment->block->objectName();
         entry.headerObject = headerObject;
         entry.offset = headers.size();
         segment->block->header().serialize(headers);
         entry.size = headers.size() - entry.offset;
         entry.checksum = checksumOf(std::string_view(headers).substr(entry.offset));
         next.list.entries.push_back(std::move(entry));
      }
      if (!headers.empty()) mustBeNew(state.store->put(headerObject, headers, io::PutCondition::ifAbsent()));
      if (deleteChecksum == persisted.deleteChecksum) {
         next.list.deleteObject = persisted.list.deleteObject;
      } else if (!deletedBytes.empty()) {
         next.list.deleteObject = newObject("delete");
         mustBeNew(putSealed(*state.store, next.list.deleteObject, deletedBytes));
      }
      if (!next.list.entries.empty()) {
         next.listName = newObject("list-of-headers");
         mustBeNew(putSealed(*state.store, next.listName, next.list.serialize()));
      }
      next.segments = std::move(segments);
      next.deleteChecksum = deleteChecksum;
      persisted = std::move(next);
   }
   if (!persisted.listName.empty()) referenced.insert(persisted.listName);
   for (const ListOfHeaders::Entry& entry : persisted.list.entries)
      referenced.insert(entry.headerObject);
   if (!persisted.list.deleteObject.empty()) referenced.insert(persisted.list.deleteObject);
   return {id, captured.columns, persisted.listName};
}

/// Turn delta segments into blocks; in the table too. Where that fails, nothing has changed.
void encodeDeltas(Database::State& state, bool isUrgent, std::vector<CapturedTable>& captured) {
   struct Work {
      CapturedTable* table;
      size_t segment;
   };
   std::vector<Work> work;
   for (CapturedTable& table : captured)
      for (size_t s = 0; s < table.segments.size(); ++s)
         if (table.segments[s]->delta && table.segments[s]->versions->committedRows() > 0) work.push_back({&table, s});
   std::vector<SegmentPtr> encoded(work.size());
   try {
      state.forEachPiece(work.size(), isUrgent, [&](uint64_t i) {
         CapturedTable& table = *work[i].table;
         encoded[i] = encodeSegment(*state.context, table.table->id(), *table.segments[work[i].segment]);
      });
   } catch (...) {
      for (const SegmentPtr& segment : encoded)
         if (segment) segment->block->discard();
      throw;
   }
   for (size_t i = 0; i < work.size(); ++i)
      work[i].table->segments[work[i].segment] = std::move(encoded[i]);
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
}

} // namespace

void Database::State::forEachPiece(uint64_t count, bool isUrgent, const std::function<void(uint64_t)>& body) {
   if (isUrgent || count == 0) return tasks.parallelFor(count, body);
   std::atomic<uint64_t> next{0};
   const uint64_t threads = std::min<uint64_t>(std::max(tasks.concurrency() / 2, 1u), count);
   runAtLowPriority(static_cast<uint32_t>(threads), [&] {
      for (uint64_t i; (i = next.fetch_add(1)) < count;)
         body(i);
   });
}

void Database::State::checkpoint(bool isClean) {
   CHECK(catalogImage != nullptr);
   compact(isClean);
   Manifest next;
   std::string image;
   std::set<std::string> garbage;
   std::vector<CapturedTable> captured;
   std::vector<std::shared_ptr<Block>> replaced;
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
      garbage = context->garbage.take(); // of tables that the log before replayLsn has dropped
      const std::lock_guard tablesLock(tablesMutex);
      for (auto& [id, entry] : tables) {
         if (!entry.isCommitted) continue;
         TableCore& core = entry.table->core();
         const std::lock_guard coreLock(core.mutex);
         core.sealDelta();
         CapturedTable table{entry.table, *core.columns, {}};
         for (const SegmentPtr& segment : *core.segments)
            if (segment->retiredAt == 0) table.segments.push_back(segment);
         table.columns.resize(entry.committedColumns);
         captured.push_back(std::move(table));
      }
      const std::lock_guard replacedLock(replacedMutex);
      replaced.swap(replacedBlocks);
   }
   next.version = manifest.version + 1;
   next.epoch = manifest.epoch;
   next.logId = manifest.logId;
   next.isClean = isClean;

   std::set<std::string> referenced;
   const Lsn replayLsn = next.replayLsn;
   try {
      static_cast<void>(TEST_POINT("checkpoint.captured"));
      encodeDeltas(*this, isClean, captured);
      static_cast<void>(TEST_POINT("checkpoint.encoded"));
      next.catalogObject = manifest.catalogObject;
      if (manifest.catalogObject.empty() || image != getSealed(*store, manifest.catalogObject)) {
         next.catalogObject = "catalog/" + uniqueName(*context, next.version);
         referenced.insert(next.catalogObject);
         mustBeNew(putSealed(*store, next.catalogObject, image));
      }
      referenced.insert(next.catalogObject);
      for (const CapturedTable& table : captured)
         next.tables.push_back(persistTable(*this, table, next.version, next.lastCommit, referenced));
      publishManifest(std::move(next), std::move(referenced));
   } catch (...) {
      // The log keeps everything. What has been written is used, or removed, by the next checkpoint.
      referencedObjects.insert(referenced.begin(), referenced.end());
      context->garbage.add(garbage);
      const std::lock_guard replacedLock(replacedMutex);
      replacedBlocks.insert(replacedBlocks.end(), replaced.begin(), replaced.end());
      throw;
   }
   removeObjects(garbage);
   log->removeBefore(replayLsn);
   releaseRetired();
   for (const std::shared_ptr<Block>& block : replaced)
      block->discard();
   std::set<StorageId> alive;
   for (const CapturedTable& table : captured)
      alive.insert(table.table->id());
   std::erase_if(persisted, [&](const auto& entry) { return !alive.contains(entry.first); });
}

void Database::State::publishManifest(Manifest next, std::set<std::string> referenced) {
   bool isStored;
   static_cast<void>(TEST_POINT("manifest.publish"));
   lease->require();
   try {
      isStored = putSealed(*store, Manifest::objectName(next.version), next.serialize());
   } catch (...) {
      // It may be there or not. The next one has another number, and until then nothing that it names is removed.
      manifest.version = next.version;
      referencedObjects.insert(referenced.begin(), referenced.end());
      throw;
   }
   if (!isStored) lease->fence();
   lease->require(); // before anything is removed: a version used long ago may have been free again
   static_cast<void>(TEST_POINT("manifest.published"));
   std::set<std::string> replaced;
   for (const std::string& name : referencedObjects)
      if (!referenced.contains(name)) replaced.insert(name);
   // One older manifest is kept for a look at what was; its objects are not.
   if (next.version >= 2) replaced.insert(Manifest::objectName(next.version - 2));
   referencedObjects = std::move(referenced);
   manifest = std::move(next);
   removeObjects(replaced);
}

void Database::State::removeObjects(const std::set<std::string>& names) {
   const std::vector<std::string> list(names.begin(), names.end());
   try {
      store->remove(std::span(list));
   } catch (const SqlError& error) { // collected at the next start
      std::fprintf(stderr, "could not remove objects: %s\n", error.what());
   }
}

void Database::State::removeOrphans(const std::set<std::string>& namedByLog) {
   std::set<std::string> blocks;
   for (const auto& [id, entry] : tables)
      for (const SegmentPtr& segment : *entry.table->core().segments)
         if (segment->block) blocks.insert(segment->block->objectName());
   for (const auto& block : replacedBlocks)
      blocks.insert(block->objectName());
   std::set<std::string> orphans;
   for (const char* prefix : {"table/", "catalog/"})
      for (const io::ObjectInfo& object : store->list(prefix))
         if (!referencedObjects.contains(object.name) && !blocks.contains(object.name) &&
             !namedByLog.contains(object.name))
            orphans.insert(object.name);
   // Who is killed between putting a manifest and removing the last but one leaves it. Older ones sort behind.
   const std::string previous = Manifest::objectName(manifest.version - 1);
   for (const io::ObjectInfo& object : store->list("manifest/"))
      if (object.name > previous) orphans.insert(object.name);
   removeObjects(orphans);
}

} // namespace ouzel::storage
