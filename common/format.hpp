#pragma once
// Text formatting: std::format where the library has it, else fmt. No other file knows which. Include in .cpp files
// only.
#if __has_include(<format>)
#include <format>
namespace ouzel {
using std::format;
}
#else
#include <fmt/format.h>
namespace ouzel {
using fmt::format;
}
#endif
