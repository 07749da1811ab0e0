#pragma once
#include <string_view>

#include "executor/function/text/regex_tree.hpp"

// Parses PostgreSQL's advanced regular expressions. Malformed expressions throw 2201B with PostgreSQL's messages.

namespace ouzel::executor {

struct RegexFlags {
   bool ignoreCase = false;
   bool dotNewline = true;   ///< . and [^...] match a newline
   bool lineAnchors = false; ///< ^ and $ match at lines
   bool expanded = false;    ///< x: white space and comments are ignored
   bool literal = false;     ///< q: no metacharacters
};

/// Sets the flag of a letter of PostgreSQL's options ('g' is not an option of a pattern). False: there is no such
/// option. Throws 0A000 for basic regular expressions.
bool applyRegexOption(RegexFlags& flags, char option);

struct RegexSyntax {
   std::unique_ptr<RegexNode> root;
   RegexFlags flags;
   uint32_t captures = 0;
   bool hasNonBoundary = false; ///< \Y
   bool isBeyondRe2 = false;    ///< has back references, look-around or edges of words: see RegexBacktracker
};

RegexSyntax parseRegex(std::string_view pattern, RegexFlags flags);

} // namespace ouzel::executor
