#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "common/memory/large_memory.hpp"
#include "common/value/batch.hpp"
#include "executor/pipeline/hash_filter.hpp"

namespace ouzel::executor {

/// A summary of a join's build keys, for scans on the probe side: bounds, and either an exact bitmap over a small range
/// or a Bloom filter (HashFilter). Integer-like keys (Bool, I16, I32, I64) have bounds and may have a bitmap; keys of
/// every type may have a Bloom filter over their hash (common/hash/vector_hash.hpp).
///
/// The join publishes the filter once, before the probe pipeline starts; read-only afterwards.
class RuntimeFilter {
public:
   bool isPublished() const { return published_; }
   bool isEmpty() const { return empty_; } ///< no build row: nothing matches
   bool hasBounds() const { return bounds_; }
   int64_t lower() const { return lower_; }
   int64_t upper() const { return upper_; }

   /// Write those of `rows` that may have a match to `out` (may be the list `rows` reads). NULLs never match.
   uint32_t filter(const Vector& keys, Selection rows, RowIndex* out) const;
   /// False if filter() would drop so few rows that it does not pay.
   bool isSelective() const { return selective_; }

   // Called while the join finishes, in this order: setBounds(), then allocate() and the keys, or share(), then
   // publish(). One thread except for addValue() and addHash().
   void publishNothing();
   void setBounds(int64_t lower, int64_t upper);
   /// Make a bitmap of [lower, upper] when `rows` keys fill it well enough, else a Bloom filter for `rows` keys. The
   /// bits are charged to `memory`. With too many keys for either there are no bits.
   void allocate(uint64_t rows, Reservation& memory);
   /// Instead of allocate(): `hashes` has the keys' hashes, or will have them before publish(). Null: bounds only.
   void share(std::shared_ptr<HashFilter> hashes);
   /// After the last filter(): free the bits; bounds stay.
   void releaseBits() { share(nullptr); }
   bool usesBitmap() const { return bitmapBits_ != 0; }
   /// Thread-safe, as addHash(): several workers may add at once.
   void addValue(int64_t value);
   void addHash(uint64_t hash);
   void publish(bool selective);

private:
   bool published_ = false, empty_ = false, bounds_ = false, selective_ = true;
   int64_t lower_ = 0, upper_ = -1;
   uint64_t bitmapBits_ = 0;
   LargeMemory bitmap_;
   std::shared_ptr<HashFilter> hashes_; ///< null: none
};

} // namespace ouzel::executor
