#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/sync/mutex.hpp"
#include "io/object_store/object_store.hpp"
#include "storage/base/table_use.hpp"
#include "storage/block/format.hpp"
#include "storage/block/garbage.hpp"
#include "storage/block/landing_list.hpp"
#include "storage/block/page_decoder.hpp"
#include "storage/buffer/frame_cache.hpp"

namespace ouzel::storage {

/// An immutable block of the object store: its header in memory, its pages through the frame cache. Thread-safe.
///
/// Ownership: shared by all segment lists that contain it. After discard() or retire() the destructor, run by the last
/// owner, evicts the block's pages from the cache. Then it removes the object (discard) or adds its name to the garbage
/// (retire).
class Block {
public:
   /// `lost`: null, or a flag that is set when a read finds the object missing, since another process may remove it.
   Block(io::ObjectStore& store, FrameCache& cache, std::string objectName, BlockHeader header,
         std::atomic<bool>* lost = nullptr);
   ~Block();
   Block(const Block&) = delete;
   Block& operator=(const Block&) = delete;

   const BlockHeader& header() const { return header_; }
   const std::string& objectName() const { return objectName_; }
   /// Pin page `index` of a chunk, from the cache, the landing (may be null) or the store; `use` (may be null) counts
   /// it. Throws XX001 when the checksum does not match or the object is missing, 40001 when another process has
   /// removed the object.
   PagePin page(uint32_t column, uint32_t rowGroup, uint32_t index, const Landing* landing = nullptr,
                TableUse* use = nullptr) const;
   /// Pin the bytes of a chunk's Bloom filter, as page() does. REQUIRES: the chunk has a filter; landing->mayKeep().
   PagePin filter(uint32_t column, uint32_t rowGroup, const Landing* landing = nullptr) const;
   bool isFilterCached(uint32_t column, uint32_t rowGroup) const;
   /// Whether all pages of a chunk are in the cache.
   bool isCached(uint32_t column, uint32_t rowGroup) const;
   /// Bytes from a chunk's first page to the end of its last, rounded up to pageAlignment. Pages of a chunk lie one
   /// behind the other in the object.
   size_t storedBytes(uint32_t column, uint32_t rowGroup) const;
   const io::ObjectReader& reader() const;
   /// The dictionary of shapes in a chunk that has parts, whose page holds `bytes`. Dictionaries that are not large
   /// stay in memory, so that each scan need not read theirs again. Throws XX001.
   std::shared_ptr<const ShapeDictionary> shapes(uint32_t column, uint32_t rowGroup, std::string_view bytes) const;
   /// The same, if it is in memory; else null.
   std::shared_ptr<const ShapeDictionary> knownShapes(uint32_t column, uint32_t rowGroup) const;
   /// The stretches of the object that scans read ahead.
   LandingList& landings() const { return landings_; }
   /// Remove the object with the last owner of this. REQUIRES: neither a manifest nor the log names it.
   void discard() { isDiscarded_.store(true); }
   /// Add the object to the garbage with the last owner of this: for a block that a manifest or the log may name.
   void retire(Garbage& garbage) { garbage_.store(&garbage); }
   /// Read every page and filter and compare checksums, past the cache. Throws XX001.
   void verify() const;

   /// Read the header at the end of an object. Throws XX001.
   static BlockHeader readHeader(const io::ObjectReader& reader, const std::string& objectName);

private:
   [[noreturn]] void throwMissing() const;
   const char* landed(uint64_t offset, const Landing& landing) const;
   void check(const PageEntry& entry, const char* stored) const;
   void check(const FilterEntry& entry, const char* stored) const;
   void loadPage(const PageEntry& entry, bool isDictionary, const Landing* landing, char* frame) const;
   void loadFilter(const FilterEntry& entry, char* frame) const;
   /// The cache keeps filters beside pages, under a page number that no page has.
   PageKey filterKey(uint32_t column, uint32_t rowGroup) const {
      return {header_.segment, column, rowGroup << 16 | 0xffff};
   }

   io::ObjectStore& store_;
   FrameCache& cache_;
   const std::string objectName_;
   const BlockHeader header_;
   std::atomic<bool>* const lost_;
   mutable std::once_flag opened_;
   mutable std::unique_ptr<io::ObjectReader> reader_;
   mutable LandingList landings_;
   /// Not charged: in the worst case a hundredth of what the block takes on disk.
   mutable Mutex shapesMutex_;
   mutable std::unordered_map<uint64_t, std::shared_ptr<const ShapeDictionary>> shapes_ GUARDED_BY(shapesMutex_);
   std::atomic<bool> isDiscarded_{false};
   std::atomic<Garbage*> garbage_{nullptr};
};

} // namespace ouzel::storage
