#pragma once
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// The syntax tree of a regular expression, and how it is written for RE2.

namespace ouzel::executor {

/// How many characters an expression may match.
struct RegexWidth {
   static constexpr uint32_t unbounded = UINT32_MAX;
   uint32_t min = 0, max = 0;
   bool isFixed() const { return min == max; }
   RegexWidth operator+(const RegexWidth& other) const;
   RegexWidth operator|(const RegexWidth& other) const { return {std::min(min, other.min), std::max(max, other.max)}; }
   RegexWidth repeated(int32_t from, int32_t to) const;
};

/// Characters that a match may begin with: the ASCII ones, and the bit 128 for all others.
using RegexFirst = std::bitset<129>;

/// A node of the syntax tree.
struct RegexNode {
   enum class Kind : uint8_t {
      Text,     ///< `text` is RE2 syntax for exactly one atom (or an anchor, or nothing)
      Group,    ///< capturing if `isCapture`; children[0]
      Sequence, ///< children in a row
      Choice,   ///< children are alternatives
      Repeat,   ///< children[0] from `min` to `max` (-1: any number) times
      // What RE2 does not know:
      BackReference, ///< the text that group `capture` has matched
      Look,          ///< whether children[0] matches ahead, or behind; it matches no characters
      WordStart,     ///< \m
      WordEnd,       ///< \M
   };
   static constexpr const char* anyCharacter = "(?s:.)"; ///< of a Text
   static constexpr const char* startOfText = "\\A";
   static constexpr const char* endOfText = "\\z";
   Kind kind = Kind::Text;
   std::string text;
   std::vector<std::unique_ptr<RegexNode>> children;
   bool isCapture = false;
   bool isLazy = false;
   bool isExact = false;                       ///< {m}, which has no preference of its own
   bool looksAhead = false, isNegated = false; ///< of a Look
   uint32_t capture = 0;                       ///< number of a capturing group, from 1
   int32_t min = 0, max = 0;
   RegexWidth width;
   RegexFirst first;
   bool isExactFirst = false; ///< of a Text: it matches one character of `first`, whose bit 128 stands for all others
};

/// Which quantifiers are written as lazy ones.
enum class RegexLaziness : uint8_t { None, All, AsGiven };

/// Append a tree in RE2's syntax.
void writeRe2(const RegexNode& node, RegexLaziness laziness, bool withCaptures, std::string& out);

} // namespace ouzel::executor
