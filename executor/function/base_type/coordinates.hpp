#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base_type/geometry.hpp"
#include "common/error/sql_error.hpp"
#include "executor/function/float_overflow.hpp"

// Coordinates of geometric values as PostgreSQL's geo_ops.c compares and computes them: most comparisons take
// coordinates as equal that differ by no more than a millionth, and arithmetic reports overflow and underflow.

namespace ouzel::executor::geometry {

inline constexpr double epsilon = 1.0E-06;

// ---- coordinates ----

inline bool same(double a, double b) {
   return a == b || std::fabs(a - b) <= epsilon;
}
inline bool less(double a, double b) {
   return a + epsilon < b;
}
inline bool lessOrSame(double a, double b) {
   return a <= b + epsilon;
}
inline bool greater(double a, double b) {
   return a > b + epsilon;
}
inline bool greaterOrSame(double a, double b) {
   return a + epsilon >= b;
}

[[noreturn, gnu::cold]] inline void throwUnderflow() {
   throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: underflow");
}

inline double checked(double result, bool wasInfinite) {
   if (std::isinf(result) && !wasInfinite) throwOverflow();
   return result;
}
inline double plus(double a, double b) {
   return checked(a + b, std::isinf(a) || std::isinf(b));
}
inline double minus(double a, double b) {
   return checked(a - b, std::isinf(a) || std::isinf(b));
}
inline double times(double a, double b) {
   const double result = checked(a * b, std::isinf(a) || std::isinf(b));
   if (result == 0 && a != 0 && b != 0) throwUnderflow();
   return result;
}
inline double dividedBy(double a, double b) {
   if (b == 0 && !std::isnan(a)) throw SqlError(sqlstate::divisionByZero, "division by zero");
   const double result = checked(a / b, std::isinf(a));
   if (result == 0 && a != 0 && !std::isinf(b)) throwUnderflow();
   return result;
}
/// PostgreSQL's pg_hypot().
inline double hypotenuse(double x, double y) {
   if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<double>::infinity();
   if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
   x = std::fabs(x);
   y = std::fabs(y);
   if (x < y) std::swap(x, y);
   if (y == 0) return x;
   const double ratio = y / x, result = x * std::sqrt(1 + ratio * ratio);
   if (std::isinf(result)) throwOverflow();
   if (result == 0) throwUnderflow();
   return result;
}
/// The smaller one, and the larger one, where NaN is the largest.
inline double smaller(double a, double b) {
   return std::isnan(a) || b < a ? b : a;
}
inline double larger(double a, double b) {
   return std::isnan(a) || a > b ? a : b;
}

inline double distance(const Point& a, const Point& b) {
   return hypotenuse(minus(a.x, b.x), minus(a.y, b.y));
}
inline bool samePoint(const Point& a, const Point& b) {
   const auto equal = [](double l, double r) { return std::isnan(l) ? std::isnan(r) : l == r; };
   if (std::isnan(a.x) || std::isnan(a.y) || std::isnan(b.x) || std::isnan(b.y))
      return equal(a.x, b.x) && equal(a.y, b.y);
   return same(a.x, b.x) && same(a.y, b.y);
}
} // namespace ouzel::executor::geometry
