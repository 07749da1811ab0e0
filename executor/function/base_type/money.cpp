#include "common/base_type/money.hpp"

#include <cmath>

#include "common/number/decimal.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of money.

namespace ouzel::executor {

namespace {

[[noreturn, gnu::cold]] void throwOutOfRange() {
   throw SqlError(sqlstate::numericValueOutOfRange, "money out of range");
}
[[noreturn, gnu::cold]] void throwDivisionByZero() {
   throw SqlError(sqlstate::divisionByZero, "division by zero");
}

int64_t add(int64_t a, int64_t b) {
   int64_t result;
   if (__builtin_add_overflow(a, b, &result)) throwOutOfRange();
   return result;
}
int64_t subtract(int64_t a, int64_t b) {
   int64_t result;
   if (__builtin_sub_overflow(a, b, &result)) throwOutOfRange();
   return result;
}
double ratio(int64_t a, int64_t b) {
   if (b == 0) throwDivisionByZero();
   return static_cast<double>(a) / static_cast<double>(b);
}

int64_t rounded(double v) {
   const double cents = std::rint(v);
   constexpr double bound = 9223372036854775808.0;
   if (!(cents >= -bound && cents < bound)) throwOutOfRange();
   return static_cast<int64_t>(cents);
}

template <typename T>
int64_t multiply(int64_t cents, T factor) {
   if constexpr (std::is_floating_point_v<T>) {
      return rounded(static_cast<double>(cents) * static_cast<double>(factor));
   } else {
      int64_t result;
      if (__builtin_mul_overflow(cents, int64_t{factor}, &result)) throwOutOfRange();
      return result;
   }
}
template <typename T>
int64_t multiplied(T factor, int64_t cents) {
   return multiply<T>(cents, factor);
}
template <typename T>
int64_t divide(int64_t cents, T divisor) {
   if (divisor == 0) throwDivisionByZero();
   if constexpr (std::is_floating_point_v<T>) {
      return rounded(static_cast<double>(cents) / static_cast<double>(divisor));
   } else {
      if (divisor == -1) return subtract(0, cents);
      return cents / divisor;
   }
}
template <typename T>
void addFactor(const std::string& type) {
   addKernel<multiply<T>>("cash_mul_" + type);
   addKernel<multiplied<T>>(type + "_mul_cash");
   addKernel<divide<T>>("cash_div_" + type);
}

int64_t fromInt8(int64_t units) {
   int64_t cents;
   if (__builtin_mul_overflow(units, int64_t{100}, &cents))
      throw SqlError(sqlstate::numericValueOutOfRange, "bigint out of range");
   return cents;
}
int64_t fromInt4(int32_t units) {
   return int64_t{units} * 100;
}
int64_t fromNumeric(DecimalView v, KernelEnv& env) {
   return decimal::toInt8(decimal::multiply(v, decimal::fromInt64(100), env.strings));
}
DecimalView toNumeric(int64_t cents) {
   return decimal::fromInt64(cents, 2);
}
StringView words(int64_t cents, KernelEnv& env) {
   return env.copy(moneyInWords(cents));
}
int64_t larger(int64_t a, int64_t b) {
   return a > b ? a : b;
}
int64_t smaller(int64_t a, int64_t b) {
   return a < b ? a : b;
}
int32_t order(int64_t a, int64_t b) {
   return a < b ? -1 : a > b ? 1 : 0;
}

} // namespace

void registerMoney() {
   addKernel<add>("cash_pl");
   addKernel<subtract>("cash_mi");
   addKernel<ratio>("cash_div_cash");
   addFactor<int16_t>("int2");
   addFactor<int32_t>("int4");
   addFactor<int64_t>("int8");
   addFactor<float>("flt4");
   addFactor<double>("flt8");
   addKernel<fromInt4>("int4_cash", totalKernel);
   addKernel<fromInt8>("int8_cash");
   addKernel<fromNumeric>("numeric_cash");
   addKernel<toNumeric>("cash_numeric", totalKernel);
   addKernel<words>("cash_words", totalKernel);
   addKernel<order>("cash_cmp", totalKernel);
   addKernel<larger>("cashlarger", totalKernel);
   addKernel<smaller>("cashsmaller", totalKernel);
}

} // namespace ouzel::executor
