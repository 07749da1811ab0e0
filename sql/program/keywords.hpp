#pragma once
#include <string_view>

namespace ouzel::sql::program {

/// Words that are never names of variables, unless quoted.
bool isReservedWord(std::string_view lowerCase);
/// Words that are keywords where no variable has their name.
bool isUnreservedWord(std::string_view lowerCase);

} // namespace ouzel::sql::program
