#pragma once
#include <memory>
#include <string>

#include "io/cache/cached_read.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// A store in front of a store over a network: reads of immutable objects go through a cache on a local disk
/// (ObjectCache), all other calls go to the inner store. A read of bytes that another read is fetching waits for that
/// fetch. Thread-safe.
///
/// Another server may remove an object while its pieces are in this cache. The cached pieces stay readable.
class CachedStore final : public ObjectStore {
public:
   /// `identity` tells the inner store apart from all stores whose objects the cache directory may hold. Throws what
   /// ObjectCache's constructor throws.
   CachedStore(std::unique_ptr<ObjectStore> inner, std::string identity, CacheOptions options);
   ~CachedStore() override;

   /// Whether the content behind the name never changes and the name is never used again. Blocks, headers and deletes
   /// qualify: their names hold a random number of the process that wrote them. Manifests, leases and catalogs do not
   /// qualify: they change, and they are small.
   static bool mayCache(std::string_view name) { return name.starts_with("table/") || name.starts_with("database/"); }

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
   /// Waits until all bytes fetched so far are written to the cache's file or dropped. For tests.
   void flush() { parts_.cache.flush(); }

private:
   ObjectKey keyOf(std::string_view name) const { return ObjectKey::of(identity_, name); }
   std::unique_ptr<ObjectReader> wrap(std::string_view name, std::unique_ptr<ObjectReader> reader);

   const std::string identity_;
   CacheParts parts_; // outlives the inner store, whose threads call back until they are joined
   const std::unique_ptr<ObjectStore> inner_;
};

} // namespace ouzel::io
