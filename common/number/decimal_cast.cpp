#include <cmath>
#include <cstdio>
#include <limits>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/number/decimal_big.hpp"
#include "common/number/decimal_small.hpp"
#include "common/text/number_text.hpp"
#include "common/value/sql_type.hpp"

// Decimals to and from type modifiers, integers and floats.

namespace ouzel::decimal {

namespace {

[[noreturn, gnu::cold]] void throwFieldOverflow(int32_t typmod, std::string_view tail) {
   const NumericModifier m = numericModifier(typmod);
   throw SqlError(sqlstate::numericValueOutOfRange, "numeric field overflow")
       .detail("A field with precision " + std::to_string(m.precision) + ", scale " + std::to_string(m.scale) +
               std::string(tail));
}

/// Below 10^digits in magnitude? `digits` may be negative.
bool isBelowPower(StringView v, int32_t digits) {
   if (sign(v) == 0) return true;
   Scaled s;
   if (decode(v, s)) {
      const uint128 magnitude = s.value < 0 ? -static_cast<uint128>(s.value) : static_cast<uint128>(s.value);
      return static_cast<int32_t>(countDigits(magnitude)) - s.scale <= digits;
   }
   Integer z;
   const int32_t valueScale = load(v, z);
   return static_cast<int32_t>(z.digits()) - valueScale <= digits;
}

template <typename Int>
Int toInteger(StringView v, const char* typeName) {
   if (!isFinite(v))
      throw SqlError(sqlstate::featureNotSupported,
                     std::string(isNaN(v) ? "cannot convert NaN to " : "cannot convert infinity to ") + typeName);
   const std::optional<int128> whole = toInt128(v, 0);
   if (!whole || *whole < std::numeric_limits<Int>::min() || *whole > std::numeric_limits<Int>::max())
      throw SqlError(sqlstate::numericValueOutOfRange, std::string(typeName) + " out of range");
   return static_cast<Int>(*whole);
}

bool toFloatingSpecial(StringView v, double& out) {
   switch (kind(v)) {
   case Kind::Finite: return false;
   case Kind::NaN: out = std::numeric_limits<double>::quiet_NaN(); return true;
   case Kind::Infinity: out = std::numeric_limits<double>::infinity(); return true;
   case Kind::NegativeInfinity: out = -std::numeric_limits<double>::infinity(); return true;
   }
   return false;
}

constexpr double exactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Both numbers exact as doubles: one correctly rounded division.
bool toDoubleExact(StringView v, double& out) {
   Scaled s;
   if (!decode(v, s) || s.scale > 22) return false;
   constexpr int128 limit = int128{1} << 53;
   if (s.value > limit || s.value < -limit) return false;
   out = static_cast<double>(static_cast<int64_t>(s.value)) / exactPowers[s.scale];
   return true;
}

StringView fromDigits(double v, int digits, Arena& arena) {
   if (std::isnan(v)) return nan();
   if (std::isinf(v)) return infinity(v < 0);
   char buffer[64];
   const int length = std::snprintf(buffer, sizeof buffer, "%.*g", digits, v);
   return parse({buffer, static_cast<size_t>(length)}, arena);
}

} // namespace

void throwFieldOverflow(int32_t typmod) {
   const NumericModifier m = numericModifier(typmod);
   const int32_t digits = m.precision - m.scale;
   throwFieldOverflow(typmod, " must round to an absolute value less than " +
                                  (digits == 0 ? std::string("1") : "10^" + std::to_string(digits)) + ".");
}

StringView applyTypmod(StringView v, int32_t typmod, Arena& arena) {
   if (typmod < 4 || isNaN(v)) return v;
   if (!isFinite(v)) throwFieldOverflow(typmod, " cannot hold an infinite value.");
   const NumericModifier m = numericModifier(typmod);
   const StringView rounded = round(v, m.scale, arena);
   if (!isBelowPower(rounded, m.precision - m.scale)) throwFieldOverflow(typmod);
   return rounded;
}

int128 toScaledColumn(StringView v, int32_t typmod) {
   const NumericModifier m = numericModifier(typmod);
   if (isNaN(v)) throwNotSupported("NaN in a numeric column of fixed scale");
   if (!isFinite(v)) throwFieldOverflow(typmod, " cannot hold an infinite value.");
   const std::optional<int128> scaled = toInt128(v, m.scale);
   const uint128 magnitude = !scaled ? 0 : *scaled < 0 ? -static_cast<uint128>(*scaled) : static_cast<uint128>(*scaled);
   if (!scaled || magnitude >= powerOfTen(static_cast<uint32_t>(m.precision))) throwFieldOverflow(typmod);
   return *scaled;
}

int16_t toInt2(StringView v) {
   return toInteger<int16_t>(v, "smallint");
}
int32_t toInt4(StringView v) {
   return toInteger<int32_t>(v, "integer");
}
int64_t toInt8(StringView v) {
   return toInteger<int64_t>(v, "bigint");
}

double toDouble(StringView v) {
   double result = 0;
   if (toFloatingSpecial(v, result) || toDoubleExact(v, result)) return result;
   const std::string text = toString(v);
   if (parseDouble(text, result) != ParseStatus::Ok)
      throw SqlError(sqlstate::numericValueOutOfRange, '"' + text + "\" is out of range for type double precision");
   return result;
}

float toFloat(StringView v) {
   double special = 0;
   if (toFloatingSpecial(v, special)) return static_cast<float>(special);
   const std::string text = toString(v);
   float result = 0;
   if (parseFloat(text, result) != ParseStatus::Ok)
      throw SqlError(sqlstate::numericValueOutOfRange, '"' + text + "\" is out of range for type real");
   return result;
}

double approximate(StringView v) {
   double result = 0;
   if (toFloatingSpecial(v, result) || toDoubleExact(v, result)) return result;
   return std::strtod(toString(v).c_str(), nullptr);
}

StringView fromDouble(double v, Arena& arena) {
   return fromDigits(v, std::numeric_limits<double>::digits10, arena);
}
StringView fromFloat(float v, Arena& arena) {
   return fromDigits(static_cast<double>(v), std::numeric_limits<float>::digits10, arena);
}

} // namespace ouzel::decimal
