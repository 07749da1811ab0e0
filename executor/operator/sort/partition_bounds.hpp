#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/memory/arena.hpp"
#include "executor/operator/sort/sort_key.hpp"

namespace ouzel::executor {

/// Which rows of a sort are wanted of each partition: the first `rows` by the keys after the partition's.
struct PartitionLimit {
   uint64_t rows = 0;          ///< 0: all rows are wanted
   uint32_t partitionKeys = 0; ///< the first so many keys
   bool withTies = false;      ///< also rows that are equal to the last wanted one
};

/// The partitions among the rows of one worker: how many rows each has, and the last key that is wanted of it. So a
/// worker keeps a few rows of each partition, not all, as in a top-N sort.
///
///    count() of each row --> isWorthDropping() --> partitionOf() of each row, keepFirst() of partitions
///
/// A partition whose key bytes do not tell it from others (a long text) is not bounded. Not thread-safe.
class PartitionBounds {
public:
   static constexpr uint32_t unbounded = UINT32_MAX;
   PartitionBounds(const SortKeyLayout& layout, const PartitionLimit& limit, Reservation& memory);

   /// False: the row is not wanted. True: it is counted.
   bool count(const std::byte* key);
   /// Whether so many rows can be dropped that looking for them pays.
   bool isWorthDropping() const { return excess_ >= excessMin && excess_ * 2 >= rows_; }
   /// The number of the key's partition, which has a row; or `unbounded`.
   uint32_t partitionOf(const std::byte* key) const;
   uint32_t partitionCount() const { return static_cast<uint32_t>(partitions_.size()); }
   /// The number of rows that are wanted if there are no ties.
   uint64_t rowsWanted() const { return limit_.rows; }
   bool keepsTies() const { return limit_.withTies; }
   /// Only `rows` rows of the partition are left, up to this key.
   void keepFirst(uint32_t partition, uint64_t rows, const std::byte* bound);
   /// Other rows are counted from now on. Bounds stay.
   void restart();

private:
   static constexpr uint64_t excessMin = 4096;
   /// With so many partitions and few rows to drop, counting is given up.
   static constexpr uint32_t partitionsMax = 1 << 16;
   struct Partition {
      const std::byte* key;             ///< its first bytes are the partition's
      const std::byte* bound = nullptr; ///< key of the last wanted row; null: not known
      uint64_t rows = 0;
      uint64_t allowed = 0; ///< more rows are in excess
   };
   uint64_t hash(const std::byte* key) const;
   bool isKnown(const std::byte* key) const;
   const std::byte* copy(const std::byte* key);
   size_t slotOf(const std::byte* key) const;
   void grow();
   void giveUp();

   const SortKeyLayout& layout_;
   const PartitionLimit limit_;
   uint32_t partitionEnd_ = 0; ///< bytes [0, partitionEnd_) of a key name its partition
   uint32_t orderEnd_ = 0;     ///< bytes [partitionEnd_, orderEnd_) order rows without looking at values
   bool isExact_ = true;       ///< rows with equal bytes are equal
   bool isGivenUp_ = false;
   Arena keys_;
   std::vector<Partition> partitions_;
   std::vector<uint32_t> slots_; ///< open addressing: number of a partition plus 1, or 0
   uint64_t rows_ = 0, excess_ = 0;
};

} // namespace ouzel::executor
