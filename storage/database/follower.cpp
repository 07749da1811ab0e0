#include "storage/database/follower.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "storage/base/byte_codec.hpp"
#include "storage/manifest/header_objects.hpp"

namespace ouzel::storage {

/// The state of one table in the newer manifest.
struct Follower::Update {
   const Manifest::Table* entry = nullptr;
   std::shared_ptr<Table> table; ///< null: the table is new
   std::vector<SegmentId> segments;
   std::map<SegmentId, std::shared_ptr<Segment>> added;
   DeletedRows deleted;

   std::shared_ptr<const SegmentList> mergedList(const SegmentList& before, Timestamp timestamp,
                                                 bool& hasRetired) const;
};

namespace {

SegmentPtr findSegment(const SegmentList& list, SegmentId id) {
   const auto found = std::find_if(list.begin(), list.end(), [&](const SegmentPtr& s) { return s->id == id; });
   return found == list.end() ? nullptr : *found;
}

} // namespace

std::shared_ptr<Segment> Follower::makeSegment(const ListOfHeaders::Entry& entry, BlockHeader header) {
   auto segment = std::make_shared<Segment>();
   segment->id = entry.segment;
   segment->versions = std::make_shared<SegmentVersions>();
   segment->block =
       std::make_shared<Block>(context_.store, context_.cache, entry.blockObject, std::move(header), &hasLostBlock_);
   return segment;
}

/// Read the list of headers, new headers and deletes of a table.
void Follower::read(Update& update) {
   if (update.entry->listOfHeaders.empty()) return;
   const ListOfHeaders list = ListOfHeaders::deserialize(getSealed(context_.store, update.entry->listOfHeaders));
   std::map<SegmentId, SegmentPtr> segments;
   if (update.table)
      for (const SegmentPtr& segment : *update.table->core().segmentList())
         segments[segment->id] = segment;
   HeaderObjects headers(context_.store);
   for (const ListOfHeaders::Entry& entry : list.entries) {
      update.segments.push_back(entry.segment);
      if (segments.contains(entry.segment)) continue;
      const auto segment = makeSegment(entry, headers.read(entry));
      update.added[entry.segment] = segment;
      segments[entry.segment] = segment;
   }
   if (list.deleteObject.empty()) return;
   update.deleted = DeletedRows::deserialize(getSealed(context_.store, list.deleteObject));
   for (const DeletedRows::Segment& rows : update.deleted.segments) {
      const auto found = segments.find(rows.id);
      if (found == segments.end()) ByteReader::corrupted();
      for (const uint32_t row : rows.rows)
         if (row >= found->second->rowCount()) ByteReader::corrupted();
   }
}

/// The segment list of a table: the manifest's segments in its order, then the retired ones, which only older snapshots
/// read.
std::shared_ptr<const SegmentList> Follower::Update::mergedList(const SegmentList& before, Timestamp timestamp,
                                                                bool& hasRetired) const {
   auto list = std::make_shared<SegmentList>();
   for (const SegmentId id : segments) {
      const auto found = added.find(id);
      list->push_back(found != added.end() ? found->second : findSegment(before, id));
      CHECK(list->back() != nullptr); // read() has made missing segments, and only this thread removes segments
   }
   const std::set<SegmentId> kept(segments.begin(), segments.end());
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

/// Apply the update to the table, for snapshots from `timestamp` on.
void Follower::apply(Update& update, Timestamp timestamp) {
   if (!update.table)
      update.table =
          std::make_shared<Table>(std::make_unique<TableCore>(context_, update.entry->id, update.entry->columns));
   for (const auto& [id, segment] : update.added)
      segment->versions->addCommit(timestamp, segment->block->header().rowCount, 0);
   TableCore& core = update.table->core();
   bool hasRetired = false;
   {
      const MutexLock lock(core.mutex);
      if (core.columns->size() != update.entry->columns.size())
         core.columns = std::make_shared<const std::vector<ColumnDefinition>>(update.entry->columns);
      core.segments = update.mergedList(*core.segments, timestamp, hasRetired);
   }
   if (hasRetired) retired_.note(timestamp);
   const auto list = core.segmentList();
   for (const DeletedRows::Segment& rows : update.deleted.segments) {
      DeleteMarks& marks = findSegment(*list, rows.id)->versions->deletes;
      for (const uint32_t row : rows.rows)
         if (marks.word(row) == 0) marks.replaceMark(row, timestamp);
   }
   tables_.putCommitted(update.table);
   listNames_[update.entry->id] = update.entry->listOfHeaders;
}

bool Follower::isShown(const Manifest::Table& entry, const Table& table) const {
   const auto name = listNames_.find(entry.id);
   return name != listNames_.end() && entry.listOfHeaders == name->second &&
          entry.columns.size() == table.columns()->size();
}

void Follower::followTo(const std::string& name, const FollowCallback& publish) {
   Manifest next = Manifest::deserialize(getSealed(context_.store, name));
   std::optional<std::string> image;
   if (shown_.version == 0 || next.catalogObject != shown_.catalogObject)
      image = next.catalogObject.empty() ? std::string() : getSealed(context_.store, next.catalogObject);
   std::vector<Update> updates;
   std::set<StorageId> alive;
   for (const Manifest::Table& entry : next.tables) {
      alive.insert(entry.id);
      Update update;
      update.entry = &entry;
      update.table = tables_.findCommitted(entry.id);
      if (update.table && isShown(entry, *update.table)) continue;
      read(update);
      updates.push_back(std::move(update));
   }

   const Timestamp timestamp = context_.transactions.lastCommitted() + 1;
   for (Update& update : updates)
      apply(update, timestamp);
   for (const StorageId id : tables_.withdrawExcept(alive))
      dropped_.emplace_back(timestamp, id);
   std::erase_if(listNames_, [&](const auto& entry) { return !alive.contains(entry.first); });
   publish(image ? &*image : nullptr, [&] {
      counters_.replaceAll(next.counters);
      committer_.publishFollowed(timestamp);
   });
   shown_ = std::move(next);
}

bool Follower::follow(const FollowCallback& publish) {
   const MutexLock lock(shownMutex_);
   forgetDropped();
   retired_.release();
   constexpr int attemptsMax = 10;
   for (int attempt = 1;; ++attempt) {
      const std::vector<io::ObjectInfo> newest = context_.store.list("manifest/", 1);
      if (newest.empty()) {
         // Reading a directory may miss both a manifest that was added and the one that was removed meanwhile.
         if (attempt < attemptsMax) continue;
         throw SqlError(sqlstate::undefinedFile, "there is no database in \"" + files_.options().dataDirectory + "\"");
      }
      hasLostBlock_ = false; // a block lost from here on is not needed by a later manifest
      if (shown_.version != 0 && newest[0].name >= Manifest::objectName(shown_.version)) return false;
      try {
         followTo(newest[0].name, publish);
         return true;
      } catch (const SqlError&) {
         // The writer may have published another manifest meanwhile, and removed objects that this one names.
         if (attempt == attemptsMax) throw;
         const std::vector<io::ObjectInfo> now = context_.store.list("manifest/", 1);
         if (!now.empty() && now[0].name == newest[0].name) throw;
      }
   }
}

void Follower::forgetDropped() {
   const Timestamp horizon = context_.transactions.horizon();
   std::erase_if(dropped_, [&](const auto& entry) {
      if (entry.first > horizon) return false;
      tables_.erase(entry.second);
      return true;
   });
}

} // namespace ouzel::storage
