#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "storage/database/database_files.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

/// The objects of one table in the store, blocks excepted.
struct StoredTable {
   std::vector<SegmentId> segments;
   uint64_t deleteChecksum = 0; ///< of the serialized DeletedRows; 0: none
   std::string listName;        ///< of the object that holds `list`; empty: no rows
   ListOfHeaders list;

   void addNames(std::set<std::string>& names) const;
};

/// The content of the newest manifest, and the objects of the store that wait to be removed.
///
///    (put) ──> referenced ──publish() of a manifest without it──> unused ──removeUnused()──> (gone)
///
/// Ownership: recoverDatabase() makes it; the Checkpointer owns it.
/// Threads: none of its own; Checkpointer::storedMutex_ guards it.
/// Invariants:
/// 1. An object is unused only when no manifest names it that may be the newest one.
/// 2. Objects of a failed attempt are referenced: they may exist, and the next manifest makes them unused.
class StoredState {
public:
   StoredState(DatabaseFiles& files, Manifest manifest) : files_(&files), manifest_(std::move(manifest)) {}

   const Manifest& manifest() const { return manifest_; }
   /// The stored objects of a table; none for an unknown table.
   const StoredTable& table(StorageId id) const;
   void setTable(StorageId id, StoredTable table) { tables_[id] = std::move(table); }
   /// Forget all tables that are not in `alive`.
   void forgetTablesExcept(const std::set<StorageId>& alive);
   /// Note the checksum of the newest manifest's catalog image.
   void setCatalogChecksum(uint64_t checksum) { catalogChecksum_ = checksum; }
   bool hasCatalog(uint64_t checksum) const { return !manifest_.catalogObject.empty() && checksum == catalogChecksum_; }
   size_t referencedCount() const { return referenced_.size(); }

   /// Count the objects as referenced: they may exist from now on.
   void addReferenced(const std::set<std::string>& names) { referenced_.insert(names.begin(), names.end()); }
   /// Put the manifest, which names `referenced` and blocks: it is then the state of the database. Objects that the
   /// manifest before named, and this one does not, become unused. Throws 25006 when another server has taken over.
   void publish(Manifest next, std::set<std::string> referenced);
   /// Put another manifest that names the same objects.
   void publishSame(Manifest next) { publish(std::move(next), referenced_); }
   /// Add objects that no manifest names any more.
   void addUnused(std::set<std::string> names);
   bool hasUnused() const { return !unused_.empty(); }
   void removeUnused();
   /// Remove all objects but those that the manifest names and `alsoNeeded`. REQUIRES: no thread puts objects.
   void removeOrphans(const std::set<std::string>& alsoNeeded);

private:
   /// Logs a warning when objects cannot be removed; they stay until the next start.
   void removeObjects(const std::set<std::string>& names);

   DatabaseFiles* files_; ///< outlives this
   Manifest manifest_;    ///< the newest one published
   std::map<StorageId, StoredTable> tables_;
   std::set<std::string> referenced_; ///< by manifest_ or a failed attempt, blocks excepted
   std::set<std::string> unused_;
   uint64_t catalogChecksum_ = 0; ///< of the image in its catalogObject
};

} // namespace ouzel::storage
