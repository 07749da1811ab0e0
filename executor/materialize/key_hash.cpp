#include "executor/materialize/key_hash.hpp"

#include <cstring>

#include "common/hash/hash_value.hpp"
#include "common/value/dispatch.hpp"

namespace ouzel::executor {

namespace {

template <PhysicalType type, bool combine>
void hashTyped(const LiveColumn& column, uint32_t count, uint64_t* hashes) {
   const auto* data = static_cast<const PhysicalValueType<type>*>(column.data);
   const auto put = [hashes](uint32_t i, uint64_t hash) { hashes[i] = combine ? hashCombine(hashes[i], hash) : hash; };
   if (column.positions == zeroPositions.data()) {
      const uint64_t hash = isValidBit(column.validity, 0) ? hashOf<type>(data[0]) : hashOfNull;
      for (uint32_t i = 0; i < count; ++i)
         put(i, hash);
   } else if (column.validity != nullptr) {
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t position = column.position(i);
         put(i, isValidBit(column.validity, position) ? hashOf<type>(data[position]) : hashOfNull);
      }
   } else if (column.positions == nullptr) {
      for (uint32_t i = 0; i < count; ++i)
         put(i, hashOf<type>(data[i]));
   } else {
      for (uint32_t i = 0; i < count; ++i)
         put(i, hashOf<type>(data[column.positions[i]]));
   }
}

template <PhysicalType type, bool mayHaveNulls, bool combine>
void hashColumnOfRows(const RowLayout& layout, uint32_t column, const std::byte* row, uint32_t count,
                      uint64_t* hashes) {
   const uint32_t offset = layout.offset(column), rowSize = layout.rowSize();
   for (uint32_t i = 0; i < count; ++i, row += rowSize) {
      PhysicalValueType<type> value;
      std::memcpy(static_cast<void*>(&value), row + offset, sizeof value); // 16-byte values are aligned to 8 only
      const uint64_t hash = mayHaveNulls && layout.isNull(row, column) ? hashOfNull : hashOf<type>(value);
      hashes[i] = combine ? hashCombine(hashes[i], hash) : hash;
   }
}

} // namespace

void hashColumn(const LiveColumn& column, uint32_t count, bool combine, uint64_t* hashes) {
   dispatchPhysical(column.type, [&](auto tag) {
      constexpr PhysicalType type = decltype(tag)::type;
      return combine ? hashTyped<type, true>(column, count, hashes) : hashTyped<type, false>(column, count, hashes);
   });
}

void hashKeys(const LiveColumn* columns, uint32_t columnCount, uint32_t count, bool zeroHashes, uint64_t* hashes) {
   if (columnCount == 0 || zeroHashes) {
      std::memset(hashes, 0, count * sizeof(uint64_t));
      return;
   }
   for (uint32_t c = 0; c < columnCount; ++c)
      hashColumn(columns[c], count, c > 0, hashes);
}

void hashRows(const RowLayout& layout, uint32_t columnCount, const std::byte* rows, uint32_t count, uint64_t* hashes) {
   for (uint32_t c = 0; c < columnCount; ++c)
      dispatchPhysical(layout.type(c), [&](auto tag) {
         constexpr PhysicalType type = decltype(tag)::type;
         const auto run = [&]<bool mayHaveNulls>(std::bool_constant<mayHaveNulls>) {
            return c > 0 ? hashColumnOfRows<type, mayHaveNulls, true>(layout, c, rows, count, hashes)
                         : hashColumnOfRows<type, mayHaveNulls, false>(layout, c, rows, count, hashes);
         };
         return layout.mayHaveNulls(c) ? run(std::true_type()) : run(std::false_type());
      });
}

} // namespace ouzel::executor
