#pragma once
#include <cstddef>
#include <cstdint>

#include "common/error/check.hpp"
#include "common/value/physical_type.hpp"

namespace ouzel::optimizer {

/// A set of up to 128 relations of one join region, by their numbers.
class RelationSet {
public:
   static constexpr uint32_t capacity = 128;

   constexpr RelationSet() = default;
   static constexpr RelationSet single(uint32_t relation) {
      DCHECK(relation < capacity);
      return RelationSet(uint128{1} << relation);
   }
   /// Relations 0..relation.
   static constexpr RelationSet upTo(uint32_t relation) {
      return relation + 1 == capacity ? RelationSet(~uint128{0}) : RelationSet((uint128{1} << (relation + 1)) - 1);
   }

   constexpr bool isEmpty() const { return bits_ == 0; }
   constexpr bool contains(uint32_t relation) const { return (bits_ >> relation & 1) != 0; }
   constexpr bool isSubsetOf(RelationSet other) const { return (bits_ & ~other.bits_) == 0; }
   constexpr bool intersects(RelationSet other) const { return (bits_ & other.bits_) != 0; }
   constexpr RelationSet operator|(RelationSet other) const { return RelationSet(bits_ | other.bits_); }
   constexpr RelationSet operator&(RelationSet other) const { return RelationSet(bits_ & other.bits_); }
   constexpr RelationSet operator-(RelationSet other) const { return RelationSet(bits_ & ~other.bits_); }
   constexpr RelationSet& operator|=(RelationSet other) { return *this = *this | other; }
   constexpr bool operator==(const RelationSet&) const = default;

   /// REQUIRES: not empty.
   constexpr uint32_t smallest() const {
      DCHECK(!isEmpty());
      const auto low = static_cast<uint64_t>(bits_);
      return low ? static_cast<uint32_t>(__builtin_ctzll(low))
                 : 64 + static_cast<uint32_t>(__builtin_ctzll(static_cast<uint64_t>(bits_ >> 64)));
   }
   constexpr uint32_t largest() const {
      DCHECK(!isEmpty());
      const auto high = static_cast<uint64_t>(bits_ >> 64);
      return high ? 127 - static_cast<uint32_t>(__builtin_clzll(high))
                  : 63 - static_cast<uint32_t>(__builtin_clzll(static_cast<uint64_t>(bits_)));
   }
   constexpr uint32_t count() const {
      return static_cast<uint32_t>(__builtin_popcountll(static_cast<uint64_t>(bits_)) +
                                   __builtin_popcountll(static_cast<uint64_t>(bits_ >> 64)));
   }
   /// The subset of `all` that follows this one when the bits count up. The empty set follows `all`.
   constexpr RelationSet nextSubset(RelationSet all) const { return RelationSet((bits_ - all.bits_) & all.bits_); }

   uint64_t hash() const {
      return (static_cast<uint64_t>(bits_) * 0x9e3779b97f4a7c15ull) ^
             (static_cast<uint64_t>(bits_ >> 64) * 0xc2b2ae3d27d4eb4full);
   }

private:
   explicit constexpr RelationSet(uint128 bits) : bits_(bits) {}
   uint128 bits_ = 0;
};

struct RelationSetHash {
   size_t operator()(RelationSet set) const { return set.hash(); }
};

} // namespace ouzel::optimizer
