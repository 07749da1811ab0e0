#include "common/base_type/citext.hpp"

#include "common/text/ascii.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/extension/comparisons.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The extension citext: comparisons that ignore the case of letters. Expressions compare lower() of the operands
// instead (sql/algebra/caseless.hpp); the kernels here are for calls by name, and for min and max.

namespace ouzel::executor {

namespace {

int32_t compare(const StringView& a, const StringView& b) {
   const int order = lowerCase(a.view()).compare(lowerCase(b.view()));
   return order < 0 ? -1 : order > 0 ? 1 : 0;
}
using Ordered = Comparisons<compare>;
StringView smaller(const StringView& a, const StringView& b, KernelEnv& env) {
   return env.copy(Ordered::isLess(a, b) ? a.view() : b.view());
}
StringView larger(const StringView& a, const StringView& b, KernelEnv& env) {
   return env.copy(Ordered::isGreater(a, b) ? a.view() : b.view());
}

/// ouzel_citext_key(text): what comparisons compare.
StringView key(const StringView& text, KernelEnv& env) {
   return env.copy(lowerCase(text.view()));
}

/// ouzel_citext_keys(citext[]): the elements in small letters, as text[].
StringView keys(const StringView& bytes, KernelEnv& env) {
   const ArrayView elements({bytes.data(), bytes.size()});
   ArrayBuilder array(env.strings, oid::text);
   for (ArrayView::Cursor element(elements); element.next();)
      element.isNull() ? array.addNull() : array.addText(lowerCase(element.as<StringView>().view()));
   return elements.size() == 0 ? array.finish() : array.finish(elements.dimensions());
}

} // namespace

void registerCitext() {
   addKernels<compare>({"citext/citext_cmp", "citext/citext_pattern_cmp"});
   addKernels<Ordered::isLess>({"citext/citext_lt", "citext/citext_pattern_lt"});
   addKernels<Ordered::isAtMost>({"citext/citext_le", "citext/citext_pattern_le"});
   addKernel<Ordered::isEqual>("citext/citext_eq");
   addKernel<Ordered::isDifferent>("citext/citext_ne");
   addKernels<Ordered::isAtLeast>({"citext/citext_ge", "citext/citext_pattern_ge"});
   addKernels<Ordered::isGreater>({"citext/citext_gt", "citext/citext_pattern_gt"});
   addKernel<smaller>("citext/citext_smaller");
   addKernel<larger>("citext/citext_larger");
   addKernel<key>("ouzel_citext_key", totalKernel);
   addKernel<keys>("ouzel_citext_keys");
}

} // namespace ouzel::executor
