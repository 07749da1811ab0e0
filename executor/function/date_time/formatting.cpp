#include "executor/function/date_time/formatting.hpp"

#include "common/calendar/calendar.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// to_char(), to_date(), to_timestamp(), to_number().

namespace ouzel::executor {

namespace {

SessionFormat formatOf(const KernelEnv& env) {
   return env.context.format ? *env.context.format : SessionFormat();
}

using OptionalText = std::optional<StringView>;

OptionalText timestampToChar(int64_t timestamp, StringView pattern, KernelEnv& env) {
   if (isInfiniteTimestamp(timestamp) || pattern.empty()) return std::nullopt;
   std::string out;
   formatTimestamp(out, pattern.view(), timestamp);
   return env.copy(out);
}

OptionalText timestampTzToChar(int64_t timestamp, StringView pattern, KernelEnv& env) {
   if (isInfiniteTimestamp(timestamp) || pattern.empty()) return std::nullopt;
   std::string out;
   formatTimestampTz(out, pattern.view(), timestamp, formatOf(env));
   return env.copy(out);
}

OptionalText intervalToChar(const Interval& v, StringView pattern, KernelEnv& env) {
   if (pattern.empty()) return std::nullopt;
   std::string out;
   formatInterval(out, pattern.view(), v);
   return env.copy(out);
}

/// Makes a kernel of a function that prints numbers. An empty template gives an empty text.
template <typename T, auto print>
StringView numberToChar(T v, StringView pattern, KernelEnv& env) {
   std::string out;
   if (!pattern.empty()) print(out, pattern.view(), v);
   return env.copy(out);
}

int32_t dateFromText(StringView text, StringView pattern) {
   return toDate(text.view(), pattern.view());
}
int64_t timestampFromText(StringView text, StringView pattern, KernelEnv& env) {
   return toTimestamp(text.view(), pattern.view(), formatOf(env));
}
std::optional<DecimalView> numberFromText(StringView text, StringView pattern, KernelEnv& env) {
   if (pattern.empty()) return std::nullopt;
   return DecimalView(toNumber(text.view(), pattern.view(), env.strings));
}

StringView timeOfDay(KernelEnv& env) {
   std::string text;
   formatTimestampTz(text, "Dy Mon DD HH24:MI:SS.US YYYY TZ", env.context.requireSession("timeofday").clock(),
                     formatOf(env));
   return env.copy(text);
}

} // namespace

void registerFormatting() {
   addKernel<timestampToChar>("timestamp_to_char");
   addKernel<timestampTzToChar>("timestamptz_to_char");
   addKernel<intervalToChar>("interval_to_char");
   addKernel<numberToChar<DecimalView, formatDecimal>>("numeric_to_char");
   addKernel<numberToChar<int32_t, formatInteger>>("int4_to_char");
   addKernel<numberToChar<int64_t, formatInteger>>("int8_to_char");
   addKernel<numberToChar<float, formatFloat>>("float4_to_char");
   addKernel<numberToChar<double, formatDouble>>("float8_to_char");
   addKernel<dateFromText>("to_date");
   addKernel<timestampFromText>("to_timestamp");
   addKernel<numberFromText>("numeric_to_number");
   addKernel<timeOfDay>("timeofday");
}

} // namespace ouzel::executor
