#include "common/number/decimal.hpp"
#include "common/number/decimal_divisor.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// numeric as Decimal: every value has a display scale of its own. (Scaled integers: scaled_numeric.cpp.)

namespace ouzel::executor {

namespace {

DecimalView add(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::add(a, b, env.strings);
}
DecimalView subtract(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::subtract(a, b, env.strings);
}
DecimalView multiply(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::multiply(a, b, env.strings);
}
DecimalView divide(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::divide(a, b, env.strings);
}
/// Most divisors are constants.
void divideRows(const KernelCall& call, ResultVector& result) {
   constexpr uint32_t rowsMin = 64; // with fewer rows a Divisor does not pay
   if (call.args[1].encoding != Encoding::Constant || call.rows.count() < rowsMin)
      return detail::Loop<divide, DecimalView (*)(DecimalView, DecimalView, KernelEnv&)>::run(call, result);
   decimal::Divisor divisor(call.args[1].value<StringView>(0));
   const detail::Argument<DecimalView> dividends(call.args[0]);
   auto* out = result.values<StringView>();
   Arena& strings = result.strings();
   forEachRow(call.rows, [&](uint32_t row) { out[row] = divisor.divide(dividends.get(row), strings); });
}
DecimalView modulo(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::modulo(a, b, env.strings);
}
DecimalView divideTruncated(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::divideTruncated(a, b, env.strings);
}
DecimalView negate(DecimalView v, KernelEnv& env) {
   return decimal::negate(v, env.strings);
}
DecimalView absolute(DecimalView v, KernelEnv& env) {
   return decimal::absolute(v, env.strings);
}
DecimalView same(DecimalView v, KernelEnv& env) {
   return env.copy(v.bytes.view());
}
DecimalView increment(DecimalView v, KernelEnv& env) {
   return decimal::add(v, decimal::fromInt64(1), env.strings);
}
DecimalView sign(DecimalView v) {
   return decimal::isNaN(v) ? decimal::nan() : decimal::fromInt64(decimal::sign(v));
}
DecimalView ceil(DecimalView v, KernelEnv& env) {
   return decimal::ceil(v, env.strings);
}
DecimalView floor(DecimalView v, KernelEnv& env) {
   return decimal::floor(v, env.strings);
}
DecimalView round(DecimalView v, int32_t scale, KernelEnv& env) {
   return decimal::round(v, scale, env.strings);
}
DecimalView truncate(DecimalView v, int32_t scale, KernelEnv& env) {
   return decimal::truncate(v, scale, env.strings);
}
DecimalView roundWhole(DecimalView v, KernelEnv& env) {
   return decimal::round(v, 0, env.strings);
}
DecimalView truncateWhole(DecimalView v, KernelEnv& env) {
   return decimal::truncate(v, 0, env.strings);
}
DecimalView sqrt(DecimalView v, KernelEnv& env) {
   return decimal::sqrt(v, env.strings);
}
DecimalView exp(DecimalView v, KernelEnv& env) {
   return decimal::exp(v, env.strings);
}
DecimalView ln(DecimalView v, KernelEnv& env) {
   return decimal::ln(v, env.strings);
}
DecimalView log(DecimalView base, DecimalView v, KernelEnv& env) {
   return decimal::log(base, v, env.strings);
}
DecimalView log10(DecimalView v, KernelEnv& env) {
   return decimal::log(decimal::fromInt64(10), v, env.strings);
}
DecimalView power(DecimalView base, DecimalView exponent, KernelEnv& env) {
   return decimal::power(base, exponent, env.strings);
}
DecimalView gcd(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::gcd(a, b, env.strings);
}
DecimalView lcm(DecimalView a, DecimalView b, KernelEnv& env) {
   return decimal::lcm(a, b, env.strings);
}
DecimalView factorial(int64_t n, KernelEnv& env) {
   return decimal::factorial(n, env.strings);
}
std::optional<int32_t> scale(DecimalView v) {
   if (!decimal::isFinite(v)) return std::nullopt;
   return decimal::scale(v);
}
std::optional<int32_t> minScale(DecimalView v) {
   if (!decimal::isFinite(v)) return std::nullopt;
   return decimal::minScale(v);
}
DecimalView trimScale(DecimalView v, KernelEnv& env) {
   return decimal::isFinite(v) ? decimal::trimScale(v, env.strings) : v.bytes;
}
DecimalView applyTypmod(DecimalView v, int32_t typmod, KernelEnv& env) {
   return env.copy(decimal::applyTypmod(v, typmod, env.strings).view());
}
int32_t widthBucket(DecimalView operand, DecimalView low, DecimalView high, int32_t count) {
   return decimal::widthBucket(operand, low, high, count);
}

} // namespace

void registerNumeric() {
   addKernel<add>("numeric_add");
   addKernel<subtract>("numeric_sub");
   addKernel<multiply>("numeric_mul");
   registerKernel("numeric_div", "nn", {divideRows, true, false});
   addKernel<modulo>("numeric_mod");
   addKernel<divideTruncated>("numeric_div_trunc");
   addKernel<negate>("numeric_uminus", totalKernel);
   addKernel<same>("numeric_uplus", totalKernel);
   addKernel<absolute>("numeric_abs", totalKernel);
   addKernel<sign>("numeric_sign", totalKernel);
   addKernel<increment>("numeric_inc");
   addKernel<ceil>("numeric_ceil");
   addKernel<floor>("numeric_floor");
   addKernel<round>("numeric_round");
   addKernel<truncate>("numeric_trunc");
   addKernel<roundWhole>("sql:round");
   addKernel<truncateWhole>("sql:trunc");
   addKernel<sqrt>("numeric_sqrt");
   addKernel<exp>("numeric_exp");
   addKernel<ln>("numeric_ln");
   addKernel<log>("numeric_log");
   addKernels<log10>({"sql:log", "sql:log10"});
   addKernel<power>("numeric_power");
   addKernel<gcd>("numeric_gcd");
   addKernel<lcm>("numeric_lcm");
   addKernel<factorial>("numeric_fac");
   addKernel<scale>("numeric_scale", totalKernel);
   addKernel<minScale>("numeric_min_scale", totalKernel);
   addKernel<trimScale>("numeric_trim_scale", totalKernel);
   addKernel<applyTypmod>("numeric");
   addKernel<widthBucket>("width_bucket_numeric");
}

} // namespace ouzel::executor
