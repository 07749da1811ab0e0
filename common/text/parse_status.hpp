#pragma once
#include <cstdint>

namespace ouzel {

/// The result of a parser that does not throw.
enum class ParseStatus : uint8_t {
   Ok,
   Malformed,  ///< not of the type's syntax
   OutOfRange, ///< well formed, but no value of the type
};

} // namespace ouzel
