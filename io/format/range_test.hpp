#pragma once
#include "io/format/external_table.hpp"

namespace ouzel::io {

/// Whether values of the type have an order that isLess() knows: all but Decimal and Interval.
bool isOrdered(PhysicalType type);
/// REQUIRES: both are of one ordered type, and neither is NULL. Strings by bytes; NaN is greater than all.
bool isLess(const Value& a, const Value& b);
/// Whether no value between `min` and `max` (NULL: not known) lies in the range.
bool excludes(const ExternalRange& range, const Value& min, const Value& max);

} // namespace ouzel::io
