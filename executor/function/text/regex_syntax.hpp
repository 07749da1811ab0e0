#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// PostgreSQL's advanced regular expressions taken apart and written again in RE2's syntax. Constructs that RE2 has no
// equal for (back references, look-around) throw 0A000; malformed ones 2201B with PostgreSQL's words.

namespace ouzel::executor {

struct RegexFlags {
   bool ignoreCase = false;
   bool dotNewline = true;   ///< . and [^...] match a newline
   bool lineAnchors = false; ///< ^ and $ match at lines
   bool expanded = false;    ///< x: white space and comments are ignored
   bool literal = false;     ///< q: no metacharacters
};

/// Sets what one letter of PostgreSQL's options asks for ('g' is not one of a pattern). False: there is no such option;
/// 0A000 for basic regular expressions.
bool applyRegexOption(RegexFlags& flags, char option);

/// One node; a tree without sharing.
struct RegexNode {
   enum class Kind : uint8_t {
      Text,     ///< `text` is RE2 syntax for exactly one atom (or an anchor, or nothing)
      Group,    ///< capturing if `isCapture`; children[0]
      Sequence, ///< children in a row
      Choice,   ///< children are alternatives
      Repeat,   ///< children[0] from `min` to `max` (-1: any number) times
   };
   Kind kind = Kind::Text;
   std::string text;
   std::vector<std::unique_ptr<RegexNode>> children;
   bool isCapture = false;
   uint32_t capture = 0;     ///< of a capturing group: its number, from 1
   bool hasCaptures = false; ///< in this node or below
   int32_t min = 0, max = 0;
   bool isLazy = false;
};

/// What a whole expression prefers, by PostgreSQL's rules: its first quantified atom decides.
enum class RegexPreference : uint8_t { None, Longest, Shortest };

struct RegexSyntax {
   std::unique_ptr<RegexNode> root;
   RegexFlags flags;
   uint32_t captures = 0;
   RegexPreference preference = RegexPreference::None;
   /// Nothing lazy, no alternation, no repeated captures: then leftmost-first captures are PostgreSQL's.
   bool isPlain = true;
};

RegexSyntax parseRegex(std::string_view pattern, RegexFlags flags);

/// RE2 syntax of a tree; every quantifier greedy, or every one lazy.
void writeRe2(const RegexNode& node, bool isLazy, std::string& out);
/// What an expression or a part of one prefers.
RegexPreference preferenceOf(const RegexNode& node);

} // namespace ouzel::executor
