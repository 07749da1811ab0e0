#pragma once
#include <set>

#include "common/sync/mutex.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// Stores objects as files below one directory. A put writes and syncs a file with a temporary name in `.tmp`, links or
/// renames it to the object's name, and syncs the directory. Several processes may use one directory: each store makes
/// its own temporary names. Thread-safe.
class DirectoryStore final : public ObjectStore {
public:
   explicit DirectoryStore(std::string root);

   using ObjectStore::open;
   using ObjectStore::put;
   using ObjectStore::remove;
   bool put(std::string_view name, std::span<const std::string_view> parts, const PutCondition& condition) override;
   std::unique_ptr<ObjectReader> open(std::string_view name) override;
   std::optional<std::string> tag(std::string_view name) override;
   std::vector<ObjectInfo> list(std::string_view prefix, size_t limit) override;
   void remove(std::string_view name) override;
   /// Removes the files in `.tmp` that other stores have left.
   void removeLeftovers() override;

private:
   std::string pathOf(std::string_view name) const;
   void prepareParent(const std::string& path);
   void listBelow(const std::string& directory, std::string_view prefix, std::vector<ObjectInfo>& result) const;

   const std::string root_;
   std::string ownPrefix_; ///< of this store's names in `.tmp`
   Mutex mutex_;           ///< guards the members below, and makes IfMatch one step among this process's threads
   uint64_t temporaryCount_ GUARDED_BY(mutex_) = 0;
   std::set<std::string> knownDirectories_ GUARDED_BY(mutex_);
};

} // namespace ouzel::io
