#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions of boolean. AND, OR, NOT and comparisons are expression nodes, not functions.

namespace ouzel::executor {

namespace {

bool both(bool a, bool b) {
   return a && b;
}
bool either(bool a, bool b) {
   return a || b;
}
StringView boolText(bool v) {
   return v ? StringView("true", 4) : StringView("false", 5);
}
int32_t boolToInt(bool v) {
   return v ? 1 : 0;
}
bool intToBool(int32_t v) {
   return v != 0;
}

} // namespace

void registerBoolean() {
   addKernel<both>("booland_statefunc", totalKernel);
   addKernel<either>("boolor_statefunc", totalKernel);
   addKernel<boolText>("booltext", totalKernel);
   addKernel<boolToInt>("bool_int4", totalKernel);
   addKernel<intToBool>("int4_bool", totalKernel);
}

} // namespace ouzel::executor
