#pragma once
#include <cstdint>

#include "common/number/decimal.hpp"
#include "common/value/physical_type.hpp"
#include "common/value/string_view.hpp"

// SQL's = and < for each physical type, inlined into the loops of kernel/ and of aggregates.

namespace ouzel::executor {

template <PhysicalType type, typename T>
struct ValueCompare {
   static bool equal(T a, T b) { return a == b; }
   static bool less(T a, T b) { return a < b; }
};
template <typename T>
struct FloatCompare {
   static bool equal(T a, T b) { return (a == b) | ((a != a) & (b != b)); }
   static bool less(T a, T b) { return (a < b) | ((b != b) & (a == a)); }
};
template <>
struct ValueCompare<PhysicalType::F32, float> : FloatCompare<float> {};
template <>
struct ValueCompare<PhysicalType::F64, double> : FloatCompare<double> {};
template <>
struct ValueCompare<PhysicalType::Interval, Interval> {
   static bool equal(const Interval& a, const Interval& b) { return intervalSpan(a) == intervalSpan(b); }
   static bool less(const Interval& a, const Interval& b) { return intervalSpan(a) < intervalSpan(b); }
};
template <>
struct ValueCompare<PhysicalType::String, StringView> {
   static bool equal(const StringView& a, const StringView& b) { return a == b; }
   static bool less(const StringView& a, const StringView& b) { return a.compare(b) < 0; }
};
template <>
struct ValueCompare<PhysicalType::Decimal, StringView> {
   static bool equal(const StringView& a, const StringView& b) { return decimal::equal(a, b); }
   static bool less(const StringView& a, const StringView& b) { return decimal::compare(a, b) < 0; }
};

} // namespace ouzel::executor
