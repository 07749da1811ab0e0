#pragma once
#include <cstdint>

#include "common/error/check.hpp"

// How values lie in memory, apart from what SQL calls them (sql_type.hpp).

namespace ouzel {

using int128 = __int128;
using uint128 = unsigned __int128;

enum class PhysicalType : uint8_t {
   Bool, ///< uint8_t 0 or 1
   I16,  ///< int16_t
   I32,  ///< int32_t; date is days since 2000-01-01 (INT32_MIN/MAX: -infinity/infinity)
   I64,  ///< int64_t; time and timestamps are microseconds (since midnight / 2000-01-01), scaled numerics
   I128, ///< int128, aligned to 16; scaled numerics, uuid (big-endian value with the top bit flipped, so that signed
         ///< order is uuid order)
   F32,  ///< float
   F64,  ///< double
   Interval, ///< Interval {months, days, micros}, 16 bytes
   Decimal, ///< StringView over the canonical bytes of common/number/decimal.hpp: sign, per-value display scale, digits
   String, ///< StringView: text, varchar, bpchar, bytea, name, "char", json, arrays and every other variable-size value
};
inline constexpr uint32_t physicalTypeCount = 10;
static_assert(static_cast<uint32_t>(PhysicalType::String) + 1 == physicalTypeCount);

/// PostgreSQL's interval: three parts that are not normalised into each other.
struct Interval {
   int64_t micros = 0;
   int32_t days = 0;
   int32_t months = 0;
   bool operator==(const Interval&) const = default; ///< of the parts; SQL equality is intervalSpan() equality
};
static_assert(sizeof(Interval) == 16);

/// The span PostgreSQL orders intervals by: 30-day months, 24-hour days, in microseconds.
inline int128 intervalSpan(const Interval& v) {
   return static_cast<int128>(v.micros) + (static_cast<int128>(v.months) * 30 + v.days) * 86'400'000'000LL;
}

/// Bytes one value takes in a flat vector or a row. StringView-based types take 16.
constexpr uint32_t physicalSize(PhysicalType type) {
   switch (type) {
   case PhysicalType::Bool: return 1;
   case PhysicalType::I16: return 2;
   case PhysicalType::I32:
   case PhysicalType::F32: return 4;
   case PhysicalType::I64:
   case PhysicalType::F64: return 8;
   case PhysicalType::I128:
   case PhysicalType::Interval:
   case PhysicalType::Decimal:
   case PhysicalType::String: return 16;
   }
   return 0;
}
static_assert(sizeof(int128) == 16 && alignof(int128) == 16, "SIMD loads and row layouts rely on it");
static_assert(physicalSize(PhysicalType::I128) == sizeof(int128));
static_assert(physicalSize(PhysicalType::Interval) == sizeof(Interval));

/// True for values that are StringViews and may point outside their 16 bytes.
constexpr bool isVariableSize(PhysicalType type) {
   return type == PhysicalType::Decimal || type == PhysicalType::String;
}

/// How the values of a column or expression lie in memory while a plan runs. `scale` is the common display scale of a
/// scaled numeric (SQL type numeric with physical I64 or I128) and 0 for everything else. Scaled numerics hold finite
/// values only: NaN and infinities exist in Decimal only.
struct Representation {
   PhysicalType physical = PhysicalType::I32;
   uint8_t scale = 0;
   bool operator==(const Representation&) const = default;
};

/// Integers, scaled numerics among them.
constexpr bool isInteger(PhysicalType type) {
   return type == PhysicalType::I16 || type == PhysicalType::I32 || type == PhysicalType::I64 ||
          type == PhysicalType::I128;
}
/// Values that an int64 can hold as numbers.
constexpr bool isIntegerLike(PhysicalType type) {
   return type == PhysicalType::Bool || (isInteger(type) && type != PhysicalType::I128);
}

} // namespace ouzel
