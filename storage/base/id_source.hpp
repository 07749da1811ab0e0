#pragma once
#include <algorithm>
#include <atomic>

#include "common/error/check.hpp"
#include "storage/base/table_place.hpp"

namespace ouzel::storage {

/// Gives out ids that a database uses once: OIDs, storage ids and segment ids. Each commit record and each manifest
/// notes the next id of each kind; a start continues from the highest ones noted. Lock-free.
class IdSource {
public:
   Oid newOid() { return oid_.fetch_add(1); }
   StorageId newStorage(uint32_t place) { return storageIdOf(place, storage_.fetch_add(1)); }
   SegmentId newSegment() {
      const SegmentId id = segment_.fetch_add(1);
      CHECK(id < SegmentId{1} << (64 - rowIdBits)); // else row ids of two segments would be the same
      return id;
   }

   /// Write the next ids into a CommitRecord or a Manifest.
   template <typename Durable>
   void noteIn(Durable& durable) const {
      durable.nextOid = oid_.load();
      durable.nextStorage = storage_.load();
      durable.nextSegment = segment_.load();
   }
   /// Never give out an id that was in use when this CommitRecord or Manifest was written. REQUIRES: a start; no thread
   /// asks for ids yet.
   template <typename Durable>
   void continueBehind(const Durable& durable) {
      oid_ = std::max(oid_.load(), durable.nextOid);
      storage_ = std::max(storage_.load(), durable.nextStorage);
      segment_ = std::max(segment_.load(), durable.nextSegment);
   }

private:
   std::atomic<Oid> oid_{16384};
   std::atomic<uint64_t> storage_{1};
   std::atomic<SegmentId> segment_{1};
};

} // namespace ouzel::storage
