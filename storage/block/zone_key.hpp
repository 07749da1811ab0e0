#pragma once
#include <optional>

#include "common/value/value.hpp"

namespace ouzel::storage {

/// A number that sorts as the value does in the order of its type: a <= b implies zoneKey(a) <= zoneKey(b). Exact for
/// integers, booleans, floats and intervals' spans. Strings map to their first 15 bytes, in byte order: ranges of
/// strings may be used only under collation "C", equality always. So a closed range of zone keys never excludes a
/// matching row.
using ZoneKey = int128;

inline constexpr ZoneKey zoneKeyMin = static_cast<ZoneKey>(uint128{1} << 127);
inline constexpr ZoneKey zoneKeyMax = ~zoneKeyMin;

/// REQUIRES: value is not NULL.
ZoneKey zoneKeyOf(const Value& value);
ZoneKey zoneKeyOfDouble(double value);
ZoneKey zoneKeyOfString(std::string_view bytes);
/// The first 15 bytes of the decimal's sort key.
ZoneKey zoneKeyOfDecimal(StringView value);
/// A value with this key; for strings the prefix itself. Empty for intervals and decimals, whose keys have no inverse.
std::optional<Value> valueOfZoneKey(PhysicalType type, ZoneKey key);

/// Closed range of the non-NULL values of a column within some rows; empty (lower > upper) when all are NULL.
struct ZoneRange {
   ZoneKey lower = zoneKeyMax, upper = zoneKeyMin;
   bool isEmpty() const { return lower > upper; }
   void add(ZoneKey key) {
      if (key < lower) lower = key;
      if (key > upper) upper = key;
   }
   void merge(const ZoneRange& other) {
      if (other.lower < lower) lower = other.lower;
      if (other.upper > upper) upper = other.upper;
   }
   bool overlaps(ZoneKey low, ZoneKey high) const { return lower <= high && low <= upper; }
};

} // namespace ouzel::storage
