#include "common/hash/vector_hash.hpp"

#include "common/hash/hash_value.hpp"
#include "common/value/dispatch.hpp"

namespace ouzel {

namespace {

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

} // namespace ouzel
