#pragma once
#include <string>

namespace ouzel::executor {

/// Throws `could not read file "x": Is a directory` and its like, with the state that says why.
[[noreturn]] void throwFileError(const char* action, const std::string& path, int error);

} // namespace ouzel::executor
