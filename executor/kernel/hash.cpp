#include "executor/kernel/hash.hpp"

#include <bit>

#include "common/hash/hash.hpp"
#include "common/type/decimal.hpp"
#include "executor/kernel/dispatch.hpp"

namespace ouzel::executor {

namespace {

uint64_t hashI128(int128 value) {
   if (value == static_cast<int64_t>(value)) return hashI64(static_cast<int64_t>(value));
   return hashCombine(hashI64(static_cast<int64_t>(value)), hashI64(static_cast<int64_t>(value >> 64)));
}

template <PhysicalType type>
inline uint64_t hashOf(const PhysicalValueType<type>& value) {
   if constexpr (type == PhysicalType::F32 || type == PhysicalType::F64) {
      // float4 = float8 is an operator of the family, so float hashes as the double it equals.
      double canonical = static_cast<double>(value) + 0.0; // -0 + 0 = 0
      if (canonical != canonical) canonical = __builtin_nan("");
      return hashU64(std::bit_cast<uint64_t>(canonical));
   } else if constexpr (type == PhysicalType::I128) {
      return hashI128(value);
   } else if constexpr (type == PhysicalType::Interval) {
      return hashI128(intervalSpan(value));
   } else if constexpr (type == PhysicalType::Decimal) {
      return decimal::hash(value);
   } else if constexpr (type == PhysicalType::String) {
      return hashBytes(value.view());
   } else {
      return hashI64(static_cast<int64_t>(value));
   }
}

struct Store {
   static void put(uint64_t& target, uint64_t hash) { target = hash; }
};
struct Combine {
   static void put(uint64_t& target, uint64_t hash) { target = hashCombine(target, hash); }
};

template <PhysicalType type, typename Mode>
void hashColumn(const Vector& vector, Selection rows, uint64_t* __restrict hashes) {
   using T = PhysicalValueType<type>;
   const T* values = vector.values<T>();
   const uint32_t count = rows.count();
   if (vector.encoding == Encoding::Constant) {
      const uint64_t hash = isValidBit(vector.validity, 0) ? hashOf<type>(values[0]) : hashOfNull;
      for (uint32_t i = 0; i < count; ++i)
         Mode::put(hashes[i], hash);
   } else if (vector.mayHaveNulls()) {
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t position = vector.positionOf(rows.row(i));
         Mode::put(hashes[i], isValidBit(vector.validity, position) ? hashOf<type>(values[position]) : hashOfNull);
      }
   } else if (vector.encoding == Encoding::Dictionary) {
      for (uint32_t i = 0; i < count; ++i)
         Mode::put(hashes[i], hashOf<type>(values[vector.codes[rows.row(i)]]));
   } else if (rows.isDense()) {
      for (uint32_t i = 0; i < count; ++i)
         Mode::put(hashes[i], hashOf<type>(values[i]));
   } else {
      const RowIndex* list = rows.rows();
      for (uint32_t i = 0; i < count; ++i)
         Mode::put(hashes[i], hashOf<type>(values[list[i]]));
   }
}

} // namespace

void hashVector(const Vector& vector, Selection rows, uint64_t* hashes) {
   dispatchPhysical(vector.type, [&](auto tag) { hashColumn<decltype(tag)::type, Store>(vector, rows, hashes); });
}

void hashCombineVector(const Vector& vector, Selection rows, uint64_t* hashes) {
   dispatchPhysical(vector.type, [&](auto tag) { hashColumn<decltype(tag)::type, Combine>(vector, rows, hashes); });
}

uint64_t hashValue(PhysicalType type, const void* value) {
   uint64_t hash = 0;
   dispatchPhysical(type, [&](auto tag) {
      hash = hashOf<decltype(tag)::type>(*static_cast<const typename decltype(tag)::Value*>(value));
   });
   return hash;
}

} // namespace ouzel::executor
