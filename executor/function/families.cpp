#include "executor/function/families.hpp"

namespace ouzel::executor {

void registerFamilies() {
   registerArray();
   registerArrayAssign();
   registerArrayKey();
   registerBoolean();
   registerBytes();
   registerCatalogFunctions();
   registerComparison();
   registerDateTime();
   registerDateTimeCasts();
   registerDateTimeFields();
   registerFloating();
   registerFormatting();
   registerInteger();
   registerJsonAccess();
   registerJsonBuild();
   registerJsonbAccess();
   registerJsonbCompare();
   registerJsonbModify();
   registerJsonPath();
   registerJsonPopulate();
   registerLike();
   registerMath();
   registerNumberCasts();
   registerNumeric();
   registerRegex();
   registerRow();
   registerScaledNumeric();
   registerSend();
   registerSequence();
   registerSpread();
   registerSystem();
   registerLocks();
   registerText();
   registerTextCase();
   registerTextFormat();
}

} // namespace ouzel::executor
