#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ouzel::io {

/// Identifies an object of a store: a 128-bit hash of the store's and the object's name. No collisions are expected.
struct ObjectKey {
   uint64_t low = 0, high = 0;
   static ObjectKey of(std::string_view store, std::string_view name);
   bool operator==(const ObjectKey&) const = default;
};
struct ObjectKeyHash {
   size_t operator()(const ObjectKey& key) const { return key.low; }
};

/// A piece of an object in the cache's file. This is also the record's layout in a segment's summary (region_file.hpp).
struct Region {
   ObjectKey object;
   uint64_t objectSize = 0; ///< bytes of the whole object
   uint64_t offset = 0;     ///< in the object
   uint64_t checksum = 0;   ///< XXH3 of the region's bytes
   uint32_t size = 0;
   uint32_t position = 0; ///< offset in the segment
};
static_assert(sizeof(Region) == 48);

/// A region and the segment that holds it.
struct Place {
   uint32_t segment = 0;
   Region region;
   uint64_t end() const { return region.offset + region.size; }
};

/// Index of the regions in the cache's file, by object and offset. Regions of one object never overlap. Not
/// thread-safe.
class RegionIndex {
public:
   /// Memory in bytes for each region, including its part of the tables.
   static constexpr size_t bytesPerRegion = 192;

   explicit RegionIndex(uint32_t segments) : segments_(segments) {}

   /// False: the region overlaps one that the index has.
   bool insert(const Place& place);
   /// A part of a range and the region that covers it; no place: the part is missing.
   struct Piece {
      uint64_t begin = 0, end = 0;
      std::optional<Place> place = std::nullopt;
   };
   /// Cuts the range into pieces, in order; neighbouring missing bytes form one piece. Marks the found regions as used.
   std::vector<Piece> find(const ObjectKey& object, uint64_t begin, uint64_t end);
   std::optional<uint64_t> objectSize(const ObjectKey& object) const;
   /// Removes all regions of a segment. Returns the ones that were used since they were inserted.
   std::vector<Region> takeSegment(uint32_t segment);
   /// Removes a region. False: the index does not have it.
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
   std::vector<std::vector<Reference>> segments_; ///< inserted regions; some may be gone or replaced
   size_t count_ = 0;
   uint64_t bytes_ = 0;
};

} // namespace ouzel::io
