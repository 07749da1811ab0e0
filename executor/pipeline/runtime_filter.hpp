#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "common/memory/large_memory.hpp"
#include "common/value/batch.hpp"

namespace ouzel::executor {

/// What a join knows of its build keys, for scans on the probe side: bounds, and an exact bitmap over a small range or
/// a blocked Bloom filter. Published once by the join before the probe pipeline starts; read-only afterwards.
/// Integer-like keys (Bool, I16, I32, I64) have bounds; all keys have a Bloom filter over their hash
/// (common/hash/vector_hash.hpp).
class RuntimeFilter {
public:
   bool isPublished() const { return published_; }
   bool isEmpty() const { return empty_; } ///< no build row: nothing matches
   bool hasBounds() const { return bounds_; }
   int64_t lower() const { return lower_; }
   int64_t upper() const { return upper_; }

   /// Write those of `rows` that may have a match to `out` (may be the list `rows` reads). NULLs never match.
   uint32_t filter(const Vector& keys, Selection rows, RowIndex* out) const;
   /// False when filter() would not drop anything worth the work.
   bool isSelective() const { return selective_; }

   // For the join's finish. One thread, in this order: bounds, then bits, then publish().
   void publishNothing();
   void setBounds(int64_t lower, int64_t upper);
   /// Use a bitmap of [lower, upper] when `rows` fill it well enough, else a Bloom filter for `rows` keys. Charged to
   /// memory.
   void allocate(uint64_t rows, Reservation& memory);
   /// No bits: some of the keys are not at hand any more.
   void useBoundsOnly();
   bool usesBitmap() const { return bitmapBits_ != 0; }
   /// Thread-safe: several workers may add at once.
   void addValue(int64_t value);
   void addHash(uint64_t hash);
   void publish(bool selective);

private:
   bool published_ = false, empty_ = false, bounds_ = false, selective_ = true;
   int64_t lower_ = 0, upper_ = -1;
   uint64_t bitmapBits_ = 0, bloomBlocks_ = 0;
   LargeMemory bits_;
};

} // namespace ouzel::executor
