#pragma once

// One registration function per family file; registerFamilies() (families.cpp) calls each of them once.

namespace ouzel::executor {

void registerFamilies();

void registerArray();
void registerOidVector();
void registerArrayAssign();
void registerArrayKey();
void registerBoolean();
void registerBytes();
void registerEncodings();
void registerCatalogFunctions();
void registerCollationKey();
void registerComparison();
void registerDateTime();
void registerDateTimeCasts();
void registerDateTimeFields();
void registerFloating();
void registerFormatting();
void registerInteger();
void registerJsonAccess();
void registerJsonBuild();
void registerJsonbAccess();
void registerJsonbCompare();
void registerJsonbModify();
void registerJsonPath();
void registerJsonPopulate();
void registerLike();
void registerMath();
void registerNumberCasts();
void registerNumeric();
void registerQuotientComparisons();
void registerMultirange();
void registerRange();
void registerRegex();
void registerPrograms();
void registerForeignData();
void registerLargeObject();
void registerRoutine();
void registerRow();
void registerRowImage();
void registerSample();
void registerScaledNumeric();
void registerSend();
void registerSequence();
void registerSpread();
void registerIndexProperties();
void registerPartitionFunctions();
void registerSizes();
void registerSystem();
void registerServerFiles();
void registerStatistics();
void registerLocks();
void registerText();
void registerTextCase();
void registerTextFormat();
void registerUnicodeEscapes();
void registerXmlBuild();
void registerXmlMapping();
void registerXmlPath();

} // namespace ouzel::executor
