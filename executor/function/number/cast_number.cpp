#include <cmath>
#include <limits>

#include "common/number/decimal.hpp"
#include "common/type/blanks.hpp"
#include "common/type/text_codec.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"

// Casts between types of numbers, of integers to and from "char", and to varchar(n) and character(n).

namespace ouzel::executor {

namespace {

template <typename To>
constexpr const char* typeName() {
   if constexpr (sizeof(To) == 2) return "smallint out of range";
   if constexpr (sizeof(To) == 4) return "integer out of range";
   return "bigint out of range";
}

[[noreturn, gnu::cold]] void throwRange(const char* message) {
   throw SqlError(sqlstate::numericValueOutOfRange, message);
}

template <typename From, typename To>
To convert(From v) {
   return static_cast<To>(v);
}

template <typename From, typename To>
To narrow(From v) {
   if (v != static_cast<To>(v)) throwRange(typeName<To>());
   return static_cast<To>(v);
}

/// Rounds half to even, as the C library does for PostgreSQL.
template <typename From, typename To>
To fromFloat(From v) {
   const From rounded = std::rint(v);
   constexpr From bound = static_cast<From>(uint64_t{1} << (sizeof(To) * 8 - 1));
   if (!(rounded >= -bound && rounded < bound)) throwRange(typeName<To>());
   return static_cast<To>(rounded);
}

float toFloat(double v) {
   const float result = static_cast<float>(v);
   if (std::isinf(result) && !std::isinf(v)) throwRange("value out of range: overflow");
   if (result == 0 && v != 0) throwRange("value out of range: underflow");
   return result;
}

int64_t toOid(int64_t v) {
   if (v < 0 || v > std::numeric_limits<uint32_t>::max()) throwRange("OID out of range");
   return v;
}

template <typename From>
DecimalView toDecimal(From v) {
   return decimal::fromInt64(v);
}
DecimalView fromDouble(double v, KernelEnv& env) {
   return decimal::fromDouble(v, env.strings);
}
DecimalView fromReal(float v, KernelEnv& env) {
   return decimal::fromFloat(v, env.strings);
}
int16_t decimalToInt2(DecimalView v) {
   return decimal::toInt2(v);
}
int32_t decimalToInt4(DecimalView v) {
   return decimal::toInt4(v);
}
int64_t decimalToInt8(DecimalView v) {
   return decimal::toInt8(v);
}
double decimalToDouble(DecimalView v) {
   return decimal::toDouble(v);
}
float decimalToFloat(DecimalView v) {
   return decimal::toFloat(v);
}

/// "char" is one byte; zero is the empty text.
StringView toChar(int32_t v) {
   if (v < std::numeric_limits<int8_t>::min() || v > std::numeric_limits<int8_t>::max())
      throwRange("\"char\" out of range");
   const char c = static_cast<char>(v);
   return StringView(&c, c == 0 ? 0 : 1);
}
int32_t fromChar(StringView v) {
   return v.empty() ? 0 : static_cast<int8_t>(v.data()[0]);
}

StringView toVarchar(StringView v, int32_t typmod, bool isExplicit, KernelEnv& env) {
   return env.copy(applyVarcharTypmod(v.view(), typmod, isExplicit));
}
/// A cast, whose type tells the length, or a call by name, whose result has the blanks.
StringView toBpchar(StringView v, int32_t typmod, bool isExplicit, KernelEnv& env) {
   const std::string_view cut = applyBpcharTypmod(v.view(), typmod, isExplicit);
   if (env.call.resultType.typmod >= 0) return env.copy(cut);
   ValueBuilder out(env.strings);
   std::string text;
   appendWithBlanks(text, cut, typmod);
   out.append(text);
   return out.finish();
}

/// A transaction id without its epoch, an OID from the bits of an int4.
int64_t lowerHalf(int64_t v) {
   return static_cast<int64_t>(static_cast<uint32_t>(v));
}
/// An int4 from the bits of an OID.
int64_t lowerHalfSigned(int64_t v) {
   return static_cast<int32_t>(v);
}

} // namespace

void registerNumberCasts() {
   addKernel<toChar>("i4tochar");
   addKernel<fromChar>("chartoi4", totalKernel);
   addKernel<toVarchar>("varchar");
   addKernel<toBpchar>("bpchar");
   addKernel<convert<int16_t, int32_t>>("i2toi4", totalKernel);
   addKernel<convert<int16_t, int64_t>>("int28", totalKernel);
   addKernel<convert<int32_t, int64_t>>("int48", totalKernel);
   addKernel<narrow<int32_t, int16_t>>("i4toi2");
   addKernel<narrow<int64_t, int16_t>>("int82");
   addKernel<narrow<int64_t, int32_t>>("int84");
   addKernel<convert<int16_t, double>>("i2tod", totalKernel);
   addKernel<convert<int16_t, float>>("i2tof", totalKernel);
   addKernel<convert<int32_t, double>>("i4tod", totalKernel);
   addKernel<convert<int32_t, float>>("i4tof", totalKernel);
   addKernel<convert<int64_t, double>>("i8tod", totalKernel);
   addKernel<convert<int64_t, float>>("i8tof", totalKernel);
   addKernel<convert<float, double>>("ftod", totalKernel);
   addKernel<toFloat>("dtof");
   addKernel<fromFloat<double, int16_t>>("dtoi2");
   addKernel<fromFloat<double, int32_t>>("dtoi4");
   addKernel<fromFloat<double, int64_t>>("dtoi8");
   addKernel<fromFloat<float, int16_t>>("ftoi2");
   addKernel<fromFloat<float, int32_t>>("ftoi4");
   addKernel<fromFloat<float, int64_t>>("ftoi8");
   addKernel<toOid>("i8tooid");
   addKernel<convert<int64_t, int64_t>>("oidtoi8", totalKernel);
   addKernel<toDecimal<int16_t>>("int2_numeric", totalKernel);
   addKernel<toDecimal<int32_t>>("int4_numeric", totalKernel);
   addKernel<toDecimal<int64_t>>("int8_numeric", totalKernel);
   addKernel<fromDouble>("float8_numeric", totalKernel);
   addKernel<fromReal>("float4_numeric", totalKernel);
   addKernel<decimalToInt2>("numeric_int2");
   addKernel<decimalToInt4>("numeric_int4");
   addKernel<decimalToInt8>("numeric_int8");
   addKernel<decimalToDouble>("numeric_float8");
   addKernel<decimalToFloat>("numeric_float4");
   addKernel<lowerHalf>("xid8toxid", totalKernel);
   addKernel<lowerHalf>("ouzel_oid", totalKernel);
   addKernel<lowerHalfSigned>("ouzel_oid_bits", totalKernel);
}

} // namespace ouzel::executor
