#pragma once
#include <vector>

#include "executor/function/text/regex.hpp"

namespace ouzel::executor {

/// Gives one match after the other, as regexp_matches does. After an empty match the search goes on one character
/// later.
class RegexMatches {
public:
   /// Search begins at byte `start`.
   RegexMatches(const Regex& regex, std::string_view text, size_t start = 0)
      : regex_(regex), text_(text), searchFrom_(start) {}
   /// Find the next match. False: there is none.
   bool next(std::vector<RegexSpan>& spans, bool withCaptures);

private:
   const Regex& regex_;
   std::string_view text_;
   size_t searchFrom_;
};

/// The parts of the text between matches, as in regexp_split_to_array. Empty matches at the ends of the text or right
/// after another match do not split.
std::vector<std::string_view> splitByRegex(const Regex& regex, std::string_view text);
/// The captures of a match as a text[] value; the whole match if the expression has no captures.
std::string captureArray(const Regex& regex, std::string_view text, const std::vector<RegexSpan>& spans);

} // namespace ouzel::executor
