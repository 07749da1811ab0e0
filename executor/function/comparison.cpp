#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/kernel/array_order.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/kernel/compare_operators.hpp"

// The functions of comparison operators: int48eq, texteq, numeric_lt, btint4cmp, ... Used when they are called by name
// or through ANY. For a known operator the binder makes a Compare node instead.

namespace ouzel::executor {

namespace {

template <typename T>
bool less(const T& a, const T& b) {
   if constexpr (std::is_same_v<T, StringView>) {
      return a.compare(b) < 0;
   } else if constexpr (std::is_same_v<T, DecimalView>) {
      return decimal::compare(a, b) < 0;
   } else if constexpr (std::is_same_v<T, Interval>) {
      return intervalSpan(a) < intervalSpan(b);
   } else if constexpr (std::is_floating_point_v<T>) {
      return FloatCompare<T>::less(a, b);
   } else {
      return a < b;
   }
}
template <typename T>
bool equal(const T& a, const T& b) {
   if constexpr (std::is_same_v<T, DecimalView>) {
      return decimal::equal(a, b);
   } else if constexpr (std::is_same_v<T, Interval>) {
      return intervalSpan(a) == intervalSpan(b);
   } else if constexpr (std::is_floating_point_v<T>) {
      return FloatCompare<T>::equal(a, b);
   } else {
      return a == b;
   }
}

/// The type in which two operands are compared.
template <typename A, typename B>
using Wider = std::conditional_t<(sizeof(A) > sizeof(B)), A, B>;

template <typename A, typename B>
struct Pair {
   using T = Wider<A, B>;
   static bool eq(A a, B b) { return equal<T>(static_cast<T>(a), static_cast<T>(b)); }
   static bool ne(A a, B b) { return !eq(a, b); }
   static bool lt(A a, B b) { return less<T>(static_cast<T>(a), static_cast<T>(b)); }
   static bool ge(A a, B b) { return !lt(a, b); }
   static bool gt(A a, B b) { return less<T>(static_cast<T>(b), static_cast<T>(a)); }
   static bool le(A a, B b) { return !gt(a, b); }
   static int32_t cmp(A a, B b) { return static_cast<int32_t>(gt(a, b)) - static_cast<int32_t>(lt(a, b)); }
};

/// Text without the blanks at its end, which comparisons of bpchar ignore. bpchar(n) has none.
struct Bpchar {
   static int compare(const StringView& a, const StringView& b) { return a == b ? 0 : compareBpchar(a, b); }
   static bool eq(StringView a, StringView b) { return compare(a, b) == 0; }
   static bool ne(StringView a, StringView b) { return compare(a, b) != 0; }
   static bool lt(StringView a, StringView b) { return compare(a, b) < 0; }
   static bool le(StringView a, StringView b) { return compare(a, b) <= 0; }
   static bool gt(StringView a, StringView b) { return compare(a, b) > 0; }
   static bool ge(StringView a, StringView b) { return compare(a, b) >= 0; }
   static int32_t cmp(StringView a, StringView b) {
      const int order = compare(a, b);
      return static_cast<int32_t>(order > 0) - static_cast<int32_t>(order < 0);
   }
   static StringView larger(StringView a, StringView b) { return ge(a, b) ? a : b; }
   static StringView smaller(StringView a, StringView b) { return le(a, b) ? a : b; }
};

template <typename A, typename B = A>
void addSix(const std::string& prefix) {
   addKernel<Pair<A, B>::eq>(prefix + "eq", totalKernel);
   addKernel<Pair<A, B>::ne>(prefix + "ne", totalKernel);
   addKernel<Pair<A, B>::lt>(prefix + "lt", totalKernel);
   addKernel<Pair<A, B>::le>(prefix + "le", totalKernel);
   addKernel<Pair<A, B>::gt>(prefix + "gt", totalKernel);
   addKernel<Pair<A, B>::ge>(prefix + "ge", totalKernel);
}
template <typename A, typename B = A>
void addCmp(std::string_view name) {
   addKernel<Pair<A, B>::cmp>(name, totalKernel);
}
template <typename T>
T larger(T a, T b) {
   return less<T>(b, a) ? a : b;
}
template <typename T>
T smaller(T a, T b) {
   return less<T>(a, b) ? a : b;
}
template <typename T>
void addExtremes(const std::string& prefix) {
   addKernel<larger<T>>(prefix + "larger", totalKernel);
   addKernel<smaller<T>>(prefix + "smaller", totalKernel);
}

void addNumbers() {
   addSix<int16_t>("int2");
   addSix<int32_t>("int4");
   addSix<int64_t>("int8");
   addSix<int16_t, int32_t>("int24");
   addSix<int32_t, int16_t>("int42");
   addSix<int16_t, int64_t>("int28");
   addSix<int64_t, int16_t>("int82");
   addSix<int32_t, int64_t>("int48");
   addSix<int64_t, int32_t>("int84");
   addSix<float>("float4");
   addSix<double>("float8");
   addSix<float, double>("float48");
   addSix<double, float>("float84");
   addSix<DecimalView>("numeric_");
   addSix<bool>("bool");
   addSix<int64_t>("oid");
   addSix<int64_t>("cash_");
   addSix<int64_t>("enum_"); // codes are in the order of the labels
   addCmp<int64_t>("enum_cmp");
   addExtremes<int64_t>("enum_");
   addSix<int64_t>("tid");
   addCmp<int64_t>("bttidcmp");
   for (const char* prefix : {"macaddr_", "macaddr8_", "pg_lsn_"}) {
      addSix<int64_t>(prefix);
      addCmp<int64_t>(prefix + std::string("cmp"));
   }
   for (const char* prefix : {"bit", "network_"}) { // their bytes are in their order
      addSix<StringView>(prefix);
      addCmp<StringView>(prefix + std::string("cmp"));
   }
   addExtremes<StringView>("network_");
   addKernel<Pair<int64_t, int64_t>::eq>("xideq", totalKernel);
   addKernel<Pair<int64_t, int64_t>::ne>("xidneq", totalKernel);
   addKernel<Pair<int64_t, int32_t>::eq>("xideq", totalKernel);
   addKernel<Pair<int64_t, int32_t>::ne>("xidneq", totalKernel);
   addKernel<Pair<int64_t, int64_t>::eq>("cideq", totalKernel);
   addSix<int64_t>("xid8");
   addCmp<int64_t>("xid8cmp");
   addExtremes<int64_t>("xid8_");
   addCmp<int16_t>("btint2cmp");
   addCmp<int32_t>("btint4cmp");
   addCmp<int64_t>("btint8cmp");
   addCmp<int16_t, int32_t>("btint24cmp");
   addCmp<int32_t, int16_t>("btint42cmp");
   addCmp<int16_t, int64_t>("btint28cmp");
   addCmp<int64_t, int16_t>("btint82cmp");
   addCmp<int32_t, int64_t>("btint48cmp");
   addCmp<int64_t, int32_t>("btint84cmp");
   addCmp<float>("btfloat4cmp");
   addCmp<double>("btfloat8cmp");
   addCmp<bool>("btboolcmp");
   addCmp<int64_t>("btoidcmp");
   addCmp<DecimalView>("numeric_cmp");
   addExtremes<DecimalView>("numeric_");
}

void addBpchar() {
   addKernel<Bpchar::eq>("bpchareq", totalKernel);
   addKernel<Bpchar::ne>("bpcharne", totalKernel);
   addKernels<Bpchar::lt>({"bpcharlt", "bpchar_pattern_lt"}, totalKernel);
   addKernels<Bpchar::le>({"bpcharle", "bpchar_pattern_le"}, totalKernel);
   addKernels<Bpchar::gt>({"bpchargt", "bpchar_pattern_gt"}, totalKernel);
   addKernels<Bpchar::ge>({"bpcharge", "bpchar_pattern_ge"}, totalKernel);
   addKernel<Bpchar::cmp>("bpcharcmp", totalKernel);
   addKernel<Bpchar::larger>("bpchar_larger", totalKernel);
   addKernel<Bpchar::smaller>("bpchar_smaller", totalKernel);
}

void addStrings() {
   addKernel<Pair<StringView, StringView>::eq>("texteq", totalKernel);
   addKernel<Pair<StringView, StringView>::ne>("textne", totalKernel);
   addExtremes<StringView>("text_");
   for (const char* name : {"text_lt", "text_pattern_lt"})
      addKernel<Pair<StringView, StringView>::lt>(name, totalKernel);
   for (const char* name : {"text_le", "text_pattern_le"})
      addKernel<Pair<StringView, StringView>::le>(name, totalKernel);
   for (const char* name : {"text_gt", "text_pattern_gt"})
      addKernel<Pair<StringView, StringView>::gt>(name, totalKernel);
   for (const char* name : {"text_ge", "text_pattern_ge"})
      addKernel<Pair<StringView, StringView>::ge>(name, totalKernel);
   addKernel<Pair<StringView, StringView>::eq>("aclitem_eq", totalKernel);
   addSix<StringView>("name");
   addSix<StringView>("bytea");
   addSix<StringView>("char");
   addBpchar();
   for (const char* suffix : {"nametext", "textname"}) {
      const bool nameFirst = suffix[0] == 'n';
      const auto join = [&](const char* op) {
         return nameFirst ? std::string("name") + op + "text" : std::string("text") + op + "name";
      };
      addKernel<Pair<StringView, StringView>::eq>(join("eq"), totalKernel);
      addKernel<Pair<StringView, StringView>::ne>(join("ne"), totalKernel);
      addKernel<Pair<StringView, StringView>::lt>(join("lt"), totalKernel);
      addKernel<Pair<StringView, StringView>::le>(join("le"), totalKernel);
      addKernel<Pair<StringView, StringView>::gt>(join("gt"), totalKernel);
      addKernel<Pair<StringView, StringView>::ge>(join("ge"), totalKernel);
   }
   for (const char* name : {"bttextcmp", "btnamecmp", "byteacmp", "btcharcmp"})
      addCmp<StringView>(name);
}

void addTimes() {
   addSix<int32_t>("date_");
   addSix<int64_t>("time_");
   addSix<int64_t>("timestamp_");
   addSix<Interval>("interval_");
   addSix<int128>("uuid_");
   addCmp<int32_t>("date_cmp");
   addCmp<int64_t>("time_cmp");
   addCmp<int64_t>("timestamp_cmp");
   addCmp<Interval>("interval_cmp");
   addCmp<int128>("uuid_cmp");
   addExtremes<int32_t>("date_");
   addExtremes<int64_t>("time_");
   addExtremes<int64_t>("timestamp_");
   addExtremes<Interval>("interval_");
}

// ---- GREATEST and LEAST ----

/// Writes the extreme of the arguments that are not NULL; of equal ones the first.
template <bool greatest>
void chooseExtreme(const KernelCall& call, ResultVector& result) {
   const uint32_t width = physicalSize(result.type());
   const StringOrder keyed = keyedOrder(call.resultType);
   const ValueOrder order = valueOrder(result.type());
   auto* out = static_cast<std::byte*>(result.data());
   forEachRow(call.rows, [&](uint32_t row) {
      const std::byte* best = nullptr;
      for (const Vector& arg : call.args) {
         DCHECK(arg.type == result.type());
         if (arg.isNull(row)) continue;
         const auto* value = static_cast<const std::byte*>(arg.data) + size_t{arg.positionOf(row)} * width;
         const auto compare = [&] {
            return keyed
                       ? keyed(*reinterpret_cast<const StringView*>(value), *reinterpret_cast<const StringView*>(best))
                       : order(value, best);
         };
         if (!best || (greatest ? compare() > 0 : compare() < 0)) best = value;
      }
      if (best)
         std::memcpy(out + size_t{row} * width, best, width);
      else
         result.setNull(row);
   });
}

} // namespace

void registerComparison() {
   registerKernel("ouzel_greatest", anyArguments, {chooseExtreme<true>, false, true});
   registerKernel("ouzel_least", anyArguments, {chooseExtreme<false>, false, true});
   addNumbers();
   addStrings();
   addTimes();
}

} // namespace ouzel::executor
