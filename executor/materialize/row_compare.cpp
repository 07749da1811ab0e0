#include "executor/materialize/row_compare.hpp"

#include <cmath>

#include "common/number/decimal.hpp"

namespace ouzel::executor {

namespace {

/// Loops over rows, which lie anywhere in memory, ask for a row's string so many rows before they need it, and for the
/// row as many before that.
constexpr uint32_t prefetchDistance = 8;

template <typename T>
int compareFloats(T a, T b) {
   if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
   return a < b ? -1 : a > b ? 1 : 0;
}

/// Rows hold values at multiples of 8 at best, so wider types are loaded bytewise.
template <typename T>
T load(const void* at) {
   T value;
   std::memcpy(&value, at, sizeof(T));
   return value;
}

template <PhysicalType type>
int compareTyped(const void* a, const void* b) {
   using T = PhysicalValueType<type>;
   if constexpr (type == PhysicalType::F32 || type == PhysicalType::F64) {
      return compareFloats(load<T>(a), load<T>(b));
   } else if constexpr (type == PhysicalType::Interval) {
      const int128 x = intervalSpan(*static_cast<const T*>(a)), y = intervalSpan(*static_cast<const T*>(b));
      return x < y ? -1 : x > y ? 1 : 0;
   } else if constexpr (type == PhysicalType::Decimal) {
      return decimal::compare(*static_cast<const T*>(a), *static_cast<const T*>(b));
   } else if constexpr (type == PhysicalType::String) {
      return static_cast<const T*>(a)->compare(*static_cast<const T*>(b));
   } else {
      const T x = load<T>(a), y = load<T>(b);
      return x < y ? -1 : x > y ? 1 : 0;
   }
}

template <PhysicalType type>
bool equalTyped(const void* a, const void* b) {
   using T = PhysicalValueType<type>;
   if constexpr (type == PhysicalType::Decimal) {
      return decimal::equal(*static_cast<const T*>(a), *static_cast<const T*>(b));
   } else if constexpr (type == PhysicalType::String) {
      return *static_cast<const T*>(a) == *static_cast<const T*>(b);
   } else if constexpr (type == PhysicalType::F32 || type == PhysicalType::F64 || type == PhysicalType::Interval) {
      return compareTyped<type>(a, b) == 0;
   } else {
      return load<T>(a) == load<T>(b);
   }
}

template <PhysicalType type, bool checkNulls>
uint32_t keepEqualTyped(const RowLayout& layout, uint32_t column, const LiveColumn& source,
                        const std::byte* const* rows, bool nullsEqual, RowIndex* candidates, uint32_t count,
                        RowIndex* rejected, uint32_t& rejectedCount) {
   using T = PhysicalValueType<type>;
   const uint32_t offset = layout.offset(column);
   const T* data = static_cast<const T*>(source.data);
   const uint16_t* positions = source.positions;
   uint32_t kept = 0, out = rejectedCount;
   for (uint32_t k = 0; k < count; ++k) {
      if (k + 2 * prefetchDistance < count) __builtin_prefetch(rows[candidates[k + 2 * prefetchDistance]] + offset);
      if constexpr (type == PhysicalType::String)
         if (k + prefetchDistance < count) {
            const auto* stored = reinterpret_cast<const StringView*>(rows[candidates[k + prefetchDistance]] + offset);
            if (!stored->isInline()) __builtin_prefetch(stored->data());
         }
      const RowIndex live = candidates[k];
      const uint32_t position = positions ? positions[live] : live;
      bool equal;
      if constexpr (checkNulls) {
         const bool sourceNull = !isValidBit(source.validity, position), rowNull = layout.isNull(rows[live], column);
         equal = sourceNull || rowNull ? nullsEqual && sourceNull && rowNull
                                       : equalTyped<type>(data + position, rows[live] + offset);
      } else {
         equal = equalTyped<type>(data + position, rows[live] + offset);
      }
      candidates[kept] = live;
      rejected[out] = live;
      kept += equal;
      out += !equal;
   }
   rejectedCount = out;
   return kept;
}

/// Runs body.template operator()<type>() for the type.
template <typename Body>
decltype(auto) dispatch(PhysicalType type, Body&& body) {
   switch (type) {
   case PhysicalType::Bool: return body.template operator()<PhysicalType::Bool>();
   case PhysicalType::I16: return body.template operator()<PhysicalType::I16>();
   case PhysicalType::I32: return body.template operator()<PhysicalType::I32>();
   case PhysicalType::I64: return body.template operator()<PhysicalType::I64>();
   case PhysicalType::I128: return body.template operator()<PhysicalType::I128>();
   case PhysicalType::F32: return body.template operator()<PhysicalType::F32>();
   case PhysicalType::F64: return body.template operator()<PhysicalType::F64>();
   case PhysicalType::Interval: return body.template operator()<PhysicalType::Interval>();
   case PhysicalType::Decimal: return body.template operator()<PhysicalType::Decimal>();
   case PhysicalType::String: break;
   }
   return body.template operator()<PhysicalType::String>();
}

} // namespace

bool valuesEqual(PhysicalType type, const void* a, const void* b) {
   return dispatch(type, [&]<PhysicalType t>() { return equalTyped<t>(a, b); });
}

int compareValues(PhysicalType type, const void* a, const void* b) {
   return dispatch(type, [&]<PhysicalType t>() { return compareTyped<t>(a, b); });
}

uint32_t keepEqual(const RowLayout& layout, uint32_t column, const LiveColumn& source, const std::byte* const* rows,
                   bool nullsEqual, RowIndex* candidates, uint32_t count, RowIndex* rejected, uint32_t& rejectedCount) {
   const bool checkNulls = source.validity != nullptr || layout.mayHaveNulls(column);
   return dispatch(layout.type(column), [&]<PhysicalType t>() {
      return checkNulls ? keepEqualTyped<t, true>(layout, column, source, rows, nullsEqual, candidates, count, rejected,
                                                  rejectedCount)
                        : keepEqualTyped<t, false>(layout, column, source, rows, nullsEqual, candidates, count,
                                                   rejected, rejectedCount);
   });
}

RowEquality::RowEquality(const RowLayout& layout, uint32_t keyCount) : layout_(layout) {
   for (uint32_t c = 0; c < keyCount; ++c) {
      const PhysicalType type = layout.type(c);
      const bool isPlain = type == PhysicalType::Bool || type == PhysicalType::I16 || type == PhysicalType::I32 ||
                           type == PhysicalType::I64 || type == PhysicalType::I128;
      columns_.push_back({c, layout.offset(c), physicalSize(type), type, isPlain, layout.mayHaveNulls(c)});
   }
   if (keyCount == 1 && columns_[0].isPlain && !columns_[0].mayHaveNulls) single_ = columns_[0].size;
}

namespace {

/// Whether `size` bytes are equal; without a call for the sizes of integers.
bool bytesEqual(const std::byte* a, const std::byte* b, uint32_t size) {
   switch (size) {
   case 8: return load<uint64_t>(a) == load<uint64_t>(b);
   case 4: return load<uint32_t>(a) == load<uint32_t>(b);
   case 2: return load<uint16_t>(a) == load<uint16_t>(b);
   default: return std::memcmp(a, b, size) == 0;
   }
}

} // namespace

bool RowEquality::compareColumns(const std::byte* a, const std::byte* b) const {
   if (rowHash(a) != rowHash(b)) return false; // tables compare a few bits of it
   for (const Column& column : columns_) {
      if (column.mayHaveNulls) {
         const bool nullA = layout_.isNull(a, column.number), nullB = layout_.isNull(b, column.number);
         if (nullA != nullB) return false;
         if (nullA) continue;
      }
      const std::byte *x = a + column.offset, *y = b + column.offset;
      const bool isEqual = column.isPlain                        ? bytesEqual(x, y, column.size)
                           : column.type == PhysicalType::String ? equalTyped<PhysicalType::String>(x, y)
                                                                 : valuesEqual(column.type, x, y);
      if (!isEqual) return false;
   }
   return true;
}

} // namespace ouzel::executor
