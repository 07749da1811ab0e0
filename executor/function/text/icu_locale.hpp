#pragma once
#include <string>
#include <string_view>
#include <unicode/locid.h>

namespace ouzel::executor {

/// The locale that PostgreSQL means by the name: a BCP 47 tag ("de-u-co-phonebk") or a name of ICU
/// ("de@collation=phonebook").
inline icu::Locale icuLocale(std::string_view name) {
   if (name.empty()) return icu::Locale::getRoot();
   const std::string text(name);
   UErrorCode status = U_ZERO_ERROR;
   if (text.find('@') == std::string::npos) {
      icu::Locale locale = icu::Locale::forLanguageTag(text, status);
      if (U_SUCCESS(status) && !locale.isBogus()) return locale;
   }
   return icu::Locale(text.c_str());
}

} // namespace ouzel::executor
