#pragma once
#include <string_view>

namespace ouzel::catalog {

/// The compiled-in text of one catalog ("pg_type"), empty if there is none of that name.
std::string_view builtinText(std::string_view catalog);
/// The same name as a view that lives as long as the process; empty if there is none.
std::string_view builtinName(std::string_view catalog);

} // namespace ouzel::catalog
