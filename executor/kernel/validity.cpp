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

} // namespace ouzel::executor
