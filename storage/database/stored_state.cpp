#include "storage/database/stored_state.hpp"

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "common/log/log.hpp"
#include "storage/base/table_place.hpp"

namespace ouzel::storage {

void StoredTable::addNames(std::set<std::string>& names) const {
   if (!listName.empty()) names.insert(listName);
   for (const ListOfHeaders::Entry& entry : list.entries)
      names.insert(entry.headerObject);
   if (!list.deleteObject.empty()) names.insert(list.deleteObject);
}

const StoredTable& StoredState::table(StorageId id) const {
   static const StoredTable nothing;
   const auto it = tables_.find(id);
   return it == tables_.end() ? nothing : it->second;
}

void StoredState::forgetTablesExcept(const std::set<StorageId>& alive) {
   std::erase_if(tables_, [&](const auto& entry) { return !alive.contains(entry.first); });
}

void StoredState::publish(Manifest next, std::set<std::string> referenced) {
   WriterLease& lease = files_->writerLease();
   CHECK(next.version == manifest_.version + 1);
   CHECK(next.epoch == lease.epoch());
   CHECK(next.replayLsn >= manifest_.replayLsn);
   CHECK(next.catalogObject.empty() || referenced.contains(next.catalogObject));
   TEST_POINT("manifest.publish");
   lease.require();
   try {
      if (!putSealed(files_->store(), Manifest::objectName(next.version), next.serialize())) lease.fence();
      lease.require(); // checked again before objects are removed: a number whose manifest was removed can be put again
   } catch (...) {
      // The manifest may be stored or not. The next attempt has another number, and until then no object it names is
      // removed.
      manifest_.version = next.version;
      addReferenced(referenced);
      throw;
   }
   TEST_POINT("manifest.published");
   for (const std::string& name : referenced_)
      if (!referenced.contains(name)) unused_.insert(name);
   // The manifest before is kept, to show the last state; its objects are not kept.
   if (next.version >= 2) unused_.insert(Manifest::objectName(next.version - 2));
   referenced_ = std::move(referenced);
   manifest_ = std::move(next);
}

void StoredState::addUnused(std::set<std::string> names) {
   for (const std::string& name : names)
      CHECK(!referenced_.contains(name));
   unused_.merge(std::move(names));
}

void StoredState::removeUnused() {
   const std::set<std::string> names = std::exchange(unused_, {});
   for (const std::string& name : names)
      CHECK(!referenced_.contains(name)); // a manifest without its objects is a lost database
   CHECK(!names.contains(Manifest::objectName(manifest_.version)));
   if (!names.empty()) removeObjects(names);
}

void StoredState::removeObjects(const std::set<std::string>& names) {
   const std::vector<std::string> list(names.begin(), names.end());
   try {
      files_->store().remove(std::span(list));
   } catch (const SqlError& error) { // removed at the next start
      logLine(LogLevel::Warning, std::string("could not remove objects: ") + error.what());
   }
}

void StoredState::removeOrphans(const std::set<std::string>& alsoNeeded) {
   std::set<std::string> orphans;
   std::vector<std::string> prefixes(std::begin(tablePrefixes), std::end(tablePrefixes));
   prefixes.emplace_back("catalog/");
   for (const std::string& prefix : prefixes)
      for (const io::ObjectInfo& object : files_->store().list(prefix))
         if (!referenced_.contains(object.name) && !alsoNeeded.contains(object.name)) orphans.insert(object.name);
   // A process that was killed after putting a manifest has not removed the last but one. Older manifests sort behind
   // newer ones.
   const std::string previous = Manifest::objectName(manifest_.version - 1);
   for (const io::ObjectInfo& object : files_->store().list("manifest/"))
      if (object.name > previous) orphans.insert(object.name);
   removeObjects(orphans);
}

} // namespace ouzel::storage
