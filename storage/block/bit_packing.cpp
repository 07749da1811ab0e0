#include "storage/block/bit_packing.hpp"

#include <array>
#include <cstring>
#include <immintrin.h>
#include <utility>

#include "common/error/check.hpp"
#include "common/value/physical_type.hpp"

namespace ouzel::storage {

namespace {

template <typename Lane>
struct LaneVector {
   using type __attribute__((vector_size(32))) = Lane;
};
template <typename Lane>
using Row = typename LaneVector<Lane>::type;

template <typename Lane>
inline Row<Lane> loadRow(const char* at) {
   Row<Lane> row;
   std::memcpy(&row, at, 32);
   return row;
}

template <typename Lane>
constexpr uint32_t laneBits = sizeof(Lane) * 8;
template <typename Lane>
constexpr uint32_t laneCount = 256 / laneBits<Lane>;

// Field k of all lanes. All arguments but the data are compile-time constants.
template <typename Lane, uint32_t bits, uint32_t k>
inline Row<Lane> field(const char* in) {
   constexpr uint32_t start = k * bits, word = start / laneBits<Lane>, shift = start % laneBits<Lane>;
   Row<Lane> value = loadRow<Lane>(in + word * 32) >> shift;
   if constexpr (shift + bits > laneBits<Lane>)
      value |= loadRow<Lane>(in + (word + 1) * 32) << (laneBits<Lane> - shift);
   if constexpr (bits < laneBits<Lane>) value &= Row<Lane>{} + static_cast<Lane>((Lane{1} << bits) - 1);
   return value;
}

template <typename Lane, uint32_t bits>
void unpackPacks(const char* in, uint32_t packs, void* out) {
   auto* target = static_cast<char*>(out);
   for (uint32_t p = 0; p < packs; ++p, in += 32 * bits, target += 256 * sizeof(Lane)) {
      [&]<uint32_t... k>(std::integer_sequence<uint32_t, k...>) {
         ((*reinterpret_cast<Row<Lane>*>(target + k * 32) = field<Lane, bits, k>(in)), ...);
      }
      (std::make_integer_sequence<uint32_t, laneBits<Lane>>());
   }
}

// One bit for each value, in order: whether the value lies in [lower, upper].
template <typename Lane>
inline uint64_t rowMask(Row<Lane> value, Row<Lane> lower, Row<Lane> upper) {
   const auto inside = (value >= lower) & (value <= upper);
   const auto bytes = reinterpret_cast<__m256i>(inside);
   if constexpr (sizeof(Lane) == 8) {
      return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(bytes)));
   } else if constexpr (sizeof(Lane) == 4) {
      return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(bytes)));
   } else {
      const __m128i narrow = _mm_packs_epi16(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
      return static_cast<uint32_t>(_mm_movemask_epi8(narrow));
   }
}

template <typename Lane, uint32_t bits>
void comparePacks(const char* in, uint32_t packs, uint64_t lower, uint64_t upper, uint64_t* mask) {
   const Row<Lane> low = Row<Lane>{} + static_cast<Lane>(lower), high = Row<Lane>{} + static_cast<Lane>(upper);
   constexpr uint32_t perWord = 64 / laneCount<Lane>;
   for (uint32_t p = 0; p < packs; ++p, in += 32 * bits, mask += 4) {
      mask[0] = mask[1] = mask[2] = mask[3] = 0;
      [&]<uint32_t... k>(std::integer_sequence<uint32_t, k...>) {
         ((mask[k / perWord] |= rowMask<Lane>(field<Lane, bits, k>(in), low, high) << (k % perWord * laneCount<Lane>)),
          ...);
      }
      (std::make_integer_sequence<uint32_t, laneBits<Lane>>());
   }
}

using UnpackFunction = void (*)(const char*, uint32_t, void*);
using CompareFunction = void (*)(const char*, uint32_t, uint64_t, uint64_t, uint64_t*);

template <uint32_t bits>
using LaneOf = std::conditional_t<bits <= 16, uint16_t, std::conditional_t<bits <= 32, uint32_t, uint64_t>>;

template <uint32_t... bits>
constexpr std::array<UnpackFunction, 65> unpackTable(std::integer_sequence<uint32_t, bits...>) {
   return {nullptr, &unpackPacks<LaneOf<bits + 1>, bits + 1>...};
}
template <uint32_t... bits>
constexpr std::array<CompareFunction, 65> compareTable(std::integer_sequence<uint32_t, bits...>) {
   return {nullptr, &comparePacks<LaneOf<bits + 1>, bits + 1>...};
}
constexpr auto unpackFunctions = unpackTable(std::make_integer_sequence<uint32_t, 64>());
constexpr auto compareFunctions = compareTable(std::make_integer_sequence<uint32_t, 64>());

