#include "executor/materialize/key_hash.hpp"

#include <cmath>
#include <cstring>

#include "common/hash/hash.hpp"
#include "common/type/decimal.hpp"

namespace ouzel::executor {

namespace {

uint64_t hashWide(int128 value) {
   const auto bits = static_cast<uint128>(value);
   // Wide values that fit 64 bits are the rule: sums and scaled numerics.
   return hashU64(static_cast<uint64_t>(bits)) ^ (static_cast<uint64_t>(bits >> 64) * 0x9e3779b97f4a7c15ULL);
}

uint64_t hashDouble(double value) {
   if (value == 0) value = 0; // -0 equals 0
   if (std::isnan(value)) return hashU64(0x7ff8000000000000ULL);
   uint64_t bits;
   std::memcpy(&bits, &value, 8);
   return hashU64(bits);
}

uint64_t hashString(const StringView& value) {
   if (!value.isInline()) return hashBytes(value.data(), value.size());
   uint64_t words[2];
   std::memcpy(words, &value, 16);
   words[0] &= ~(uint64_t{3} << 30);
   return hashCombine(foldMultiply(words[0] ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL), words[1]);
}

template <PhysicalType type>
uint64_t hashValue(const PhysicalValueType<type>& value) {
   if constexpr (type == PhysicalType::I128) {
      return hashWide(value);
   } else if constexpr (type == PhysicalType::F32 || type == PhysicalType::F64) {
      return hashDouble(value);
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

template <PhysicalType type, bool combine>
void hashTyped(const LiveColumn& column, uint32_t count, uint64_t* hashes) {
   const auto* data = static_cast<const PhysicalValueType<type>*>(column.data);
   const auto put = [hashes](uint32_t i, uint64_t hash) { hashes[i] = combine ? hashCombine(hashes[i], hash) : hash; };
   if (column.positions == zeroPositions.data()) {
      const uint64_t hash = isValidBit(column.validity, 0) ? hashValue<type>(data[0]) : hashOfNull;
      for (uint32_t i = 0; i < count; ++i)
         put(i, hash);
   } else if (column.validity != nullptr) {
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t position = column.position(i);
         put(i, isValidBit(column.validity, position) ? hashValue<type>(data[position]) : hashOfNull);
      }
   } else if (column.positions == nullptr) {
      for (uint32_t i = 0; i < count; ++i)
         put(i, hashValue<type>(data[i]));
   } else {
      for (uint32_t i = 0; i < count; ++i)
         put(i, hashValue<type>(data[column.positions[i]]));
   }
}

template <bool combine>
void hashAny(const LiveColumn& column, uint32_t count, uint64_t* hashes) {
   switch (column.type) {
   case PhysicalType::Bool:
      return hashTyped<PhysicalType::Bool, combine>(column, count, hashes);
   case PhysicalType::I16:
      return hashTyped<PhysicalType::I16, combine>(column, count, hashes);
   case PhysicalType::I32:
      return hashTyped<PhysicalType::I32, combine>(column, count, hashes);
   case PhysicalType::I64:
      return hashTyped<PhysicalType::I64, combine>(column, count, hashes);
   case PhysicalType::I128:
      return hashTyped<PhysicalType::I128, combine>(column, count, hashes);
   case PhysicalType::F32:
      return hashTyped<PhysicalType::F32, combine>(column, count, hashes);
   case PhysicalType::F64:
      return hashTyped<PhysicalType::F64, combine>(column, count, hashes);
   case PhysicalType::Interval:
      return hashTyped<PhysicalType::Interval, combine>(column, count, hashes);
   case PhysicalType::Decimal:
      return hashTyped<PhysicalType::Decimal, combine>(column, count, hashes);
   case PhysicalType::String:
      return hashTyped<PhysicalType::String, combine>(column, count, hashes);
   }
}

} // namespace

void hashColumn(const LiveColumn& column, uint32_t count, bool combine, uint64_t* hashes) {
   if (combine) {
      hashAny<true>(column, count, hashes);
   } else {
      hashAny<false>(column, count, hashes);
   }
}

void hashKeys(const LiveColumn* columns, uint32_t columnCount, uint32_t count, bool zeroHashes, uint64_t* hashes) {
   if (columnCount == 0 || zeroHashes) {
      std::memset(hashes, 0, count * sizeof(uint64_t));
      return;
   }
   for (uint32_t c = 0; c < columnCount; ++c)
      hashColumn(columns[c], count, c > 0, hashes);
}

} // namespace ouzel::executor
