#include "storage/database/checkpoint.hpp"

#include <algorithm>
#include <map>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "storage/base/table_place.hpp"
#include "storage/block/block_builder.hpp"

namespace ouzel::storage {

namespace {

constexpr uint64_t rotatedBytesMin = 16 << 20; ///< a smaller file of the log goes on after a checkpoint for a commit
constexpr size_t storedTogetherMax = 16 << 20; ///< bytes of deltas whose blocks are stored with the other objects

/// Whether the blocks are small enough to be kept in memory until all objects are known.
bool isSmall(const std::vector<TableRegistry::Captured>& captured) {
   size_t bytes = 0;
   for (const auto& table : captured)
      for (const SegmentPtr& segment : table.segments)
         if (segment->delta) bytes += segment->delta->bytes();
   return bytes <= storedTogetherMax;
}

void mustBeNew(bool stored) {
   if (!stored) throw SqlError(sqlstate::dataCorrupted, "an object of the next checkpoint exists already");
}

/// The captured rows whose delete was committed up to `timestamp`.
DeletedRows deletedRows(const SegmentList& segments, Timestamp timestamp) {
   DeletedRows deleted;
   for (const SegmentPtr& segment : segments) {
      DeletedRows::Segment rows{segment->id, {}};
      segment->versions->deletes.forEachCommitted(segment->rowCount(), timestamp,
                                                  [&](uint32_t row) { rows.rows.push_back(row); });
      if (!rows.rows.empty()) deleted.segments.push_back(std::move(rows));
   }
   return deleted;
}

void replaceSegments(TableCore& core, const std::map<SegmentId, SegmentPtr>& replacements,
                     const std::set<SegmentId>& removed) {
   const MutexLock lock(core.mutex);
   auto list = std::make_shared<SegmentList>();
   for (const SegmentPtr& segment : *core.segments) {
      if (removed.contains(segment->id)) continue;
      const auto it = replacements.find(segment->id);
      list->push_back(it == replacements.end() ? segment : it->second);
      DCHECK(list->back()->versions == segment->versions); // the same rows in another form
   }
   core.segments = std::move(list);
}

} // namespace

void Checkpoint::capture(const std::function<std::string()>& imageSource) {
   Committer::Pause pause(parts_.committer);
   replayLsn_ = next_.replayLsn = pause.rotateLog(kind_ == CheckpointKind::Commit ? rotatedBytesMin : 0);
   next_.lastCommit = pause.lastCommit();
   parts_.context.ids.noteIn(next_);
   next_.counters = parts_.counters.all();
   image_ = imageSource();
   garbage_ = parts_.context.garbage.take();
   captured_ = parts_.tables.capture();
   replaced_ = parts_.retired.takeBlocks();
   const Manifest& before = stored_.manifest();
   CHECK(next_.lastCommit >= before.lastCommit);
   next_.version = before.version + 1;
   next_.epoch = before.epoch;
   next_.logId = before.logId;
   next_.isClean = kind_ == CheckpointKind::Clean;
   next_.isComplete = !parts_.files.options().keepsLog;
}

void Checkpoint::write() {
   std::set<std::string> attempted; ///< objects that may exist although no manifest names them
   try {
      TEST_POINT("checkpoint.captured");
      // A commit waits for the checkpoint: over a network, keep the number of consecutive requests small.
      storesTogether_ = kind_ == CheckpointKind::Commit && parts_.context.store.isRemote() && isSmall(captured_);
      encodeDeltas();
      if (!storesTogether_) useBlocks();
      TEST_POINT("checkpoint.encoded");
      addCatalog();
      for (const auto& captured : captured_)
         addTable(captured);
      for (const NewObject& object : objects_)
         attempted.insert(object.name);
      storeObjects();
      attempted.clear(); // tables now list the blocks; StoredState has the names of the other objects
      if (storesTogether_) useBlocks();
      publish();
   } catch (...) {
      // The log still has every commit. The next checkpoint uses the stored objects, or makes them unused.
      stored_.addReferenced(attempted);
      parts_.context.garbage.add(garbage_);
      parts_.retired.putBackBlocks(replaced_);
      throw;
   }
}

std::string Checkpoint::describe() const {
   uint64_t rows = 0;
   for (const SegmentPtr& segment : blocks_.segments)
      if (segment) rows += segment->rowCount();
   const size_t blocks = blocks_.segments.size(), objects = objects_.size() - (storesTogether_ ? blocks : 0);
   return std::to_string(blocks) + " blocks with " + std::to_string(rows) + " rows, " + std::to_string(objects) +
          " other objects";
}

SegmentPtr Checkpoint::encodeSegment(StorageId table, const Segment& segment, NewObject* later) {
   StorageContext& context = parts_.context;
   const uint32_t rows = segment.versions->committedRows();
   CHECK(rows <= segment.delta->rowCount());
   BlockBuilder builder(segment.delta->types(), segment.delta->documents());
   for (uint32_t first = 0; first < rows; first += rowGroupRows) {
      const uint32_t count = std::min(rowGroupRows, rows - first);
      builder.addRowGroup(count, segment.delta->slices(first, count));
   }
   const std::string name = context.newBlockName(table, segment.id);
   auto result = std::make_shared<Segment>();
   result->id = segment.id;
   result->versions = segment.versions;
   if (later) *later = {name, {}, false};
   result->block = std::make_shared<Block>(context.store, context.cache, name,
                                           later ? builder.finish(later->bytes, segment.id)
                                                 : builder.finish(context.store, name, segment.id));
   CHECK(result->rowCount() == rows);
   return result;
}

void Checkpoint::encodeDeltas() {
   struct Work {
      TableRegistry::Captured* table;
      size_t segment;
   };
   std::vector<Work> work;
   for (auto& table : captured_)
      for (size_t s = 0; s < table.segments.size(); ++s) {
         const Segment& segment = *table.segments[s];
         if (segment.delta && segment.versions->committedRows() > 0) work.push_back({&table, s});
         if (segment.delta && segment.versions->committedRows() == 0)
            emptied_.insert(segment.id); // all placed rows were taken back: no row was ever visible here
      }
   blocks_.segments.resize(work.size());
   if (storesTogether_) objects_.resize(work.size());
   forEachPiece(parts_.context, work.size(), kind_, [&](uint64_t i) {
      const auto& [table, segment] = work[i];
      blocks_.segments[i] =
          encodeSegment(table->table->id(), *table->segments[segment], storesTogether_ ? &objects_[i] : nullptr);
   });
   for (size_t i = 0; i < work.size(); ++i)
      work[i].table->segments[work[i].segment] = blocks_.segments[i];
   for (auto& table : captured_)
      std::erase_if(table.segments, [](const SegmentPtr& segment) { return segment->delta != nullptr; });
}

void Checkpoint::useBlocks() {
   std::map<SegmentId, SegmentPtr> replacements;
   for (const SegmentPtr& segment : blocks_.segments)
      replacements[segment->id] = segment;
   blocks_.isUsed = true; // set first: should the code below throw, no table loses a block that it lists
   if (replacements.empty() && emptied_.empty()) return;
   for (const auto& captured : captured_)
      replaceSegments(captured.table->core(), replacements, emptied_);
}

/// A name that no other attempt has, not even a failed one for the same version.
std::string Checkpoint::uniqueName() const {
   return std::to_string(next_.version) + "-" + parts_.context.sessionTag + "-" +
          std::to_string(parts_.context.nextObject.fetch_add(1));
}

std::string Checkpoint::tableObject(StorageId id, const char* kind) const {
   return prefixOf(id) + kind + "/" + uniqueName();
}

void Checkpoint::addCatalog() {
   imageChecksum_ = checksumOf(image_);
   next_.catalogObject = stored_.manifest().catalogObject;
   if (stored_.hasCatalog(imageChecksum_)) return;
   next_.catalogObject = "catalog/" + uniqueName();
   objects_.push_back({next_.catalogObject, std::move(image_)});
}

/// Entries for the captured segments; headers of those that `before` does not know go to a new object.
std::vector<ListOfHeaders::Entry> Checkpoint::listEntries(const TableRegistry::Captured& captured,
                                                          const ListOfHeaders& before) {
   std::map<SegmentId, const ListOfHeaders::Entry*> known;
   for (const ListOfHeaders::Entry& entry : before.entries)
      known[entry.segment] = &entry;
   std::vector<ListOfHeaders::Entry> entries;
   NewObject headers{tableObject(captured.table->id(), "header"), {}, false};
   for (const SegmentPtr& segment : captured.segments) {
      CHECK(segment->block != nullptr);
      if (const auto it = known.find(segment->id); it != known.end()) {
         CHECK(it->second->blockObject == segment->block->objectName());
         entries.push_back(*it->second);
         continue;
      }
      ListOfHeaders::Entry entry;
      entry.segment = segment->id;
      entry.blockObject = segment->block->objectName();
      entry.headerObject = headers.name;
      entry.offset = headers.bytes.size();
      segment->block->header().serialize(headers.bytes);
      entry.size = headers.bytes.size() - entry.offset;
      entry.checksum = checksumOf(std::string_view(headers.bytes).substr(entry.offset));
      entries.push_back(std::move(entry));
   }
   if (!headers.bytes.empty()) objects_.push_back(std::move(headers));
   return entries;
}

/// Compare the table with its stored state; note the new state and the objects to store, if the two differ.
void Checkpoint::addTable(const TableRegistry::Captured& captured) {
   const StorageId id = captured.table->id();
   const StoredTable& before = stored_.table(id);
   StoredTable after;
   for (const SegmentPtr& segment : captured.segments)
      after.segments.push_back(segment->id);
   const DeletedRows deleted = deletedRows(captured.segments, next_.lastCommit);
   std::string deletedBytes = deleted.segments.empty() ? std::string() : deleted.serialize();
   after.deleteChecksum = deletedBytes.empty() ? 0 : checksumOf(deletedBytes);
   if (after.segments == before.segments && after.deleteChecksum == before.deleteChecksum) return;
   after.list.entries = listEntries(captured, before.list);
   if (after.deleteChecksum == before.deleteChecksum) {
      after.list.deleteObject = before.list.deleteObject;
   } else if (!deletedBytes.empty()) {
      after.list.deleteObject = tableObject(id, "delete");
      objects_.push_back({after.list.deleteObject, std::move(deletedBytes)});
   }
   if (!after.list.entries.empty()) {
      after.listName = tableObject(id, "list-of-headers");
      objects_.push_back({after.listName, after.list.serialize()});
   }
   changed_.emplace_back(id, std::move(after));
}

/// Store the objects. Over a network all requests run at once, since no reader looks for an object before a manifest
/// names it; unused objects are removed at the same time.
void Checkpoint::storeObjects() {
   io::ObjectStore& objectStore = parts_.context.store;
   const auto store = [&](const NewObject& object) {
      mustBeNew(object.isSealed ? putSealed(objectStore, object.name, object.bytes)
                                : objectStore.put(object.name, object.bytes, io::PutCondition::ifAbsent()));
   };
   if (!objectStore.isRemote()) {
      for (const NewObject& object : objects_)
         store(object);
      return;
   }
   const uint64_t count = objects_.size() + (stored_.hasUnused() ? 1 : 0);
   forEachPiece(parts_.context, count, CheckpointKind::Commit,
                [&](uint64_t i) { i < objects_.size() ? store(objects_[i]) : stored_.removeUnused(); });
}

void Checkpoint::publish() {
   CHECK(blocks_.isUsed); // a manifest must not name blocks that ~NewBlocks() discards
   for (auto& [id, table] : changed_)
      stored_.setTable(id, std::move(table));
   std::set<std::string> referenced{next_.catalogObject};
   for (const auto& captured : captured_) {
      const StoredTable& table = stored_.table(captured.table->id());
      CHECK(table.segments.size() == captured.segments.size());
      table.addNames(referenced);
      next_.tables.push_back({captured.table->id(), *captured.columns, table.listName});
   }
   stored_.publish(std::move(next_), std::move(referenced));
   stored_.setCatalogChecksum(imageChecksum_);
}

void Checkpoint::cleanUp() {
   CHECK(stored_.manifest().replayLsn == replayLsn_);
   stored_.addUnused(std::move(garbage_));
   for (std::shared_ptr<Block>& block : replaced_) {
      if (kind_ == CheckpointKind::Background && parts_.replacedBlocks.keeps())
         parts_.replacedBlocks.add(std::move(block));
      else
         discardBlock(std::move(block));
   }
   if (kind_ == CheckpointKind::Clean) parts_.replacedBlocks.removeAll();
   // The next group of commits would wait for the removal: leave it to CheckpointGroup::Work::tidy.
   if (kind_ != CheckpointKind::Commit) stored_.removeUnused();
   std::set<StorageId> alive;
   for (const auto& captured : captured_)
      alive.insert(captured.table->id());
   stored_.forgetTablesExcept(alive);
}

/// No manifest names the block any more. Its object is removed with the unused ones, or by the last owner of the block.
void Checkpoint::discardBlock(std::shared_ptr<Block> block) {
   Garbage names;
   if (block.use_count() == 1)
      block->retire(names); // this is the last owner: the object is removed with the unused ones, in one request
   else if (kind_ == CheckpointKind::Commit)
      block->retire(parts_.context.garbage);
   else
      block->discard();
   block.reset();
   stored_.addUnused(names.take());
}

} // namespace ouzel::storage
