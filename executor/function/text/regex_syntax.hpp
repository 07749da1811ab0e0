#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Parses PostgreSQL's advanced regular expressions, and writes them in RE2's syntax. Constructs without an equivalent
// in RE2 (back references, look-around) throw 0A000. Malformed expressions throw 2201B with PostgreSQL's messages.

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

/// A node of the syntax tree.
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
   uint32_t capture = 0;     ///< number of a capturing group, from 1
   bool hasCaptures = false; ///< in this node or below
   int32_t min = 0, max = 0;
   bool isLazy = false;
};

/// Whether an expression prefers the longest or the shortest match. By PostgreSQL's rules its first quantified atom
/// decides.
enum class RegexPreference : uint8_t { None, Longest, Shortest };

struct RegexSyntax {
   std::unique_ptr<RegexNode> root;
   RegexFlags flags;
   uint32_t captures = 0;
   RegexPreference preference = RegexPreference::None;
   /// No lazy quantifier, no alternation, no repeated capture: leftmost-first captures are then those of PostgreSQL.
   bool isPlain = true;
};

RegexSyntax parseRegex(std::string_view pattern, RegexFlags flags);

/// Append a tree in RE2's syntax, with all quantifiers greedy, or, with `isLazy`, all lazy.
void writeRe2(const RegexNode& node, bool isLazy, std::string& out);
/// The preference of an expression, or of a part of one.
RegexPreference preferenceOf(const RegexNode& node);

} // namespace ouzel::executor
