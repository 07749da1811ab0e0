#pragma once
#include <cstdint>

#include "common/json/jsonpath.hpp"
#include "executor/function/text/regex_syntax.hpp"

namespace ouzel::executor {

/// The flags of a like_regex (json::PathRegexFlags) as those of our regular expressions.
inline RegexFlags pathPatternFlags(uint8_t flags) {
   RegexFlags result;
   result.ignoreCase = (flags & json::regexIgnoreCase) != 0;
   result.literal = (flags & json::regexLiteral) != 0;
   if (result.literal) return result; // XQuery: the others mean nothing then
   result.dotNewline = (flags & json::regexDotAll) != 0;
   result.lineAnchors = (flags & json::regexMultiLine) != 0;
   return result;
}

} // namespace ouzel::executor
