#pragma once
#include <cstdint>

namespace ouzel::storage {

/// The integers that a filter keeps: those in [lower, upper], or those outside of it. NULL is in no range.
struct ValueRange {
   int64_t lower = INT64_MIN, upper = INT64_MAX;
   bool isOutside = false;

   bool contains(int64_t value) const { return ((value >= lower) & (value <= upper)) != isOutside; }
   bool isEmpty() const { return lower > upper && !isOutside; }
};

} // namespace ouzel::storage
