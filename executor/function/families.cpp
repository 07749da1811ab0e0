#include "executor/function/families.hpp"

namespace ouzel::executor {

void registerFamilies() {
   registerArray();
   registerBoolean();
   registerBytes();
   registerCatalogFunctions();
   registerComparison();
   registerFloating();
   registerInteger();
   registerLike();
   registerRegex();
   registerScaledNumeric();
   registerSystem();
   registerText();
   registerTextCase();
   registerTextFormat();
}

} // namespace ouzel::executor
