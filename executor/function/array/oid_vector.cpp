#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/kernel/array_order.hpp"

// Comparison of oidvectors: shorter ones come first, and then their elements decide.

namespace ouzel::executor {

namespace {

int32_t compare(const StringView& a, const StringView& b) {
   const ArrayView left(a.view()), right(b.view());
   if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
   return compareArrays(left, right);
}
bool isEqual(const StringView& a, const StringView& b) {
   return compare(a, b) == 0;
}
bool isNotEqual(const StringView& a, const StringView& b) {
   return compare(a, b) != 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return compare(a, b) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return compare(a, b) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return compare(a, b) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return compare(a, b) >= 0;
}

} // namespace

void registerOidVector() {
   addKernel<isEqual>("oidvectoreq");
   addKernel<isNotEqual>("oidvectorne");
   addKernel<isLess>("oidvectorlt");
   addKernel<isLessOrEqual>("oidvectorle");
   addKernel<isGreater>("oidvectorgt");
   addKernel<isGreaterOrEqual>("oidvectorge");
   addKernel<compare>("btoidvectorcmp");
}

} // namespace ouzel::executor
