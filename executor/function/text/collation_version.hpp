#pragma once
#include <string>
#include <string_view>

namespace ouzel::executor {

/// The version of the order that ICU gives the texts of a locale. Throws XX000 if ICU has no collator for it.
std::string collationVersion(std::string_view icuLocale);

} // namespace ouzel::executor
