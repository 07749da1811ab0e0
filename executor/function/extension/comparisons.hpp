#pragma once
#include <cstdint>

#include "common/value/string_view.hpp"

namespace ouzel::executor {

/// The comparison operators of a type whose values `compare` orders.
template <int32_t (*compare)(const StringView&, const StringView&)>
struct Comparisons {
   static bool isLess(const StringView& a, const StringView& b) { return compare(a, b) < 0; }
   static bool isAtMost(const StringView& a, const StringView& b) { return compare(a, b) <= 0; }
   static bool isEqual(const StringView& a, const StringView& b) { return compare(a, b) == 0; }
   static bool isDifferent(const StringView& a, const StringView& b) { return compare(a, b) != 0; }
   static bool isAtLeast(const StringView& a, const StringView& b) { return compare(a, b) >= 0; }
   static bool isGreater(const StringView& a, const StringView& b) { return compare(a, b) > 0; }
};

} // namespace ouzel::executor
