#include <cmath>
#include <cstdio>
#include <limits>

#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/float_overflow.hpp"
#include "executor/function/kernel_helpers.hpp"

// Mathematical functions of double precision: rounding, powers, logarithms, trigonometry, random numbers.

namespace ouzel::executor {

namespace {

constexpr double pi = 3.14159265358979323846, radiansPerDegree = 0.0174532925199432957692;
constexpr double infinity = std::numeric_limits<double>::infinity();

[[noreturn, gnu::cold]] void throwUnderflow() {
   throw SqlError(sqlstate::numericValueOutOfRange, "value out of range: underflow");
}
[[noreturn, gnu::cold]] void throwInputRange() {
   throw SqlError(sqlstate::numericValueOutOfRange, "input is out of range");
}
[[noreturn, gnu::cold]] void throwPower(const char* message) {
   throw SqlError(sqlstate::invalidArgumentForPowerFunction, message);
}

double checkedOverflow(double v) {
   if (std::isinf(v)) throwOverflow();
   return v;
}

// ---- rounding and roots ----

double roundEven(double v) {
   return std::rint(v);
}
double ceil(double v) {
   return std::ceil(v);
}
double floor(double v) {
   return std::floor(v);
}
double truncate(double v) {
   return std::trunc(v);
}
double sign(double v) {
   return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; // 0 for NaN, too
}
double sqrt(double v) {
   if (v < 0) throwPower("cannot take square root of a negative number");
   return std::sqrt(v);
}
double cbrt(double v) {
   return std::cbrt(v);
}

// ---- powers and logarithms ----

bool isOdd(double whole) {
   return std::floor(whole / 2) != whole / 2;
}

double powerOfInfinity(double base, double exponent) {
   if (std::isinf(exponent)) {
      const double magnitude = std::fabs(base);
      if (magnitude == 1) return 1;
      return (magnitude > 1) == (exponent > 0) ? infinity : 0;
   }
   if (exponent == 0) return 1;
   if (base > 0) return exponent > 0 ? base : 0;
   if (exponent > 0) return isOdd(exponent) ? base : -base;
   return isOdd(exponent) ? -0.0 : 0.0;
}

double power(double base, double exponent) {
   if (std::isnan(base)) return std::isnan(exponent) || exponent != 0 ? base : 1;
   if (std::isnan(exponent)) return base != 1 ? exponent : 1;
   if (base == 0 && exponent < 0) throwPower("zero raised to a negative power is undefined");
   if (base < 0 && std::floor(exponent) != exponent)
      throwPower("a negative number raised to a non-integer power yields a complex result");
   if (std::isinf(base) || std::isinf(exponent)) return powerOfInfinity(base, exponent);
   const double result = std::pow(base, exponent);
   if (std::isinf(result)) throwOverflow();
   if (result == 0 && base != 0) throwUnderflow();
   return result;
}

double exp(double v) {
   if (std::isnan(v)) return v;
   if (std::isinf(v)) return v > 0 ? v : 0;
   const double result = std::exp(v);
   if (std::isinf(result)) throwOverflow();
   if (result == 0) throwUnderflow();
   return result;
}

void checkLogarithm(double v) {
   if (v == 0) throw SqlError(sqlstate::invalidArgumentForLog, "cannot take logarithm of zero");
   if (v < 0) throw SqlError(sqlstate::invalidArgumentForLog, "cannot take logarithm of a negative number");
}
double ln(double v) {
   checkLogarithm(v);
   return std::log(v);
}
double log10(double v) {
   checkLogarithm(v);
   return std::log10(v);
}

// ---- trigonometry in radians ----

void checkFinite(double v) {
   if (std::isinf(v)) throwInputRange();
}
void checkUnit(double v) {
   if (v < -1 || v > 1) throwInputRange();
}
double sin(double v) {
   return checkFinite(v), std::sin(v);
}
double cos(double v) {
   return checkFinite(v), std::cos(v);
}
double tan(double v) {
   return checkFinite(v), std::tan(v);
}
double cot(double v) {
   return checkFinite(v), 1.0 / std::tan(v);
}
double asin(double v) {
   return checkUnit(v), std::asin(v);
}
double acos(double v) {
   return checkUnit(v), std::acos(v);
}
double atan(double v) {
   return std::atan(v);
}
double atan2(double y, double x) {
   return std::atan2(y, x);
}
double sinh(double v) {
   return std::sinh(v);
}
double cosh(double v) {
   return std::cosh(v);
}
double tanh(double v) {
   return std::tanh(v);
}
double asinh(double v) {
   return std::asinh(v);
}
double acosh(double v) {
   if (v < 1) throwInputRange();
   return std::acosh(v);
}
double atanh(double v) {
   return checkUnit(v), std::atanh(v);
}
double degrees(double v) {
   const double result = v / radiansPerDegree;
   return std::isinf(v) ? result : checkedOverflow(result);
}
double radians(double v) {
   return v * radiansPerDegree;
}
double piValue() {
   return pi;
}

// ---- trigonometry in degrees: exact where the exact result is representable (as in PostgreSQL, by quadrants) ----

// volatile, so that the compiler does not fold calls with another rounding than the library has at run time.
volatile double thirty = 30, sixty = 60, half = 0.5, one = 1;

struct DegreeConstants {
   double sin30 = std::sin(thirty * radiansPerDegree);
   double oneMinusCos60 = 1.0 - std::cos(sixty * radiansPerDegree);
   double asinHalf = std::asin(half), acosHalf = std::acos(half), atanOne = std::atan(one);
};
const DegreeConstants& degreeConstants() {
   static const DegreeConstants constants;
   return constants;
}

double sinTo30(double x) {
   return std::sin(x * radiansPerDegree) / degreeConstants().sin30 / 2.0;
}
double cosTo60(double x) {
   return 1.0 - (1.0 - std::cos(x * radiansPerDegree)) / degreeConstants().oneMinusCos60 / 2.0;
}
double sinQuadrant(double x) {
   return x <= 30 ? sinTo30(x) : cosTo60(90 - x);
}
double cosQuadrant(double x) {
   return x <= 60 ? cosTo60(x) : sinTo30(90 - x);
}
double asinQuadrant(double x) {
   const DegreeConstants& c = degreeConstants();
   return x <= 0.5 ? std::asin(x) / c.asinHalf * 30 : 90 - std::acos(x) / c.acosHalf * 60;
}
double acosQuadrant(double x) {
   const DegreeConstants& c = degreeConstants();
   return x <= 0.5 ? 90 - std::asin(x) / c.asinHalf * 30 : std::acos(x) / c.acosHalf * 60;
}

/// An angle reduced to [0, 90], and the signs of its sine and cosine.
struct Reduced {
   double x;
   double sinSign = 1, cosSign = 1;
   explicit Reduced(double degreesIn) : x(std::fmod(degreesIn, 360.0)) {
      if (x < 0) {
         x = -x;
         sinSign = -sinSign;
      }
      if (x > 180) {
         x = 360 - x;
         sinSign = -sinSign;
      }
      if (x > 90) {
         x = 180 - x;
         cosSign = -cosSign;
      }
   }
};

double sinDegrees(double v) {
   if (std::isnan(v)) return v;
   checkFinite(v);
   const Reduced r(v);
   return r.sinSign * sinQuadrant(r.x);
}
double cosDegrees(double v) {
   if (std::isnan(v)) return v;
   checkFinite(v);
   const Reduced r(v);
   return r.cosSign * cosQuadrant(r.x);
}
double tanDegrees(double v) {
   if (std::isnan(v)) return v;
   checkFinite(v);
   static const double tan45 = sinQuadrant(45) / cosQuadrant(45);
   const Reduced r(v);
   const double result = r.sinSign * r.cosSign * (sinQuadrant(r.x) / cosQuadrant(r.x) / tan45);
   return result == 0 ? 0 : result;
}
double cotDegrees(double v) {
   if (std::isnan(v)) return v;
   checkFinite(v);
   static const double cot45 = cosQuadrant(45) / sinQuadrant(45);
   const Reduced r(v);
   const double result = r.sinSign * r.cosSign * (cosQuadrant(r.x) / sinQuadrant(r.x) / cot45);
   return result == 0 ? 0 : result;
}
double asinDegrees(double v) {
   if (std::isnan(v)) return v;
   checkUnit(v);
   return v >= 0 ? asinQuadrant(v) : -asinQuadrant(-v);
}
double acosDegrees(double v) {
   if (std::isnan(v)) return v;
   checkUnit(v);
   return v >= 0 ? acosQuadrant(v) : 90 + asinQuadrant(-v);
}
double atanDegrees(double v) {
   return std::atan(v) / degreeConstants().atanOne * 45;
}
double atan2Degrees(double y, double x) {
   return std::atan2(y, x) / degreeConstants().atanOne * 45;
}

// ---- random numbers, width_bucket ----

double random(KernelEnv& env) {
   return env.context.requireSession("random").random();
}

StringView setSeed(double seed, KernelEnv& env) {
   if (!(seed >= -1 && seed <= 1)) {
      char text[96];
      const int length = std::snprintf(text, sizeof text, "setseed parameter %g is out of allowed range [-1,1]", seed);
      throw SqlError(sqlstate::invalidParameterValue, std::string(text, static_cast<size_t>(length)));
   }
   env.context.requireSession("setseed").setSeed(seed);
   return {};
}

int32_t widthBucket(double operand, double low, double high, int32_t count) {
   const auto fail = [](const char* message) {
      throw SqlError(sqlstate::invalidArgumentForWidthBucketFunction, message);
   };
   if (count <= 0) fail("count must be greater than zero");
   if (std::isnan(operand) || std::isnan(low) || std::isnan(high))
      fail("operand, lower bound, and upper bound cannot be NaN");
   if (std::isinf(low) || std::isinf(high)) fail("lower and upper bounds must be finite");
   if (low == high) fail("lower bound cannot equal upper bound");
   const bool ascending = low < high;
   if (ascending ? operand < low : operand > low) return 0;
   if (ascending ? operand >= high : operand <= high) {
      if (count == INT32_MAX) throw SqlError(sqlstate::numericValueOutOfRange, "integer out of range");
      return count + 1;
   }
   // Halve the operands if the distance overflows.
   const double span = ascending ? high - low : low - high;
   const double offset = ascending ? operand - low : low - operand;
   const double position = std::isinf(span) ? (ascending ? operand / 2 - low / 2 : low / 2 - operand / 2) /
                                                  (ascending ? high / 2 - low / 2 : low / 2 - high / 2)
                                            : offset / span;
   const int32_t bucket = static_cast<int32_t>(count * position);
   // Rounding may push the quotient to 1.
   return (bucket >= count ? count - 1 : bucket) + 1;
}

} // namespace

void registerMath() {
   addKernel<roundEven>("dround", totalKernel);
   addKernel<ceil>("dceil", totalKernel);
   addKernel<floor>("dfloor", totalKernel);
   addKernel<truncate>("dtrunc", totalKernel);
   addKernel<sign>("dsign", totalKernel);
   addKernel<sqrt>("dsqrt");
   addKernel<cbrt>("dcbrt", totalKernel);
   addKernel<power>("dpow");
   addKernel<exp>("dexp");
   addKernel<ln>("dlog1");
   addKernel<log10>("dlog10");
   addKernel<sin>("dsin");
   addKernel<cos>("dcos");
   addKernel<tan>("dtan");
   addKernel<cot>("dcot");
   addKernel<asin>("dasin");
   addKernel<acos>("dacos");
   addKernel<atan>("datan", totalKernel);
   addKernel<atan2>("datan2", totalKernel);
   addKernel<sinh>("dsinh", totalKernel);
   addKernel<cosh>("dcosh", totalKernel);
   addKernel<tanh>("dtanh", totalKernel);
   addKernel<asinh>("dasinh", totalKernel);
   addKernel<acosh>("dacosh");
   addKernel<atanh>("datanh");
   addKernel<sinDegrees>("dsind");
   addKernel<cosDegrees>("dcosd");
   addKernel<tanDegrees>("dtand");
   addKernel<cotDegrees>("dcotd");
   addKernel<asinDegrees>("dasind");
   addKernel<acosDegrees>("dacosd");
   addKernel<atanDegrees>("datand", totalKernel);
   addKernel<atan2Degrees>("datan2d", totalKernel);
   addKernel<degrees>("degrees");
   addKernel<radians>("radians", totalKernel);
   addKernel<piValue>("dpi", totalKernel);
   addKernel<random>("drandom");
   addKernel<setSeed>("setseed");
   addKernel<widthBucket>("width_bucket_float8");
}

} // namespace ouzel::executor
