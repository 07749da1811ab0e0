#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/hash/decimal_hash.hpp"
#include "common/hash/hash.hpp"
#include "storage/block/chunk_encoder.hpp"

// Sketches of flat values that are not encoded (those of deltas). Hashes are those of the encoders, so that sketches of
// blocks and of deltas merge.

namespace ouzel::storage {

uint64_t sketchHash(double value) {
   uint64_t bits;
   value = value == 0 ? 0 : value;
   std::memcpy(&bits, &value, 8);
   return hashU64(bits);
}

uint64_t sketchHash(int128 value) {
   return hashCombine(hashU64(static_cast<uint64_t>(value >> 64)), static_cast<uint64_t>(value));
}

uint64_t sketchHash(const Interval& value) {
   return hashU64(static_cast<uint64_t>(intervalSpan(value)));
}

uint64_t sketchHash(const StringView& value) {
   if (!value.isInline()) return hashBytes(value.data(), value.size());
   uint64_t words[2];
   std::memcpy(words, &value, 16); // unused inline bytes are zero and inline strings have no storage class
   return foldMultiply(words[0] ^ 0x9e3779b97f4a7c15ULL, words[1] ^ 0xd6e8feb86659fd93ULL);
}

uint64_t sketchHash(PhysicalType type, const StringView& value) {
   return type == PhysicalType::Decimal ? decimal::hash(value) : sketchHash(value);
}

namespace {

template <typename T, typename KeyOf, typename HashOf>
void sketchAs(const ColumnSlice& slice, ColumnSketch& sketch, KeyOf keyOf, HashOf hashOf) {
   const T* values = slice.values<T>();
   for (uint32_t i = 0; i < slice.count; ++i) {
      if (!slice.isValid(i)) {
         ++sketch.nullCount;
         continue;
      }
      ++sketch.valueCount;
      sketch.zone.add(keyOf(values[i]));
      sketch.distinct.add(hashOf(values[i]));
   }
}

template <typename T>
void sketchInteger(const ColumnSlice& slice, ColumnSketch& sketch) {
   sketchAs<T>(
       slice, sketch, [](T v) { return static_cast<ZoneKey>(v); }, [](T v) { return hashI64(v); });
}

void sketchWide(const ColumnSlice& slice, ColumnSketch& sketch) {
   sketchAs<int128>(
       slice, sketch, [](int128 v) { return v; },
       // A chunk whose values all fit 64 bits is encoded, and hashed, as integers.
       [](int128 v) { return v == static_cast<int64_t>(v) ? hashI64(static_cast<int64_t>(v)) : sketchHash(v); });
}

} // namespace

void sketchSlice(const ColumnSlice& slice, ColumnSketch& sketch) {
   const uint64_t before = sketch.valueCount;
   switch (slice.type) {
   case PhysicalType::Bool: sketchInteger<uint8_t>(slice, sketch); break;
   case PhysicalType::I16: sketchInteger<int16_t>(slice, sketch); break;
   case PhysicalType::I32: sketchInteger<int32_t>(slice, sketch); break;
   case PhysicalType::I64: sketchInteger<int64_t>(slice, sketch); break;
   case PhysicalType::I128: sketchWide(slice, sketch); break;
   case PhysicalType::F32:
      sketchAs<float>(
          slice, sketch, [](float v) { return zoneKeyOfDouble(v); },
          [](float v) { return sketchHash(static_cast<double>(v)); });
      break;
   case PhysicalType::F64:
      sketchAs<double>(slice, sketch, zoneKeyOfDouble, [](double v) { return sketchHash(v); });
      break;
   case PhysicalType::Interval:
      sketchAs<Interval>(slice, sketch, intervalSpan, [](const Interval& v) { return sketchHash(v); });
      break;
   case PhysicalType::String:
   case PhysicalType::Decimal: {
      const auto* values = slice.values<StringView>();
      for (uint32_t i = 0; i < slice.count; ++i)
         if (slice.isValid(i)) sketch.valueBytes += values[i].size();
      const bool isDecimal = slice.type == PhysicalType::Decimal;
      sketchAs<StringView>(
          slice, sketch,
          [&](const StringView& v) { return isDecimal ? zoneKeyOfDecimal(v) : zoneKeyOfString(v.view()); },
          [&](const StringView& v) { return sketchHash(slice.type, v); });
      return;
   }
   }
   sketch.valueBytes += (sketch.valueCount - before) * physicalSize(slice.type);
}

} // namespace ouzel::storage
