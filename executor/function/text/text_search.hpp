#pragma once
#include <string_view>

namespace ouzel::executor {

/// Position of the first occurrence of `needle`; npos if there is none; 0 for an empty needle. Vectorised: tests 16 or
/// 32 positions at a time.
size_t findBytes(std::string_view haystack, std::string_view needle);

} // namespace ouzel::executor
