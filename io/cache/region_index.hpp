#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ouzel::io {

/// An object among all objects of all stores: a hash of 128 bits, which no two names are expected to share.
struct ObjectKey {
   uint64_t low = 0, high = 0;
   static ObjectKey of(std::string_view store, std::string_view name);
   bool operator==(const ObjectKey&) const = default;
};
struct ObjectKeyHash {
   size_t operator()(const ObjectKey& key) const { return key.low; }
};

/// A piece of an object that lies in the cache's file. As it stands in a segment's summary (region_file.hpp).
struct Region {
   ObjectKey object;
   uint64_t objectSize = 0; ///< of the whole object
   uint64_t offset = 0;     ///< in the object
   uint64_t checksum = 0;   ///< XXH3 of its bytes
   uint32_t size = 0;
   uint32_t position = 0; ///< in its segment
};
static_assert(sizeof(Region) == 48);

/// Where a region is.
struct Place {
   uint32_t segment = 0;
   Region region;
   uint64_t end() const { return region.offset + region.size; }
};

/// Which pieces of which objects are in the cache's file, and where. Regions of an object never overlap. Not
/// thread-safe.
class RegionIndex {
public:
   /// Of memory for each region, with its part of the tables.
   static constexpr size_t bytesPerRegion = 192;

   explicit RegionIndex(uint32_t segments) : segments_(segments) {}

   /// False when it overlaps one that is there.
   bool insert(const Place& place);
   /// A part of a range, and the region it lies in; none: it is missing.
   struct Piece {
      uint64_t begin = 0, end = 0;
      std::optional<Place> place = std::nullopt;
   };
   /// The range cut into pieces, in order; missing ones are as long as can be. Those that are there count as used.
   std::vector<Piece> find(const ObjectKey& object, uint64_t begin, uint64_t end);
   std::optional<uint64_t> objectSize(const ObjectKey& object) const;
   /// Forget all regions of a segment; those that were used since they were inserted are returned.
   std::vector<Region> takeSegment(uint32_t segment);
   /// Forget a region, if it is still there. False: it is not.
   bool remove(const Place& place);
   void removeObject(const ObjectKey& object);
   void clear();

   size_t count() const { return count_; }
   uint64_t bytes() const { return bytes_; }

private:
   struct Entry {
      uint64_t checksum;
      uint32_t size, segment, position;
      bool isUsed = false;
   };
   struct Object {
      uint64_t size = 0;
      std::map<uint64_t, Entry> entries; ///< by offset
   };
   struct Reference {
      ObjectKey object;
      uint64_t offset;
   };
   static Place placeOf(const ObjectKey& key, const Object& object, uint64_t offset, const Entry& entry);

   std::unordered_map<ObjectKey, Object, ObjectKeyHash> objects_;
   std::vector<std::vector<Reference>> segments_; ///< what was put there; it may be gone or elsewhere by now
   size_t count_ = 0;
   uint64_t bytes_ = 0;
};

} // namespace ouzel::io
