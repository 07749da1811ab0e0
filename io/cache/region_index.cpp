#include "io/cache/region_index.hpp"

#include <algorithm>
#include <string>
#include <xxhash.h>

#include "common/error/check.hpp"

namespace ouzel::io {

ObjectKey ObjectKey::of(std::string_view store, std::string_view name) {
   const std::string text = std::string(store) + '\n' + std::string(name);
   const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
   return {hash.low64, hash.high64};
}

Place RegionIndex::placeOf(const ObjectKey& key, const Object& object, uint64_t offset, const Entry& entry) {
   return {entry.segment, {key, object.size, offset, entry.checksum, entry.size, entry.position}};
}

bool RegionIndex::insert(const Place& place) {
   const Region& region = place.region;
   DCHECK(region.size > 0);
   DCHECK(place.segment < segments_.size());
   Object& object = objects_[region.object];
   const auto next = object.entries.lower_bound(region.offset);
   const bool overlapsNext = next != object.entries.end() && next->first < place.end();
   const bool overlapsLast =
       next != object.entries.begin() && std::prev(next)->first + std::prev(next)->second.size > region.offset;
   if (overlapsNext || overlapsLast) return false;
   object.size = region.objectSize;
   object.entries.emplace_hint(next, region.offset,
                               Entry{region.checksum, region.size, place.segment, region.position});
   segments_[place.segment].push_back({region.object, region.offset});
   ++count_;
   bytes_ += region.size;
   return true;
}

std::vector<RegionIndex::Piece> RegionIndex::find(const ObjectKey& key, uint64_t begin, uint64_t end) {
   std::vector<Piece> pieces;
   const auto found = objects_.find(key);
   if (found != objects_.end()) {
      Object& object = found->second;
      auto it = object.entries.upper_bound(begin);
      if (it != object.entries.begin()) --it;
      for (; it != object.entries.end() && it->first < end; ++it) {
         const uint64_t from = std::max(begin, it->first), to = std::min(end, it->first + it->second.size);
         if (to <= from) continue;
         if (from > begin) pieces.push_back({begin, from});
         it->second.isUsed = true;
         pieces.push_back({from, to, placeOf(key, object, it->first, it->second)});
         begin = to;
      }
   }
   if (begin < end) pieces.push_back({begin, end});
   return pieces;
}

std::optional<uint64_t> RegionIndex::objectSize(const ObjectKey& key) const {
   const auto found = objects_.find(key);
   return found == objects_.end() ? std::nullopt : std::optional(found->second.size);
}

std::vector<Region> RegionIndex::takeSegment(uint32_t segment) {
   std::vector<Region> used;
   for (const Reference& reference : segments_[segment]) {
      const auto object = objects_.find(reference.object);
      if (object == objects_.end()) continue;
      const auto entry = object->second.entries.find(reference.offset);
      if (entry == object->second.entries.end() || entry->second.segment != segment) continue;
      const Place place = placeOf(reference.object, object->second, reference.offset, entry->second);
      if (entry->second.isUsed) used.push_back(place.region);
      remove(place);
   }
   segments_[segment] = {};
   return used;
}

bool RegionIndex::remove(const Place& place) {
   const auto object = objects_.find(place.region.object);
   if (object == objects_.end()) return false;
   const auto entry = object->second.entries.find(place.region.offset);
   if (entry == object->second.entries.end() || entry->second.segment != place.segment ||
       entry->second.position != place.region.position || entry->second.checksum != place.region.checksum)
      return false;
   DCHECK(count_ > 0);
   DCHECK(bytes_ >= entry->second.size);
   --count_;
   bytes_ -= entry->second.size;
   object->second.entries.erase(entry);
   if (object->second.entries.empty()) objects_.erase(object);
   return true;
}

void RegionIndex::removeObject(const ObjectKey& key) {
   const auto object = objects_.find(key);
   if (object == objects_.end()) return;
   DCHECK(count_ >= object->second.entries.size());
   count_ -= object->second.entries.size();
   for (const auto& [offset, entry] : object->second.entries)
      bytes_ -= entry.size;
   objects_.erase(object);
}

void RegionIndex::clear() {
   objects_.clear();
   for (auto& references : segments_)
      references = {};
   count_ = bytes_ = 0;
}

} // namespace ouzel::io
