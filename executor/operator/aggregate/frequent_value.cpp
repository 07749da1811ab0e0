#include "executor/operator/aggregate/frequent_value.hpp"

#include <algorithm>
#include <cstring>

namespace ouzel::executor {

namespace {

/// Rows of a batch that are looked at for a value that two neighbours have.
constexpr uint32_t searchRows = 64;
/// A value is worth looking for if so much of the rows has it.
constexpr uint32_t worthDivisor = 4;

/// Whether the bytes of a value say all: long strings lie elsewhere.
bool isWhole(PhysicalType type, const void* value) {
   if (type == PhysicalType::Decimal) return false;
   return type != PhysicalType::String || static_cast<const StringView*>(value)->isInline();
}

} // namespace

/// Takes the value that two neighbouring rows have.
void FrequentValue::search(const Vector& values, const Selection& rows) {
   ++searches_;
   const uint32_t size = physicalSize(values.type);
   const auto* data = static_cast<const std::byte*>(values.data);
   for (uint32_t i = 1; i < std::min(rows.count(), searchRows); ++i) {
      const uint32_t before = rows.row(i - 1), row = rows.row(i);
      if (values.isNull(before) || values.isNull(row)) continue;
      const std::byte *a = data + size_t{values.positionOf(before)} * size,
                      *b = data + size_t{values.positionOf(row)} * size;
      if (std::memcmp(a, b, size) != 0 || !isWhole(values.type, a)) continue;
      std::memcpy(value_.data(), a, size);
      isKnown_ = true;
      return;
   }
}

template <typename Word, uint32_t words>
uint32_t FrequentValue::keepOthers(const Vector& values, const Selection& rows) {
   Word wanted[words];
   std::memcpy(wanted, value_.data(), sizeof wanted);
   const auto* data = static_cast<const Word*>(values.data);
   uint32_t kept = 0;
   RowIndex* const out = kept_.data();
   const auto run = [&](auto&& positionOf, auto&& isNull) {
      forEachRow(rows, [&](uint32_t row) {
         const Word* value = data + size_t{positionOf(row)} * words;
         bool differs = isNull(row);
         for (uint32_t w = 0; w < words; ++w)
            differs |= value[w] != wanted[w];
         out[kept] = static_cast<RowIndex>(row);
         kept += differs;
      });
   };
   const auto valid = [](uint32_t) { return false; };
   if (values.encoding == Encoding::Flat && !values.mayHaveNulls())
      run([](uint32_t row) { return row; }, valid);
   else
      run([&](uint32_t row) { return values.positionOf(row); }, [&](uint32_t row) { return values.isNull(row); });
   return kept;
}

Selection FrequentValue::drop(const Vector& values, const Selection& rows) {
   if (!isKnown_) {
      if (searches_ < searchesMax) search(values, rows);
      return rows; // with the value, if one was found
   }
   uint32_t kept = 0;
   switch (physicalSize(values.type)) {
   case 1: kept = keepOthers<uint8_t, 1>(values, rows); break;
   case 2: kept = keepOthers<uint16_t, 1>(values, rows); break;
   case 4: kept = keepOthers<uint32_t, 1>(values, rows); break;
   case 8: kept = keepOthers<uint64_t, 1>(values, rows); break;
   case bytesMax: kept = keepOthers<uint64_t, 2>(values, rows); break;
   default: return rows;
   }
   if (rows.count() - kept < rows.count() / worthDivisor) isKnown_ = false; // perhaps another value is frequent
   return kept == rows.count() ? rows : Selection::list(kept_.data(), kept);
}

} // namespace ouzel::executor