template <typename Lane>
void packLanes(const uint64_t* values, uint32_t count, uint32_t bits, char* out) {
   constexpr uint32_t lanes = laneCount<Lane>;
   for (uint32_t first = 0; first < count; first += packValues, out += 32 * bits) {
      alignas(32) Lane pack[packValues] = {};
      const uint32_t here = count - first < packValues ? count - first : packValues;
      for (uint32_t i = 0; i < here; ++i)
         pack[i] = static_cast<Lane>(values[first + i]);
      std::memset(out, 0, 32 * bits);
      for (uint32_t k = 0; k < laneBits<Lane>; ++k) {
         const uint32_t start = k * bits, word = start / laneBits<Lane>, shift = start % laneBits<Lane>;
         const Row<Lane> value = loadRow<Lane>(reinterpret_cast<const char*>(pack + k * lanes));
         Row<Lane> row = loadRow<Lane>(out + word * 32) | (value << shift);
         std::memcpy(out + word * 32, &row, 32);
         if (shift + bits > laneBits<Lane>) {
            row = value >> (laneBits<Lane> - shift);
            std::memcpy(out + (word + 1) * 32, &row, 32);
         }
      }
   }
}

template <typename Lane>
inline uint64_t oneOf(const char* in, uint32_t bits, uint32_t index) {
   constexpr uint32_t lanes = laneCount<Lane>;
   in += static_cast<size_t>(index / packValues) * 32 * bits;
   index %= packValues;
   const uint32_t start = index / lanes * bits, lane = index % lanes;
   const uint32_t word = start / laneBits<Lane>, shift = start % laneBits<Lane>;
   Lane low, high = 0;
   std::memcpy(&low, in + word * 32 + lane * sizeof(Lane), sizeof(Lane));
   if constexpr (sizeof(Lane) < sizeof(uint64_t)) {
      // Without a branch, since which fields run on is hard to foresee. The last word of a pack has none.
      const uint32_t next = word + 1 < bits ? word + 1 : word;
      std::memcpy(&high, in + next * 32 + lane * sizeof(Lane), sizeof(Lane));
      const uint64_t both = uint64_t{low} | uint64_t{high} << laneBits<Lane>;
      return both >> shift & ((uint64_t{1} << bits) - 1);
   }
   auto value = static_cast<Lane>(low >> shift);
   if (shift + bits > laneBits<Lane>) {
      std::memcpy(&high, in + (word + 1) * 32 + lane * sizeof(Lane), sizeof(Lane));
      value = static_cast<Lane>(value | static_cast<Lane>(high << (laneBits<Lane> - shift)));
   }
   return bits == laneBits<Lane> ? value : value & ((uint64_t{1} << bits) - 1);
}

template <typename Lane, typename T>
void widen(const Lane* lanes, uint32_t count, int64_t reference, uint64_t factor, T* out) {
   // Unsigned arithmetic of T's width wraps like T, and needs no wider registers.
   using U = std::make_unsigned_t<T>;
   const U base = static_cast<U>(static_cast<uint64_t>(reference)), scale = static_cast<U>(factor);
   if (factor == 1) {
      for (uint32_t i = 0; i < count; ++i)
         out[i] = static_cast<T>(static_cast<U>(base + static_cast<U>(lanes[i])));
   } else if (sizeof(Lane) <= 4 && factor <= UINT32_MAX) { // one 32x32->64 multiply
      for (uint32_t i = 0; i < count; ++i)
         out[i] = static_cast<T>(static_cast<U>(
             base +
             static_cast<U>(static_cast<uint64_t>(static_cast<uint32_t>(lanes[i])) * static_cast<uint32_t>(factor))));
   } else {
      for (uint32_t i = 0; i < count; ++i)
         out[i] = static_cast<T>(static_cast<U>(base + static_cast<U>(static_cast<U>(lanes[i]) * scale)));
   }
}

// For each byte value the positions of its set bits.
struct BitPositions {
   alignas(16) uint16_t rows[256][8];
};
constexpr BitPositions makeBitPositions() {
   BitPositions table{};
   for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t n = 0;
      for (uint32_t bit = 0; bit < 8; ++bit)
         if (byte >> bit & 1) table.rows[byte][n++] = static_cast<uint16_t>(bit);
   }
   return table;
}
constexpr BitPositions bitPositions = makeBitPositions();

} // namespace

void packBits(const uint64_t* values, uint32_t count, uint32_t bits, char* out) {
   if (bits == 0) return;
   switch (laneBytesOf(bits)) {
   case 2: return packLanes<uint16_t>(values, count, bits, out);
   case 4: return packLanes<uint32_t>(values, count, bits, out);
   default: return packLanes<uint64_t>(values, count, bits, out);
   }
}

void unpackLanes(const char* in, uint32_t packs, uint32_t bits, void* out) {
   DCHECK(bits >= 1 && bits <= 64);
   unpackFunctions[bits](in, packs, out);
}

