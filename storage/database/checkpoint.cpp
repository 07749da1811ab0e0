#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"
#include "common/thread/low_priority.hpp"
#include "common/thread/run_on_threads.hpp"
#include "storage/block/block_builder.hpp"
#include "storage/database/database_state.hpp"

// A checkpoint. Under the commit lock it fixes what belongs to it: the log position, the catalog image, each table's
// segments. Then, while others go on, delta segments become blocks under the same segment ids (rows keep their order,
// dead ones included), headers and deletes are written, and one put of a manifest makes all of it the database's state.

namespace ouzel::storage {

namespace {

constexpr uint64_t rotatedBytesMin = 16 << 20; ///< a checkpoint for a commit starts no new file of the log before
constexpr uint64_t waitingThreadsMax = 16;
constexpr size_t storedTogetherMax = 16 << 20; ///< bytes of deltas

struct CapturedTable {
   std::shared_ptr<Table> table;
   std::vector<ColumnDefinition> columns;
   SegmentList segments;
   std::set<SegmentId> removed; ///< segments that are not to stay in the table
};

/// An object that the next manifest is going to need.
struct NewObject {
   std::string name, bytes;
   bool isSealed = true;
};

/// The block that a sealed delta segment becomes; stored, or, where `later` is not null, to be stored.
SegmentPtr encodeSegment(StorageContext& context, StorageId table, const Segment& segment, NewObject* later) {
   const uint32_t rows = segment.versions->committedRows();
   BlockBuilder builder(segment.delta->types());
   for (uint32_t first = 0; first < rows; first += rowGroupRows)
      builder.addRowGroup(segment.delta->slices(first, std::min(rowGroupRows, rows - first)));
   const std::string name = context.newBlockName(table, segment.id);
   auto result = std::make_shared<Segment>();
   result->id = segment.id;
   result->versions = segment.versions;
   if (later) *later = {name, {}, false};
   result->block = std::make_shared<Block>(context.store, context.cache, name,
                                           later ? builder.finish(later->bytes, segment.id)
                                                 : builder.finish(context.store, name, segment.id));
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

/// What a table becomes in the next manifest.
struct NextTable {
   StorageId id{};
   Database::State::Persisted persisted;
   bool isChanged = false;
};

/// The rows that are deleted for everybody, and the table's segments.
DeletedRows deletedRows(const CapturedTable& captured, Timestamp timestamp, std::vector<SegmentId>& segments) {
   DeletedRows deleted;
   for (const SegmentPtr& segment : captured.segments) {
      segments.push_back(segment->id);
      DeletedRows::Segment rows{segment->id, {}};
      segment->versions->deletes.forEachCommitted(segment->rowCount(), timestamp,
                                                  [&](uint32_t row) { rows.rows.push_back(row); });
      if (!rows.rows.empty()) deleted.segments.push_back(std::move(rows));
   }
   return deleted;
}

/// Entries for the captured segments; headers of those that `before` does not know go to `headers`, to be `object`.
std::vector<ListOfHeaders::Entry> listEntries(const CapturedTable& captured, const ListOfHeaders& before,
                                              const std::string& object, std::string& headers) {
   std::map<SegmentId, const ListOfHeaders::Entry*> known;
   for (const ListOfHeaders::Entry& entry : before.entries)
      known[entry.segment] = &entry;
   std::vector<ListOfHeaders::Entry> entries;
   for (const SegmentPtr& segment : captured.segments) {
      if (const auto it = known.find(segment->id); it != known.end()) {
         entries.push_back(*it->second);
         continue;
      }
      ListOfHeaders::Entry entry;
      entry.segment = segment->id;
      entry.blockObject = segment->block->objectName();
      entry.headerObject = object;
      entry.offset = headers.size();
      segment->block->header().serialize(headers);
      entry.size = headers.size() - entry.offset;
      entry.checksum = checksumOf(std::string_view(headers).substr(entry.offset));
      entries.push_back(std::move(entry));
   }
   return entries;
}

/// What is new about a table, and the objects that say so.
NextTable prepareTable(Database::State& state, const CapturedTable& captured, uint64_t version, Timestamp timestamp,
                       std::vector<NewObject>& objects) {
   const Database::State::Persisted& before = state.persisted[captured.table->id()];
   NextTable next;
   next.id = captured.table->id();
   std::vector<SegmentId> segments;
   const DeletedRows deleted = deletedRows(captured, timestamp, segments);
   std::string deletedBytes = deleted.segments.empty() ? std::string() : deleted.serialize();
   const uint64_t deleteChecksum = deletedBytes.empty() ? 0 : checksumOf(deletedBytes);
   if (segments == before.segments && deleteChecksum == before.deleteChecksum) return next;
   const auto nameOf = [&](const char* kind) {
      return "table/" + std::to_string(static_cast<uint64_t>(next.id)) + "/" + kind + "/" +
             uniqueName(*state.context, version);
   };
   next.isChanged = true;
   Database::State::Persisted& after = next.persisted;
   std::string headers;
   const std::string headerObject = nameOf("header");
   after.list.entries = listEntries(captured, before.list, headerObject, headers);
   if (!headers.empty()) objects.push_back({headerObject, std::move(headers), false});
   if (deleteChecksum == before.deleteChecksum) {
      after.list.deleteObject = before.list.deleteObject;
   } else if (!deletedBytes.empty()) {
      after.list.deleteObject = nameOf("delete");
      objects.push_back({after.list.deleteObject, std::move(deletedBytes)});
   }
   if (!after.list.entries.empty()) {
      after.listName = nameOf("list-of-headers");
      objects.push_back({after.listName, after.list.serialize()});
   }
   after.segments = std::move(segments);
   after.deleteChecksum = deleteChecksum;
   return next;
}

/// All at once, where they go over a network: nobody looks for them before there is a manifest that names them. What
/// has become unused goes meanwhile.
void storeObjects(Database::State& state, const std::vector<NewObject>& objects) {
   const auto store = [&](const NewObject& object) {
      mustBeNew(object.isSealed ? putSealed(*state.store, object.name, object.bytes)
                                : state.store->put(object.name, object.bytes, io::PutCondition::ifAbsent()));
   };
   if (!state.store->isRemote()) {
      for (const NewObject& object : objects)
         store(object);
      return;
   }
   const uint64_t count = objects.size() + (state.unusedObjects.empty() ? 0 : 1);
   state.forEachPiece(count, CheckpointKind::Commit,
                      [&](uint64_t i) { i < objects.size() ? store(objects[i]) : state.removeUnused(); });
}

/// Discards blocks that do not come into use.
struct NewBlocks {
   std::vector<SegmentPtr> segments;
   bool isUsed = false;

   NewBlocks() = default;
   NewBlocks(const NewBlocks&) = delete;
   ~NewBlocks() {
      for (const SegmentPtr& segment : segments)
         if (segment && !isUsed) segment->block->discard();
   }
};

/// Turn captured delta segments into blocks, `blocks`. With `later` these are still to be stored.
void encodeDeltas(Database::State& state, CheckpointKind kind, std::vector<CapturedTable>& captured, NewBlocks& blocks,
                  std::vector<NewObject>* later) {
   struct Work {
      CapturedTable* table;
      size_t segment;
   };
   std::vector<Work> work;
   for (CapturedTable& table : captured)
      for (size_t s = 0; s < table.segments.size(); ++s)
         if (table.segments[s]->delta && table.segments[s]->versions->committedRows() > 0) work.push_back({&table, s});
   blocks.segments.resize(work.size());
   if (later) later->resize(work.size());
   state.forEachPiece(work.size(), kind, [&](uint64_t i) {
      CapturedTable& table = *work[i].table;
      blocks.segments[i] = encodeSegment(*state.context, table.table->id(), *table.segments[work[i].segment],
                                         later ? &(*later)[i] : nullptr);
   });
   for (size_t i = 0; i < work.size(); ++i)
      work[i].table->segments[work[i].segment] = blocks.segments[i];
   for (CapturedTable& table : captured)
      for (const SegmentPtr& segment : table.segments) // placed rows were taken back: nothing ever was visible here
         if (!segment->block) table.removed.insert(segment->id);
   for (CapturedTable& table : captured)
      std::erase_if(table.segments, [](const SegmentPtr& segment) { return segment->delta != nullptr; });
}

/// What was captured takes the place of what the tables have.
void useBlocks(const std::vector<CapturedTable>& captured, NewBlocks& blocks) {
   for (const CapturedTable& table : captured) {
      std::map<SegmentId, SegmentPtr> replacements;
      for (const SegmentPtr& segment : table.segments)
         replacements[segment->id] = segment;
      replaceSegments(table.table->core(), replacements, table.removed);
   }
   blocks.isUsed = true;
}

/// Whether what is to be stored may wait in memory until all of it is known.
bool isSmall(const std::vector<CapturedTable>& captured) {
   size_t bytes = 0;
   for (const CapturedTable& table : captured)
      for (const SegmentPtr& segment : table.segments)
         if (segment->delta) bytes += segment->delta->bytes();
   return bytes <= storedTogetherMax;
}

} // namespace

void Database::State::forEachPiece(uint64_t count, CheckpointKind kind, const std::function<void(uint64_t)>& body) {
   const bool isWaiting = kind == CheckpointKind::Commit && store->isRemote() && count > 1;
   if (!isWaiting && kind != CheckpointKind::Background) return tasks.parallelFor(count, body);
   std::atomic<uint64_t> next{0};
   const auto work = [&] {
      for (uint64_t i; (i = next.fetch_add(1)) < count;)
         body(i);
   };
   if (isWaiting) return runOnThreads(static_cast<uint32_t>(std::min<uint64_t>(count, waitingThreadsMax)), work);
   const uint64_t threads = std::min<uint64_t>(std::max(tasks.concurrency() / 2, 1u), count);
   runAtLowPriority(static_cast<uint32_t>(threads), work);
}

void Database::State::checkpoint(CheckpointKind kind) {
   CHECK(catalogImage != nullptr);
   compact(kind);
   Manifest next;
   std::string image;
   std::set<std::string> garbage;
   std::vector<CapturedTable> captured;
   NewBlocks blocks;
   std::vector<std::shared_ptr<Block>> replaced;
   {
      const std::lock_guard commitLock(commitMutex);
      queue->drain();
      next.replayLsn = log->rotate(kind == CheckpointKind::Commit ? rotatedBytesMin : 0);
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
         CapturedTable table{entry.table, *core.columns, {}, {}};
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
   next.isClean = kind == CheckpointKind::Clean;
   next.isComplete = !options.keepsLog;

   std::set<std::string> referenced;
   const Lsn replayLsn = next.replayLsn;
   try {
      TEST_POINT("checkpoint.captured");
      // Over a network, a commit waits for as few requests as can be, one after the other.
      const bool isTogether = kind == CheckpointKind::Commit && store->isRemote() && isSmall(captured);
      std::vector<NewObject> objects;
      encodeDeltas(*this, kind, captured, blocks, isTogether ? &objects : nullptr);
      if (!isTogether) useBlocks(captured, blocks);
      TEST_POINT("checkpoint.encoded");
      const uint64_t imageChecksum = checksumOf(image);
      next.catalogObject = manifest.catalogObject;
      if (manifest.catalogObject.empty() || imageChecksum != catalogChecksum) {
         next.catalogObject = "catalog/" + uniqueName(*context, next.version);
         objects.push_back({next.catalogObject, std::move(image)});
      }
      std::vector<NextTable> changed;
      for (const CapturedTable& table : captured)
         changed.push_back(prepareTable(*this, table, next.version, next.lastCommit, objects));
      for (const NewObject& object : objects) // they may exist from here on
         referenced.insert(object.name);
      storeObjects(*this, objects);
      if (isTogether) useBlocks(captured, blocks);
      for (NextTable& table : changed)
         if (table.isChanged) persisted[table.id] = std::move(table.persisted);
      referenced.clear();
      referenced.insert(next.catalogObject);
      for (const CapturedTable& table : captured) {
         const Persisted& stored = persisted[table.table->id()];
         stored.addNames(referenced);
         next.tables.push_back({table.table->id(), table.columns, stored.listName});
      }
      publishManifest(std::move(next), std::move(referenced));
      catalogChecksum = imageChecksum;
   } catch (...) {
      // The log keeps everything. What has been written is used, or removed, by the next checkpoint.
      referencedObjects.insert(referenced.begin(), referenced.end());
      context->garbage.add(garbage);
      const std::lock_guard replacedLock(replacedMutex);
      replacedBlocks.insert(replacedBlocks.end(), replaced.begin(), replaced.end());
      throw;
   }
   group->cover(replayLsn);
   unusedObjects.merge(garbage);
   log->removeBefore(replayLsn);
   releaseRetired();
   for (std::shared_ptr<Block>& block : replaced)
      discardBlock(std::move(block), kind);
   // Who waits for the next commit would wait for this, too.
   if (kind != CheckpointKind::Commit) removeUnused();
   std::set<StorageId> alive;
   for (const CapturedTable& table : captured)
      alive.insert(table.table->id());
   std::erase_if(persisted, [&](const auto& entry) { return !alive.contains(entry.first); });
}

void Database::State::Persisted::addNames(std::set<std::string>& names) const {
   if (!listName.empty()) names.insert(listName);
   for (const ListOfHeaders::Entry& entry : list.entries)
      names.insert(entry.headerObject);
   if (!list.deleteObject.empty()) names.insert(list.deleteObject);
}

void Database::State::discardBlock(std::shared_ptr<Block> block, CheckpointKind kind) {
   Garbage names;
   if (block.use_count() == 1)
      block->retire(names); // nobody else has it: it goes with the others, in one request
   else if (kind == CheckpointKind::Commit)
      block->retire(context->garbage);
   else
      block->discard();
   block.reset();
   unusedObjects.merge(names.take());
}

void Database::State::publishManifest(Manifest next, std::set<std::string> referenced) {
   TEST_POINT("manifest.publish");
   lease->require();
   try {
      if (!putSealed(*store, Manifest::objectName(next.version), next.serialize())) lease->fence();
      lease->require(); // before anything is removed: a version used long ago may have been free again
   } catch (...) {
      // It may be there or not. The next one has another number, and until then nothing that it names is removed.
      manifest.version = next.version;
      referencedObjects.insert(referenced.begin(), referenced.end());
      throw;
   }
   TEST_POINT("manifest.published");
   for (const std::string& name : referencedObjects)
      if (!referenced.contains(name)) unusedObjects.insert(name);
   // One older manifest is kept for a look at what was; its objects are not.
   if (next.version >= 2) unusedObjects.insert(Manifest::objectName(next.version - 2));
   referencedObjects = std::move(referenced);
   manifest = std::move(next);
}

void Database::State::removeUnused() {
   const std::set<std::string> names = std::exchange(unusedObjects, {});
   if (!names.empty()) removeObjects(names);
}

void Database::State::removeObjects(const std::set<std::string>& names) {
   const std::vector<std::string> list(names.begin(), names.end());
   try {
      store->remove(std::span(list));
   } catch (const SqlError& error) { // collected at the next start
      logLine(LogLevel::Warning, std::string("could not remove objects: ") + error.what());
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
