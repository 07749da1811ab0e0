#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "storage/database/database_files.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

/// What the store has of one table, blocks excepted.
struct StoredTable {
   std::vector<SegmentId> segments;
   uint64_t deleteChecksum = 0; ///< of the serialized DeletedRows; 0: none
   std::string listName;        ///< of the object that holds `list`; empty: no rows
   ListOfHeaders list;

   void addNames(std::set<std::string>& names) const;
};

/// What the newest manifest says, and what becomes of the store's objects when another one replaces it.
///
///    (put) ──> referenced ──publish() of a manifest without it──> unused ──removeUnused()──> (gone)
///
/// Ownership: Recovery makes it and hands it to the Checkpointer.
/// Threads: none of its own; Checkpointer::storedMutex_ guards it.
/// Invariants:
/// 1. An object is unused only when no manifest names it that may be the newest one.
/// 2. Objects of an attempt that failed are referenced: they may exist, and the next manifest makes them unused.
class StoredState {
public:
   StoredState(DatabaseFiles& files, Manifest manifest) : files_(&files), manifest_(std::move(manifest)) {}

   const Manifest& manifest() const { return manifest_; }
   /// Of an unknown table: nothing.
   const StoredTable& table(StorageId id) const;
   void setTable(StorageId id, StoredTable table) { tables_[id] = std::move(table); }
   /// The tables of `alive` are all there are.
   void forgetTablesExcept(const std::set<StorageId>& alive);
   /// The newest manifest's catalog image has this checksum.
   void setCatalogChecksum(uint64_t checksum) { catalogChecksum_ = checksum; }
   bool hasCatalog(uint64_t checksum) const { return !manifest_.catalogObject.empty() && checksum == catalogChecksum_; }
   size_t referencedCount() const { return referenced_.size(); }

   /// The objects may exist from now on.
   void addReferenced(const std::set<std::string>& names) { referenced_.insert(names.begin(), names.end()); }
   /// Put the manifest, which names `referenced` and blocks: it is the state of the database then. What the one before
   /// needed, and this one does not, becomes unused. Throws 25006 when another server has taken over.
   void publish(Manifest next, std::set<std::string> referenced);
   /// The same objects, another manifest.
   void publishSame(Manifest next) { publish(std::move(next), referenced_); }
   /// No manifest names these any more.
   void addUnused(std::set<std::string> names);
   bool hasUnused() const { return !unused_.empty(); }
   void removeUnused();
   /// Remove all objects but those that the manifest names and `alsoNeeded`. REQUIRES: nobody else puts any.
   void removeOrphans(const std::set<std::string>& alsoNeeded);

private:
   /// What cannot be removed stays until the next start.
   void removeObjects(const std::set<std::string>& names);

   DatabaseFiles* files_; ///< outlives this
   Manifest manifest_;    ///< the newest one published
   std::map<StorageId, StoredTable> tables_;
   std::set<std::string> referenced_; ///< by that manifest, blocks excepted
   std::set<std::string> unused_;
   uint64_t catalogChecksum_ = 0; ///< of the image in its catalogObject
};

} // namespace ouzel::storage
