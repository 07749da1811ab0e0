#pragma once
#include <string_view>

namespace ouzel::catalog {

/// The compiled-in text of one catalog ("pg_type"); empty for an unknown name.
std::string_view builtinText(std::string_view catalog);
/// The catalog's name as a view that lives as long as the process; empty for an unknown name.
std::string_view builtinName(std::string_view catalog);

} // namespace ouzel::catalog
