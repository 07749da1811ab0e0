#include "executor/function/families.hpp"

namespace ouzel::executor {

void registerFamilies() {
   registerBoolean();
   registerComparison();
   registerFloating();
   registerInteger();
   registerScaledNumeric();
}

} // namespace ouzel::executor
