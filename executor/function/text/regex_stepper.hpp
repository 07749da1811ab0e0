#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/function/text/regex.hpp"
#include "executor/function/text/regex_tree.hpp"

namespace ouzel::executor {

/// Matches simple expressions at the start of a text without an automaton: a row of literals, characters of a class,
/// repetitions of one character, optional groups, captures, and an end. Choices are tried as leftmost-first search
/// does. A repetition that the next character ends is never tried shorter. Thread-safe.
class RegexStepper {
public:
   /// A stepper for the first `count` children of a sequence that begins with ^. Nothing: they are not simple.
   static std::optional<RegexStepper> compile(const RegexNode& sequence, size_t count);

   enum class Outcome : uint8_t {
      Match,
      NoMatch,
      TooManyTries, ///< another engine has to say
   };
   /// Match from the start of the text. Sets spans[0], and spans[1..] of the captures that took part, as far as `spans`
   /// has room.
   Outcome match(std::string_view text, std::span<RegexSpan> spans) const;

private:
   struct Step {
      enum class Kind : uint8_t { Literal, Character, Repeat, Option, Begin, End, EndOfText };
      Kind kind = Kind::Literal;
      bool isLazy = false;
      bool isPossessive = false; ///< Repeat: what follows never begins with a character of the class
      bool takesAll = false;     ///< Repeat: the class has every character
      uint32_t number = 0;       ///< Character, Repeat: of the class; Begin, End: of the capture
      uint32_t min = 0, max = 0; ///< Repeat: times, UINT32_MAX without a limit
      uint32_t next = 0;         ///< Option: the step behind the group
      std::string literal;
      uint64_t word = 0, wordMask = 0; ///< a literal of eight bytes or less, and ones for its bytes

      bool isAt(std::string_view text, size_t at) const;
   };
   /// By first byte of a character, whether the class has the character.
   using Class = std::array<bool, 256>;
   class Compiler;
   class Run;

   std::vector<Step> steps_;
   std::vector<Class> classes_;
};

} // namespace ouzel::executor
