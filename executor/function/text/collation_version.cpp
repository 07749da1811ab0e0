#include "executor/function/text/collation_version.hpp"

#include <memory>
#include <unicode/coll.h>
#include <unicode/uversion.h>

#include "common/error/sql_error.hpp"
#include "executor/function/text/icu_locale.hpp"

namespace ouzel::executor {

std::string collationVersion(std::string_view name) {
   UErrorCode status = U_ZERO_ERROR;
   const std::unique_ptr<icu::Collator> collator(icu::Collator::createInstance(icuLocale(name), status));
   if (U_FAILURE(status) || !collator)
      throw SqlError(sqlstate::internalError,
                     "could not open collator for locale \"" + std::string(name) + "\": " + u_errorName(status));
   UVersionInfo version;
   collator->getVersion(version);
   char text[U_MAX_VERSION_STRING_LENGTH];
   u_versionToString(version, text);
   return text;
}

} // namespace ouzel::executor
