#pragma once
#include <string_view>

// A std::source_location as reports show it.

namespace ouzel {

/// "run.cpp" of "/home/ouzel/engine/run.cpp".
constexpr std::string_view baseName(std::string_view path) {
   return path.substr(path.rfind('/') + 1);
}

/// "run" of "void ouzel::Name::run(int)", also within a lambda of it.
constexpr std::string_view functionName(std::string_view signature) {
   const std::string_view name = signature.substr(0, signature.find('('));
   const size_t begin = name.find_last_of(" :*&");
   return begin == std::string_view::npos ? name : name.substr(begin + 1);
}

} // namespace ouzel
