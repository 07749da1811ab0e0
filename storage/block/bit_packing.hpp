#pragma once
#include <cstddef>
#include <cstdint>

#include "common/value/selection.hpp"

// Bit-packed unsigned numbers, laid out so that one AVX2 register unpacks a whole row of lanes without shuffles.
//
// A pack is 256 values of `bits` bits each: 32 * bits bytes. It is a matrix of 32-byte rows. Lanes are 16 bits wide for
// bits <= 16, 32 bits for bits <= 32, else 64. Value i lies in lane i % lanes, and is the (i / lanes)-th bit field of
// that lane's column of words (low bits first, running on into the next row).
//    lanes = 256 / laneBits; field k of a lane occupies bits [k * bits, (k + 1) * bits) of its words
// Unpacking writes values in order. (The idea of vertical layouts: Lemire & Boytsov 2012; FastLanes 2023.)

namespace ouzel::storage {

inline constexpr uint32_t packValues = 256;
constexpr uint32_t laneBytesOf(uint32_t bits) {
   return bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}
constexpr size_t packedBytes(uint32_t bits, uint32_t count) {
   return static_cast<size_t>((count + packValues - 1) / packValues) * 32 * bits;
}
constexpr uint32_t bitsFor(uint64_t range) {
   return range == 0 ? 0 : 64 - static_cast<uint32_t>(__builtin_clzll(range));
}

/// Pack `count` values, each below 2^bits, padding the last pack with zeros. `out` has packedBytes(bits, count) bytes,
/// 32-byte aligned or not.
void packBits(const uint64_t* values, uint32_t count, uint32_t bits, char* out);

/// Unpack `packs` whole packs to lanes of laneBytesOf(bits) bytes each. REQUIRES: bits 1..64, `out` 32-byte aligned
/// with room for packs * 256 lanes.
void unpackLanes(const char* in, uint32_t packs, uint32_t bits, void* out);

/// out[i] = reference + packed[i] * factor, for `count` values, in the arithmetic of T (wrapping).
/// T: uint8_t, int16_t, int32_t, int64_t. `out` has room for count rounded up to whole packs. 32-byte aligned.
template <typename T>
void unpackInts(const char* in, uint32_t count, uint32_t bits, int64_t reference, uint64_t factor, T* out);

/// out[i] = reference + packed[i] * factor for the selected i, one by one; as unpackInts(), and T may also be
/// uint16_t or int128.
template <typename T>
void unpackIntsAt(const char* in, const Selection& rows, uint32_t bits, int64_t reference, uint64_t factor, T* out);

/// Set bit i of `mask` where lower <= packed[i] <= upper, and clear it elsewhere; whole packs, 4 words of 64 bits each.
void compareRange(const char* in, uint32_t packs, uint32_t bits, uint64_t lower, uint64_t upper, uint64_t* mask);

/// Write the positions of set bits among the `count` bits from `first` on, relative to `first`, to `out`; return their
/// number. `out` has room for 8 more.
uint32_t maskToRows(const uint64_t* mask, uint32_t first, uint32_t count, RowIndex* out);

} // namespace ouzel::storage