template <typename T>
void unpackInts(const char* in, uint32_t count, uint32_t bits, int64_t reference, uint64_t factor, T* out) {
   if (bits == 0) {
      for (uint32_t i = 0; i < count; ++i)
         out[i] = static_cast<T>(reference);
      return;
   }
   // Four packs at a time: the unpacked lanes stay in the L1 cache until they are widened.
   constexpr uint32_t step = 4 * packValues;
   alignas(32) char lanes[step * 8];
   for (uint32_t first = 0; first < count; first += step) {
      const uint32_t here = count - first < step ? count - first : step;
      unpackFunctions[bits](in + packedBytes(bits, first), (here + packValues - 1) / packValues, lanes);
      switch (laneBytesOf(bits)) {
      case 2: widen(reinterpret_cast<const uint16_t*>(lanes), here, reference, factor, out + first); break;
      case 4: widen(reinterpret_cast<const uint32_t*>(lanes), here, reference, factor, out + first); break;
      default: widen(reinterpret_cast<const uint64_t*>(lanes), here, reference, factor, out + first); break;
      }
   }
}
template <typename T>
void unpackIntsAt(const char* in, const Selection& rows, uint32_t bits, int64_t reference, uint64_t factor, T* out) {
   const auto run = [&](auto&& valueAt) {
      forEachRow(rows, [&](uint32_t row) {
         out[row] = static_cast<T>(static_cast<int64_t>(static_cast<uint64_t>(reference) + valueAt(row) * factor));
      });
   };
   if (bits == 0) return run([](uint32_t) { return uint64_t{0}; });
   switch (laneBytesOf(bits)) {
   case 2: return run([&](uint32_t row) { return oneOf<uint16_t>(in, bits, row); });
   case 4: return run([&](uint32_t row) { return oneOf<uint32_t>(in, bits, row); });
   default: return run([&](uint32_t row) { return oneOf<uint64_t>(in, bits, row); });
   }
}
template void unpackIntsAt(const char*, const Selection&, uint32_t, int64_t, uint64_t, uint8_t*);
template void unpackIntsAt(const char*, const Selection&, uint32_t, int64_t, uint64_t, int16_t*);
template void unpackIntsAt(const char*, const Selection&, uint32_t, int64_t, uint64_t, uint16_t*);
template void unpackIntsAt(const char*, const Selection&, uint32_t, int64_t, uint64_t, int32_t*);
template void unpackIntsAt(const char*, const Selection&, uint32_t, int64_t, uint64_t, int64_t*);
template void unpackIntsAt(const char*, const Selection&, uint32_t, int64_t, uint64_t, int128*);

template void unpackInts(const char*, uint32_t, uint32_t, int64_t, uint64_t, uint8_t*);
template void unpackInts(const char*, uint32_t, uint32_t, int64_t, uint64_t, int16_t*);
template void unpackInts(const char*, uint32_t, uint32_t, int64_t, uint64_t, int32_t*);
template void unpackInts(const char*, uint32_t, uint32_t, int64_t, uint64_t, int64_t*);

void compareRange(const char* in, uint32_t packs, uint32_t bits, uint64_t lower, uint64_t upper, uint64_t* mask) {
   DCHECK(bits >= 1 && bits <= 64);
   compareFunctions[bits](in, packs, lower, upper, mask);
}

uint32_t maskToRows(const uint64_t* mask, uint32_t first, uint32_t count, RowIndex* out) {
   constexpr int fewBits = 6; // of 64: found one by one, instead of eight bytes by a table
   uint32_t kept = 0;
   for (uint32_t begin = 0; begin < count; begin += 64) {
      const uint32_t position = first + begin, shift = position & 63;
      uint64_t word = mask[position >> 6] >> shift;
      if (shift != 0 && position / 64 < (first + count - 1) / 64) word |= mask[(position >> 6) + 1] << (64 - shift);
      if (count - begin < 64) word &= (uint64_t{1} << (count - begin)) - 1;
      if (__builtin_popcountll(word) <= fewBits) {
         for (; word != 0; word &= word - 1)
            out[kept++] = static_cast<RowIndex>(begin + static_cast<uint32_t>(__builtin_ctzll(word)));
         continue;
      }
      for (uint32_t byte = 0; byte < 8; ++byte, word >>= 8) {
         const auto bits = static_cast<uint8_t>(word);
         const __m128i rows = _mm_add_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(bitPositions.rows[bits])),
                                            _mm_set1_epi16(static_cast<int16_t>(begin + byte * 8)));
         _mm_storeu_si128(reinterpret_cast<__m128i*>(out + kept), rows);
         kept += static_cast<uint32_t>(__builtin_popcount(bits));
      }
   }
   return kept;
}

} // namespace ouzel::storage
