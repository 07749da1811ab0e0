#include "executor/kernel/validity.hpp"

namespace ouzel::executor {

void fillValid(ValidityWord* validity, uint32_t rowCount) {
   std::memset(validity, 0xff, validityWords(rowCount) * sizeof(ValidityWord));
}

bool combineValidity(std::span<const Vector> vectors, Selection rows, uint32_t rowCount, ValidityWord* out) {
   bool any = false;
   const uint32_t words = validityWords(rowCount);
   for (const Vector& vector : vectors) {
      if (!vector.mayHaveNulls()) continue;
      if (!any) fillValid(out, rowCount);
      any = true;
      switch (vector.encoding) {
      case Encoding::Constant:
         if (!isValidBit(vector.validity, 0)) std::memset(out, 0, words * sizeof(ValidityWord));
         break;
      case Encoding::Flat:
         for (uint32_t i = 0; i < words; ++i)
            out[i] &= vector.validity[i];
         break;
      case Encoding::Dictionary:
         forEachRow(rows, [&](uint32_t row) {
            const ValidityWord valid = isValidBit(vector.validity, vector.codes[row]) ? 1 : 0;
            out[row >> 6] &= ~((valid ^ 1) << (row & 63));
         });
         break;
      }
   }
   return any;
}

bool allValid(const ValidityWord* validity, Selection rows) {
   if (validity == nullptr) return true;
   if (rows.isDense()) {
      const uint32_t whole = rows.count() / 64, rest = rows.count() % 64;
      for (uint32_t i = 0; i < whole; ++i)
         if (validity[i] != ~ValidityWord{0}) return false;
      return rest == 0 || (~validity[whole] & ((ValidityWord{1} << rest) - 1)) == 0;
   }
   ValidityWord all = 1;
   forEachRow(rows, [&](uint32_t row) { all &= validity[row >> 6] >> (row & 63); });
   return (all & 1) != 0;
}

} // namespace ouzel::executor
