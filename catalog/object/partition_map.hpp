#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalog/object/partition.hpp"
#include "common/value/value.hpp"

// Which partition of one partitioned table a row belongs to, and which partitions may have rows that satisfy
// conditions. The keys of ranges are tuples as bytes: per column 0 for MINVALUE, 1 and the order key of a value, 2 for
// MAXVALUE.

namespace ouzel::catalog {

/// What a predicate says of one column of the partition key.
struct PartitionCondition {
   bool isNull = false;                       ///< it is NULL
   std::optional<std::vector<Value>> equal{}; ///< it is one of these, none of which is NULL
   std::optional<Value> lower{}, upper{};
   bool excludesLower = false, excludesUpper = false;

   bool isAnything() const { return !isNull && !equal && !lower && !upper; }
   bool isNotNull() const { return equal || lower || upper; }
};

/// Immutable, for any thread.
class PartitionMap {
public:
   static constexpr int none = -1;

   /// `types`: of the key's columns. `bounds`: of the partitions, whose numbers are the indexes in it.
   PartitionMap(const PartitionKey& key, std::vector<SqlType> types, std::span<const PartitionBound* const> bounds);

   PartitionStrategy strategy() const { return strategy_; }
   const std::vector<SqlType>& types() const { return types_; }
   /// The partition of a row with these values of the key's columns; none: there is none for it.
   int find(std::span<const Value> values) const;
   /// The default partition, or none.
   int defaultPartition() const { return default_; }
   /// Partitions in the order of their bounds.
   std::vector<uint32_t> inOrder() const;
   /// A partition that takes rows which a new one with this bound would take, too; none: there is none. The default
   /// partition counts only if the new one is a default one. REQUIRES: the bound is not empty.
   int overlapping(const PartitionBound& bound) const;
   /// Hash partitions: the partition whose modulus is the largest below or at `modulus`, and the smallest above it.
   std::pair<int, int> neighbours(int32_t modulus) const;
   int32_t modulusOf(uint32_t partition) const { return moduli_[partition].first; }
   /// Sets `kept[partition]` for the partitions that may have rows which satisfy all conditions, one per column.
   void choose(std::span<const PartitionCondition> conditions, std::vector<bool>& kept) const;

private:
   struct Range {
      std::string lower, upper;
      uint32_t partition;
   };
   std::string keyOf(size_t column, const Value& value) const;
   void chooseList(const PartitionCondition& condition, std::vector<bool>& kept) const;
   void chooseRange(std::span<const PartitionCondition> conditions, std::vector<bool>& kept) const;
   void chooseHash(std::span<const PartitionCondition> conditions, std::vector<bool>& kept) const;
   void keepRegion(const std::string& lower, const std::string& upper, bool hasDefault, std::vector<bool>& kept) const;

   PartitionStrategy strategy_;
   std::vector<SqlType> types_;
   size_t count_;
   int default_ = none, null_ = none;                     ///< null_: of list partitions
   std::vector<std::pair<std::string, uint32_t>> values_; ///< list: sorted
   /// The same ranges as numbers, sorted, if the key is one integer: bounds are inclusive.
   struct IntegerRange {
      int64_t lower, upper;
      uint32_t partition;
   };
   std::vector<IntegerRange> integers_;
   std::vector<Range> ranges_;                       ///< sorted
   std::vector<std::pair<int32_t, int32_t>> moduli_; ///< hash: modulus and remainder by partition
   std::vector<int> byRemainder_;                    ///< hash: partition by remainder of the largest modulus
};

/// A bound's tuple as bytes.
std::string tupleKey(std::span<const PartitionDatum> data);

} // namespace ouzel::catalog
