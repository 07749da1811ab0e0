#include "executor/kernel/gather.hpp"

#include <cstring>

#include "common/value/dispatch.hpp"

namespace ouzel::executor {

namespace {

template <typename T>
void gatherValues(const Vector& vector, Selection rows, T* __restrict out) {
   const T* values = static_cast<const T*>(vector.data);
   const uint32_t count = rows.count();
   switch (vector.encoding) {
   case Encoding::Constant:
      for (uint32_t i = 0; i < count; ++i)
         out[i] = values[0];
      break;
   case Encoding::Flat:
      if (rows.isDense()) {
         std::memcpy(out, values, count * sizeof(T));
      } else {
         const RowIndex* list = rows.rows();
         for (uint32_t i = 0; i < count; ++i)
            out[i] = values[list[i]];
      }
      break;
   case Encoding::Dictionary:
      for (uint32_t i = 0; i < count; ++i)
         out[i] = values[vector.codes[rows.row(i)]];
      break;
   }
}

} // namespace

bool gatherDense(const Vector& vector, Selection rows, void* out, ValidityWord* validity) {
   dispatchSize(vector.type, [&](auto unit) {
      using T = decltype(unit);
      gatherValues(vector, rows, static_cast<T*>(out));
   });
   if (!vector.mayHaveNulls()) return false;
   const uint32_t count = rows.count();
   if (vector.encoding == Encoding::Flat && rows.isDense()) {
      std::memcpy(validity, vector.validity, validityWords(count) * sizeof(ValidityWord));
      return true;
   }
   std::memset(validity, 0, validityWords(count) * sizeof(ValidityWord));
   for (uint32_t i = 0; i < count; ++i) {
      const ValidityWord valid = isValidBit(vector.validity, vector.positionOf(rows.row(i))) ? 1 : 0;
      validity[i >> 6] |= valid << (i & 63);
   }
   return true;
}

void copyRows(const Vector& vector, Selection rows, void* out, ValidityWord* validity) {
   dispatchSize(vector.type, [&](auto unit) {
      using T = decltype(unit);
      const T* values = static_cast<const T*>(vector.data);
      T* target = static_cast<T*>(out);
      switch (vector.encoding) {
      case Encoding::Constant: forEachRow(rows, [=](uint32_t row) { target[row] = values[0]; }); break;
      case Encoding::Flat: forEachRow(rows, [=](uint32_t row) { target[row] = values[row]; }); break;
      case Encoding::Dictionary:
         forEachRow(rows, [=, codes = vector.codes](uint32_t row) { target[row] = values[codes[row]]; });
         break;
      }
   });
   if (validity == nullptr) return;
   if (!vector.mayHaveNulls()) {
      forEachRow(rows, [=](uint32_t row) { validity[row >> 6] |= ValidityWord{1} << (row & 63); });
   } else {
      forEachRow(rows, [&](uint32_t row) { setValidBit(validity, row, !vector.isNull(row)); });
   }
}

void copyStrings(StringView* values, const ValidityWord* validity, uint32_t count, Arena& arena,
                 StringView::Storage storage) {
   for (uint32_t i = 0; i < count; ++i) {
      if (!isValidBit(validity, i)) {
         values[i] = StringView();
      } else if (!values[i].isInline()) {
         values[i] = arena.copyString(values[i].view(), storage);
      }
   }
}

} // namespace ouzel::executor
