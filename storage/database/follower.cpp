#include <algorithm>
#include <chrono>

#include "common/error/sql_error.hpp"
#include "storage/base/byte_codec.hpp"
#include "storage/database/database_state.hpp"
#include "storage/manifest/header_objects.hpp"

// A database whose writer is another process: what its checkpoints publish becomes, manifest by manifest, what we show.
// A manifest is one commit of ours, with a timestamp of our own: its new segments exist from that on, segments it does
// not name are retired at it, rows it knows to be deleted are so since. So a snapshot goes on seeing the manifest it
// was taken from, as long as the objects are there: the writer removes what its newest manifest has no use for, and
// knows nothing of us.
//
// Everything is read before anything is changed, and what is changed shows when the timestamp is published. Blocks and
// headers that are known are not read again: a segment's id never stands for other rows.

namespace ouzel::storage {

namespace {

/// One table as the newer manifest has it.
struct Update {
   const Manifest::Table* entry = nullptr;
   std::shared_ptr<Table> table; ///< null: it is new to us
   Database::State::Persisted persisted;
   std::map<SegmentId, std::shared_ptr<Segment>> added;
   DeletedRows deleted;
};

SegmentPtr findSegment(const SegmentList& list, SegmentId id) {
   const auto found = std::find_if(list.begin(), list.end(), [&](const SegmentPtr& s) { return s->id == id; });
   return found == list.end() ? nullptr : *found;
}

std::shared_ptr<Segment> makeSegment(Database::State& state, const ListOfHeaders::Entry& entry, BlockHeader header) {
   auto segment = std::make_shared<Segment>();
   segment->id = entry.segment;
   segment->versions = std::make_shared<SegmentVersions>();
   segment->block = std::make_shared<Block>(*state.store, state.governor.cache(), entry.blockObject, std::move(header),
                                            &state.hasLostBlock);
   return segment;
}

/// Read what is new about a table.
void read(Database::State& state, Update& update) {
   if (update.entry->listOfHeaders.empty()) return;
   update.persisted.listName = update.entry->listOfHeaders;
   update.persisted.list = ListOfHeaders::deserialize(getSealed(*state.store, update.entry->listOfHeaders));
   const std::shared_ptr<const SegmentList> known =
       update.table ? update.table->core().segmentList() : std::make_shared<const SegmentList>();
   std::map<SegmentId, SegmentPtr> segments;
   for (const SegmentPtr& segment : *known)
      segments[segment->id] = segment;
   HeaderObjects headers(*state.store);
   for (const ListOfHeaders::Entry& entry : update.persisted.list.entries) {
      update.persisted.segments.push_back(entry.segment);
      if (segments.contains(entry.segment)) continue;
      const auto segment = makeSegment(state, entry, headers.read(entry));
      update.added[entry.segment] = segment;
      segments[entry.segment] = segment;
   }
   if (update.persisted.list.deleteObject.empty()) return;
   update.deleted = DeletedRows::deserialize(getSealed(*state.store, update.persisted.list.deleteObject));
   for (const DeletedRows::Segment& rows : update.deleted.segments) {
      const auto found = segments.find(rows.id);
      if (found == segments.end()) ByteReader::corrupted();
      for (const uint32_t row : rows.rows)
         if (row >= found->second->rowCount()) ByteReader::corrupted();
   }
}

/// Of a table whose segments have changed: those of the manifest in its order, then those that only older snapshots
/// read.
std::shared_ptr<const SegmentList> mergedList(const SegmentList& before, const Update& update, Timestamp timestamp,
                                              bool& hasRetired) {
   auto list = std::make_shared<SegmentList>();
   for (const SegmentId id : update.persisted.segments) {
      const auto added = update.added.find(id);
      list->push_back(added != update.added.end() ? added->second : findSegment(before, id));
   }
   const std::set<SegmentId> kept(update.persisted.segments.begin(), update.persisted.segments.end());
   for (const SegmentPtr& segment : before) {
      if (kept.contains(segment->id)) continue;
      if (segment->retiredAt != 0) {
         list->push_back(segment);
         continue;
      }
      auto retired = std::make_shared<Segment>(*segment);
      retired->retiredAt = timestamp;
      list->push_back(std::move(retired));
      hasRetired = true;
   }
   return list;
}

/// Bring the table to what was read, for snapshots from `timestamp` on.
void apply(Database::State& state, Update& update, Timestamp timestamp) {
   if (!update.table)
      update.table =
          std::make_shared<Table>(std::make_unique<TableCore>(*state.context, update.entry->id, update.entry->columns));
   for (const auto& [id, segment] : update.added)
      segment->versions->addCommit(timestamp, segment->block->header().rowCount, 0);
   TableCore& core = update.table->core();
   bool hasRetired = false;
   {
      const std::lock_guard lock(core.mutex);
      if (core.columns->size() != update.entry->columns.size())
         core.columns = std::make_shared<const std::vector<ColumnDefinition>>(update.entry->columns);
      core.segments = mergedList(*core.segments, update, timestamp, hasRetired);
   }
   if (hasRetired) state.noteRetired(timestamp);
   const auto list = core.segmentList();
   for (const DeletedRows::Segment& rows : update.deleted.segments) {
      DeleteMarks& marks = findSegment(*list, rows.id)->versions->deletes;
      for (const uint32_t row : rows.rows)
         if (marks.word(row) == 0) marks.settle(row, timestamp);
   }
   const std::lock_guard lock(state.tablesMutex);
   auto& known = state.tables[update.entry->id];
   known.table = update.table;
   known.isCommitted = true;
   known.committedColumns = static_cast<uint32_t>(update.entry->columns.size());
   state.persisted[update.entry->id] = std::move(update.persisted);
}

bool isSame(const Manifest::Table& entry, const Database::State::Persisted& persisted, const Table& table) {
   return entry.listOfHeaders == persisted.listName && entry.columns.size() == table.columns()->size();
}

} // namespace

bool Database::State::followTo(const std::string& name, const FollowCallback& publish) {
   Manifest next = Manifest::deserialize(getSealed(*store, name));
   const bool isFirst = manifest.version == 0;
   std::optional<std::string> image;
   if (isFirst || next.catalogObject != manifest.catalogObject)
      image = next.catalogObject.empty() ? std::string() : getSealed(*store, next.catalogObject);
   std::vector<Update> updates;
   std::set<StorageId> alive;
   for (const Manifest::Table& entry : next.tables) {
      alive.insert(entry.id);
      Update update;
      update.entry = &entry;
      const auto found = tables.find(entry.id); // nobody else changes them
      if (found != tables.end() && found->second.isCommitted) update.table = found->second.table;
      if (update.table && isSame(entry, persisted[entry.id], *update.table)) continue;
      read(*this, update);
      updates.push_back(std::move(update));
   }

   const Timestamp timestamp = transactions.lastCommitted() + 1;
   for (Update& update : updates)
      apply(*this, update, timestamp);
   {
      const std::lock_guard lock(tablesMutex);
      for (auto& [id, entry] : tables)
         if (!alive.contains(id) && std::exchange(entry.isCommitted, false)) droppedTables.emplace_back(timestamp, id);
   }
   std::erase_if(persisted, [&](const auto& entry) { return !alive.contains(entry.first); });
   publish(image ? &*image : nullptr, [&] {
      const std::lock_guard lock(commitMutex);
      counters = next.counters;
      lastAssigned = timestamp;
      transactions.publish(timestamp);
   });
   manifest = std::move(next);
   return true;
}

bool Database::State::follow(const FollowCallback& publish) {
   const std::lock_guard lock(checkpointMutex);
   forgetDropped();
   releaseRetired();
   constexpr int attemptsMax = 10;
   for (int attempt = 1;; ++attempt) {
      const std::vector<io::ObjectInfo> newest = store->list("manifest/", 1);
      if (newest.empty()) {
         // Reading a directory may miss both a file that came and the one that went meanwhile.
         if (attempt < attemptsMax) continue;
         throw SqlError(sqlstate::undefinedFile, "there is no database in \"" + options.dataDirectory + "\"");
      }
      hasLostBlock = false; // what is lost from here on, a later manifest does without
      if (manifest.version != 0 && newest[0].name >= Manifest::objectName(manifest.version)) return false;
      try {
         return followTo(newest[0].name, publish);
      } catch (const SqlError&) {
         // What it names goes when the writer has published the next one.
         if (attempt == attemptsMax) throw;
         const std::vector<io::ObjectInfo> now = store->list("manifest/", 1);
         if (!now.empty() && now[0].name == newest[0].name) throw;
      }
   }
}

void Database::State::forgetDropped() {
   const Timestamp horizon = transactions.horizon();
   std::vector<std::shared_ptr<Table>> gone; // freed without the lock
   const std::lock_guard lock(tablesMutex);
   std::erase_if(droppedTables, [&](const auto& entry) {
      if (entry.first > horizon) return false;
      const auto found = tables.find(entry.second);
      gone.push_back(std::move(found->second.table));
      tables.erase(found);
      return true;
   });
}

void Database::State::startFollowing() {
   context = std::make_unique<StorageContext>(*store, governor.cache(), deltaMemory, tasks, transactions, keyIndexes);
   follow([this](const std::string* image, const std::function<void()>& publishRows) {
      recovered.image = *image;
      publishRows();
   });
}

} // namespace ouzel::storage
