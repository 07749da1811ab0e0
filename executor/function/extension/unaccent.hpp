#pragma once
#include <string>
#include <string_view>

namespace ouzel::executor {

/// The text without accents, as the extension unaccent makes it.
std::string withoutAccents(std::string_view text);

} // namespace ouzel::executor
