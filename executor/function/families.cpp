#include "executor/function/families.hpp"

#include "executor/function/base_type_families.hpp"
#include "executor/function/extension_families.hpp"
#include "executor/function/text_search_families.hpp"

namespace ouzel::executor {

void registerFamilies() {
   registerArray();
   registerOidVector();
   registerArrayAssign();
   registerArrayKey();
   registerBitString();
   registerBoolean();
   registerBytes();
   registerEncodings();
   registerCatalogFunctions();
   registerCollationKey();
   registerComparison();
   registerDateTime();
   registerDateTimeCasts();
   registerDateTimeFields();
   registerEnum();
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
   registerMacAddress();
   registerMath();
   registerMoney();
   registerMultirange();
   registerNetworkAddress();
   registerNumberCasts();
   registerNumeric();
   registerQuotientComparisons();
   registerPgLsn();
   registerTid();
   registerHashFunctions();
   registerXidSnapshot();
   registerGeometry();
   registerShapes();
   registerRange();
   registerRegex();
   registerPrograms();
   registerForeignData();
   registerLargeObject();
   registerRoutine();
   registerRow();
   registerRowImage();
   registerSample();
   registerScaledNumeric();
   registerSend();
   registerSequence();
   registerSpread();
   registerIndexProperties();
   registerPartitionFunctions();
   registerSizes();
   registerSystem();
   registerServerFiles();
   registerStatistics();
   registerLocks();
   registerText();
   registerTextCase();
   registerTextFormat();
   registerUnicodeEscapes();
   registerTsHeadline();
   registerTsQuery();
   registerTsRank();
   registerTsText();
   registerTsVector();
   registerXmlBuild();
   registerXmlMapping();
   registerXmlPath();
   registerCitext();
   registerCube();
   registerFuzzystrmatch();
   registerHstore();
   registerHstoreConversions();
   registerIntarray();
   registerLtree();
   registerPgTrgm();
   registerPgcrypto();
   registerPgcryptoArmor();
   registerPgcryptoMessages();
   registerPgcryptoPasswords();
   registerUnaccent();
   registerUuidOssp();
   registerVector();
}

} // namespace ouzel::executor
