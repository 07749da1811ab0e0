#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

// The one 64-bit hash of the engine. Computed once per key and carried with the row:
//   63..56 level-1 partition   55..48 level-2 partition   47..30 slot of the thread-local aggregation table
//   15..0 salt, stored beside 48-bit pointers. The slot of a global table is a prefix: hash >> (64 - log2 slots).
// Values that are equal in an SQL operator family hash equal: integers of every width hash as int64; numerics of any
// representation hash as their canonical Decimal bytes' value; -0 as 0; bpchar without trailing blanks; intervals by
// span.

namespace ouzel {

inline constexpr uint64_t hashOfNull = 0x9ae16a3b2f90404fULL;

/// 64x64 -> 128 multiply, folded: every output bit depends on every input bit.
inline uint64_t foldMultiply(uint64_t a, uint64_t b) {
   const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
   return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hashU64(uint64_t value) {
   return foldMultiply(foldMultiply(value ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL) ^ value,
                       0xa0761d6478bd642fULL);
}
inline uint64_t hashI64(int64_t value) {
   return hashU64(static_cast<uint64_t>(value));
}
inline uint64_t hashCombine(uint64_t seed, uint64_t hash) {
   return foldMultiply(seed ^ 0xa0761d6478bd642fULL, hash ^ 0xe7037ed1a0b428dbULL);
}
uint64_t hashBytes(const void* data, size_t size);
inline uint64_t hashBytes(std::string_view text) {
   return hashBytes(text.data(), text.size());
}

inline uint16_t hashSalt(uint64_t hash) {
   return static_cast<uint16_t>(hash);
}

} // namespace ouzel
