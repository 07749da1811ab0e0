#include "common/number/decimal.hpp"
#include "common/text/ascii.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Sizes in units: pg_size_pretty() and pg_size_bytes().

namespace ouzel::executor {

namespace {

constexpr std::string_view units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
constexpr int lastUnit = 5;

// A unit is used for values below 10240 of that unit, with halves rounded up, as in PostgreSQL: above bytes, a value
// keeps an extra bit, and a unit's limit is 20 * 1024 - 1 halves of it.
constexpr int64_t bytesMax = 10 * 1024, halvesMax = 20 * 1024 - 1;

StringView sizePretty(int64_t size, KernelEnv& env) {
   const bool negative = size < 0;
   uint64_t v = negative ? static_cast<uint64_t>(-(size + 1)) + 1 : static_cast<uint64_t>(size);
   int unit = 0;
   while (unit < lastUnit && v >= static_cast<uint64_t>(unit > 0 ? halvesMax : bytesMax)) {
      v = unit > 0 ? v >> 10 : v >> 9;
      ++unit;
   }
   if (unit > 0) v = (v + 1) / 2;
   return env.copy((negative ? "-" : "") + std::to_string(v) + " " + std::string(units[unit]));
}

StringView sizePrettyNumeric(DecimalView size, KernelEnv& env) {
   Arena& arena = env.strings;
   StringView v = size.bytes;
   int unit = 0;
   while (unit < lastUnit &&
          decimal::compare(decimal::absolute(v, arena), decimal::fromInt64(unit > 0 ? halvesMax : bytesMax)) >= 0) {
      v = decimal::divideTruncated(v, decimal::fromInt64(unit > 0 ? 1024 : 512), arena);
      ++unit;
   }
   if (unit > 0) {
      const StringView one = decimal::fromInt64(1);
      v = decimal::sign(v) < 0 ? decimal::subtract(v, one, arena) : decimal::add(v, one, arena);
      v = decimal::divideTruncated(v, decimal::fromInt64(2), arena);
   }
   return env.copy(decimal::toString(v) + " " + std::string(units[unit]));
}

bool isSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}
bool isDigit(char c) {
   return c >= '0' && c <= '9';
}

/// The number at the start of a size, without blanks before it: sign, digits, point and exponent. Empty: there is none.
std::string_view numberAt(std::string_view text) {
   size_t end = 0;
   const auto digits = [&] {
      const size_t start = end;
      while (end < text.size() && isDigit(text[end]))
         ++end;
      return end - start;
   };
   if (!text.empty() && (text[0] == '-' || text[0] == '+')) ++end;
   size_t count = digits();
   if (end < text.size() && text[end] == '.') {
      ++end;
      count += digits();
   }
   if (count == 0) return {};
   if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
      const size_t mark = end++;
      if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
      if (digits() == 0) end = mark; // the letter begins a unit
   }
   return text.substr(0, end);
}

/// Bits of the unit with this name, in any case; -1: there is none.
int bitsOf(std::string_view name) {
   for (int unit = 0; unit <= lastUnit; ++unit)
      if (lowerCase(name) == lowerCase(units[unit])) return 10 * unit;
   return -1;
}

int64_t sizeBytes(const StringView& size, KernelEnv& env) {
   std::string_view rest = size.view();
   const auto invalid = [&size] {
      return SqlError(sqlstate::invalidParameterValue, "invalid size: \"" + std::string(size.view()) + "\"");
   };
   while (!rest.empty() && isSpace(rest.front()))
      rest.remove_prefix(1);
   const std::string_view number = numberAt(rest);
   if (number.empty()) throw invalid();
   rest.remove_prefix(number.size());
   StringView bytes = decimal::parse(number, env.strings);
   while (!rest.empty() && isSpace(rest.front()))
      rest.remove_prefix(1);
   while (!rest.empty() && isSpace(rest.back()))
      rest.remove_suffix(1);
   const int bits = rest.empty() ? 0 : bitsOf(rest);
   if (bits < 0)
      throw invalid()
          .detail("Invalid size unit: \"" + std::string(rest) + "\".")
          .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".");
   if (bits > 0) bytes = decimal::multiply(bytes, decimal::fromInt64(int64_t{1} << bits), env.strings);
   return decimal::toInt8(bytes);
}

} // namespace

void registerSizes() {
   addKernel<sizePretty>("pg_size_pretty");
   addKernel<sizePrettyNumeric>("pg_size_pretty_numeric");
   addKernel<sizeBytes>("pg_size_bytes");
}

} // namespace ouzel::executor
