#include "executor/kernel/select.hpp"

#include <array>
#include <immintrin.h>

namespace ouzel::executor {

namespace {

/// For each 8-bit mask the positions of its set bits, as 16-bit numbers.
struct PositionTable {
   alignas(16) std::array<std::array<uint16_t, 8>, 256> positions{};
   constexpr PositionTable() {
      for (uint32_t mask = 0; mask < 256; ++mask) {
         uint32_t count = 0;
         for (uint16_t bit = 0; bit < 8; ++bit)
            if ((mask >> bit) & 1) positions[mask][count++] = bit;
      }
   }
};
constexpr PositionTable positionTable;

/// For each 8-bit mask the byte shuffle that moves the marked 16-bit lanes to the front.
struct ShuffleTable {
   alignas(16) std::array<std::array<uint8_t, 16>, 256> shuffles{};
   constexpr ShuffleTable() {
      for (uint32_t mask = 0; mask < 256; ++mask) {
         uint32_t count = 0;
         for (uint8_t bit = 0; bit < 8; ++bit) {
            if (((mask >> bit) & 1) == 0) continue;
            shuffles[mask][count++] = static_cast<uint8_t>(2 * bit);
            shuffles[mask][count++] = static_cast<uint8_t>(2 * bit + 1);
         }
      }
   }
};
constexpr ShuffleTable shuffleTable;

/// Eight flags (0 or 1 each, one per byte) as the bits of a byte.
inline uint32_t packFlags(const uint8_t* flags) {
   uint64_t bytes;
   std::memcpy(&bytes, flags, 8);
   return static_cast<uint32_t>(_pext_u64(bytes, 0x0101010101010101ULL));
}

inline uint32_t emitDense(uint32_t mask, uint32_t base, RowIndex* out) {
   const __m128i positions = _mm_load_si128(reinterpret_cast<const __m128i*>(positionTable.positions[mask].data()));
   const __m128i rows = _mm_add_epi16(positions, _mm_set1_epi16(static_cast<int16_t>(base)));
   _mm_storeu_si128(reinterpret_cast<__m128i*>(out), rows);
   return static_cast<uint32_t>(__builtin_popcount(mask));
}

uint32_t selectDenseFlags(const uint8_t* flags, const ValidityWord* validity, uint32_t count, RowIndex* out) {
   uint32_t kept = 0, row = 0;
   // Always stores eight lanes. Since kept <= row, the store stays within rows.count() entries.
   for (; row + 8 <= count; row += 8) {
      uint32_t mask = packFlags(flags + row);
      if (validity) mask &= static_cast<uint32_t>(validity[row >> 6] >> (row & 63)) & 0xff;
      kept += emitDense(mask, row, out + kept);
   }
   for (; row < count; ++row) {
      out[kept] = static_cast<RowIndex>(row);
      kept += flags[row] & (isValidBit(validity, row) ? 1u : 0u);
   }
   return kept;
}

uint32_t selectListFlags(const uint8_t* flags, const RowIndex* rows, uint32_t count, RowIndex* out) {
   uint32_t kept = 0, i = 0;
   for (; i + 8 <= count; i += 8) {
      const uint32_t mask = packFlags(flags + i);
      const __m128i group = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + i));
      const __m128i shuffle = _mm_load_si128(reinterpret_cast<const __m128i*>(shuffleTable.shuffles[mask].data()));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + kept), _mm_shuffle_epi8(group, shuffle));
      kept += static_cast<uint32_t>(__builtin_popcount(mask));
   }
   for (; i < count; ++i) {
      out[kept] = rows[i];
      kept += flags[i];
   }
   return kept;
}

/// The rows for which `test(row)` is true, without branches.
template <typename Test>
uint32_t selectWhere(Selection rows, RowIndex* out, Test test) {
   uint32_t kept = 0;
   forEachRow(rows, [&](uint32_t row) {
      out[kept] = static_cast<RowIndex>(row);
      kept += test(row) ? 1u : 0u;
   });
   return kept;
}

uint32_t selectAll(Selection rows, RowIndex* out) {
   return selectWhere(rows, out, [](uint32_t) { return true; });
}

