#pragma once
#include <bit>
#include <cstring>

#include "common/hash/decimal_hash.hpp"
#include "common/hash/hash.hpp"
#include "common/value/vector.hpp"

// The one hash of a key value, for loops over vectors (common/hash/vector_hash.cpp) and over live rows
// (materialize/key_hash.cpp): joins, groups, runtime filters and constant sets may compare each other's hashes.
// hash.hpp says which values count as equal.

namespace ouzel {

inline uint64_t hashWide(int128 value) {
   // A value that fits 64 bits hashes as the int64 it is, without a branch.
   const auto low = static_cast<int64_t>(value), high = static_cast<int64_t>(value >> 64);
   return hashI64(low) ^ (static_cast<uint64_t>(high ^ (low >> 63)) * 0x9e3779b97f4a7c15ULL);
}

inline uint64_t hashDouble(double value) {
   // float4 = float8 is an operator of the family, so float hashes as the double it equals.
   double canonical = value + 0.0; // -0 + 0 = 0
   if (canonical != canonical) canonical = __builtin_nan("");
   return hashU64(std::bit_cast<uint64_t>(canonical));
}

inline uint64_t hashString(const StringView& value) {
   if (!value.isInline()) return hashBytes(value.data(), value.size());
   uint64_t words[2];
   std::memcpy(words, &value, 16);
   words[0] &= ~(uint64_t{3} << 30); // the storage class of the bytes
   return hashCombine(foldMultiply(words[0] ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL), words[1]);
}

template <PhysicalType type>
inline uint64_t hashOf(const PhysicalValueType<type>& value) {
   if constexpr (type == PhysicalType::I128) {
      return hashWide(value);
   } else if constexpr (type == PhysicalType::F32 || type == PhysicalType::F64) {
      return hashDouble(static_cast<double>(value));
   } else if constexpr (type == PhysicalType::Interval) {
      return hashWide(intervalSpan(value));
   } else if constexpr (type == PhysicalType::Decimal) {
      return decimal::hash(value);
   } else if constexpr (type == PhysicalType::String) {
      return hashString(value);
   } else {
      return hashI64(static_cast<int64_t>(value));
   }
}

} // namespace ouzel
