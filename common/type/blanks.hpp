#pragma once
#include <algorithm>

#include "common/text/utf8.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/sql_type.hpp"

// The blanks at the end of character(n) and bpchar, which comparisons ignore and clients see. bpchar(n) lies in memory
// and in tables without them: n tells the output how many to add. A bpchar without a length carries its own.

namespace ouzel {

/// True for bpchar without a length, whose values carry their blanks.
constexpr bool keepsBlanks(const SqlType& type) {
   return type.oid == oid::bpchar && type.typmod < 0;
}

/// The order of bpchar: negative, zero or positive.
inline int compareWithoutBlanks(std::string_view a, std::string_view b) {
   return trimTrailingBlanks(a).compare(trimTrailingBlanks(b));
}

/// Appends a bpchar with all its blanks.
inline void appendWithBlanks(std::string& out, std::string_view text, int32_t typmod) {
   out.append(text);
   const auto width = static_cast<uint32_t>(std::max(stringLengthLimit(typmod), 0));
   const uint32_t length = width == 0 ? 0 : characterCount(text);
   if (length < width) out.append(width - length, ' ');
}

} // namespace ouzel
