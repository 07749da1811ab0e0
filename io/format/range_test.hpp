#pragma once
#include "io/format/external_table.hpp"

namespace ouzel::io {

/// Whether isLess() supports the type: all types but Decimal and Interval.
bool isOrdered(PhysicalType type);
/// REQUIRES: both values have the same ordered type, and neither is NULL. Strings compare by bytes; NaN is the
/// greatest.
bool isLess(const Value& a, const Value& b);
/// True if no value between `min` and `max` lies in the range. NULL: that bound is not known.
bool excludes(const ExternalRange& range, const Value& min, const Value& max);

} // namespace ouzel::io
