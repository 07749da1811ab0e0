#pragma once
#include <string>
#include <string_view>

namespace ouzel::executor {

/// How a word sounds, up to four sounds long: as it is said in English, and as somebody might say it who takes it for
/// a foreign one.
struct DoubleMetaphone {
   std::string primary, alternate;
};

/// Lawrence Philips' Double Metaphone. '0' stands for "th", 'X' for "sh".
DoubleMetaphone doubleMetaphone(std::string_view word);

} // namespace ouzel::executor
