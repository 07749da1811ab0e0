#pragma once
#include <memory>
#include <string>

#include "io/cache/cached_read.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// A store over a network whose immutable objects are read through a cache on a local disk (ObjectCache). What else is
/// asked goes to the inner store. A read of bytes that another read is fetching waits for those.
///
/// A writer elsewhere may remove an object while it is in the cache: it stays readable here, as from a directory.
class CachedStore final : public ObjectStore {
public:
   /// `identity` names the inner store among all that may have used the directory before. Throws what ObjectCache
   /// throws.
   CachedStore(std::unique_ptr<ObjectStore> inner, std::string identity, CacheOptions options);
   ~CachedStore() override;

   /// Whether what an object of this name says never changes, and its name is never used again: blocks, headers and
   /// deletes, whose names hold a random number of the process that wrote them. Manifests, leases and catalogs are
   /// small and tell what is new, so that nothing would be won.
   static bool mayCache(std::string_view name) { return name.starts_with("table/"); }

   using ObjectStore::open;
   using ObjectStore::put;
   using ObjectStore::remove;
   bool put(std::string_view name, std::span<const std::string_view> parts, const PutCondition& condition) override;
   std::unique_ptr<ObjectReader> open(std::string_view name) override;
   std::unique_ptr<ObjectReader> open(std::string_view name, uint64_t knownSize) override;
   std::optional<std::string> get(std::string_view name) override;
   std::optional<std::string> tag(std::string_view name) override;
   std::vector<ObjectInfo> list(std::string_view prefix, size_t limit) override;
   void remove(std::string_view name) override;
   void remove(std::span<const std::string> names) override;
   void removeLeftovers() override;
   bool distrust(std::string_view name) override;
   bool isRemote() const override { return inner_->isRemote(); }
   std::optional<RetrieverStatistics> statistics() const override;
   std::optional<CacheStatistics> cacheStatistics() const override;
   /// Return when what was read so far is in the cache, or dropped. For tests.
   void flush() { parts_.cache.flush(); }

private:
   ObjectKey keyOf(std::string_view name) const { return ObjectKey::of(identity_, name); }
   std::unique_ptr<ObjectReader> wrap(std::string_view name, std::unique_ptr<ObjectReader> reader);

   const std::string identity_;
   CacheParts parts_; // outlives the inner store, which calls back until it is gone
   const std::unique_ptr<ObjectStore> inner_;
};

} // namespace ouzel::io
