#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/hash/hash.hpp"

namespace ouzel {

/// Estimates the number of distinct 64-bit hashes seen, within about 3 %. 1,024 one-byte registers.
///
/// Hashes are mixed once more before use, so that callers pass the engine's hash unchanged although its prefix has
/// already chosen a partition. Merging is exact: the sketch of a union. One owner; the persisted form carries a
/// version.
class HyperLogLog {
public:
   static constexpr uint32_t registerBits = 10;
   static constexpr uint32_t registerCount = 1u << registerBits;

   void add(uint64_t hash) {
      const uint64_t mixed = hashU64(hash);
      const auto index = static_cast<uint32_t>(mixed >> (64 - registerBits));
      // The sentinel bit bounds the rank; it cannot exceed 64 - registerBits + 1.
      const uint64_t rest = (mixed << registerBits) | (uint64_t{1} << (registerBits - 1));
      const auto rank = static_cast<uint8_t>(__builtin_clzll(rest) + 1);
      if (rank > registers_[index]) registers_[index] = rank;
   }
   void merge(const HyperLogLog& other);
   double estimate() const;
   bool isEmpty() const;

   /// Persisted form: version byte, then the registers as they are or, when few are set, as (index, rank) triples.
   void serialize(std::string& out) const;
   /// Read one sketch from the front of `bytes` and advance it. False: malformed.
   [[nodiscard]] bool deserialize(std::string_view& bytes);

private:
   std::array<uint8_t, registerCount> registers_{};
};

} // namespace ouzel