/// Dense rows whose bit in `words` (inverted: clear) is set.
uint32_t selectDenseBits(const ValidityWord* words, ValidityWord invert, uint32_t count, RowIndex* out) {
   uint32_t kept = 0, row = 0;
   for (; row + 8 <= count; row += 8) {
      const uint32_t mask = static_cast<uint32_t>((words[row >> 6] ^ invert) >> (row & 63)) & 0xff;
      kept += emitDense(mask, row, out + kept);
   }
   for (; row < count; ++row) {
      out[kept] = static_cast<RowIndex>(row);
      kept += static_cast<uint32_t>((words[row >> 6] ^ invert) >> (row & 63)) & 1;
   }
   return kept;
}

uint32_t selectByValidity(const Vector& vector, Selection rows, bool wantNull, RowIndex* out) {
   if (!vector.mayHaveNulls()) return wantNull ? 0 : selectAll(rows, out);
   const ValidityWord* validity = vector.validity;
   switch (vector.encoding) {
   case Encoding::Constant: return isValidBit(validity, 0) == wantNull ? 0 : selectAll(rows, out);
   case Encoding::Flat:
      if (rows.isDense()) return selectDenseBits(validity, wantNull ? ~ValidityWord{0} : 0, rows.count(), out);
      return selectWhere(rows, out, [=](uint32_t row) { return isValidBit(validity, row) != wantNull; });
   case Encoding::Dictionary:
      return selectWhere(
          rows, out, [=, codes = vector.codes](uint32_t row) { return isValidBit(validity, codes[row]) != wantNull; });
   }
   return 0;
}

uint32_t selectByBoolean(const Vector& booleans, Selection rows, uint8_t wanted, RowIndex* out) {
   const uint8_t* values = booleans.values<uint8_t>();
   const ValidityWord* validity = booleans.validity;
   switch (booleans.encoding) {
   case Encoding::Constant: return values[0] == wanted && isValidBit(validity, 0) ? selectAll(rows, out) : 0;
   case Encoding::Flat:
      if (rows.isDense() && wanted == 1) return selectDenseFlags(values, validity, rows.count(), out);
      if (validity == nullptr) return selectWhere(rows, out, [=](uint32_t row) { return values[row] == wanted; });
      return selectWhere(rows, out, [=](uint32_t row) { return (values[row] == wanted) & isValidBit(validity, row); });
   case Encoding::Dictionary:
      return selectWhere(rows, out, [=, codes = booleans.codes](uint32_t row) {
         return (values[codes[row]] == wanted) & isValidBit(validity, codes[row]);
      });
   }
   return 0;
}

} // namespace

uint32_t selectFlagged(const uint8_t* flags, const ValidityWord* validity, Selection rows, RowIndex* out) {
   if (rows.isDense()) return selectDenseFlags(flags, validity, rows.count(), out);
   if (validity == nullptr) return selectListFlags(flags, rows.rows(), rows.count(), out);
   uint32_t kept = 0;
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const RowIndex row = rows.row(i);
      out[kept] = row;
      kept += flags[i] & (isValidBit(validity, row) ? 1u : 0u);
   }
   return kept;
}

uint32_t selectTrue(const Vector& booleans, Selection rows, RowIndex* out) {
   return selectByBoolean(booleans, rows, 1, out);
}

uint32_t selectFalse(const Vector& booleans, Selection rows, RowIndex* out) {
   return selectByBoolean(booleans, rows, 0, out);
}

uint32_t selectNull(const Vector& vector, Selection rows, RowIndex* out) {
   return selectByValidity(vector, rows, true, out);
}

uint32_t selectNotNull(const Vector& vector, Selection rows, RowIndex* out) {
   return selectByValidity(vector, rows, false, out);
}

uint32_t selectDifference(Selection rows, Selection minus, RowIndex* out) {
   uint32_t kept = 0, next = 0;
   const uint32_t minusCount = minus.count();
   forEachRow(rows, [&](uint32_t row) {
      const bool drop = next < minusCount && minus.row(next) == row;
      out[kept] = static_cast<RowIndex>(row);
      kept += drop ? 0u : 1u;
      next += drop ? 1u : 0u;
   });
   return kept;
}

} // namespace ouzel::executor
