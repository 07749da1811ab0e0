#pragma once
#include <vector>

#include "executor/function/text/regex.hpp"

namespace ouzel::executor {

/// Every match in turn, as regexp_matches and its kin step through a text: after an empty match one character on.
class RegexMatches {
public:
   /// Search begins at byte `start`.
   RegexMatches(const Regex& regex, std::string_view text, size_t start = 0)
      : regex_(regex), text_(text), searchFrom_(start) {}
   /// The next match; false: no more.
   bool next(std::vector<RegexSpan>& spans, bool withCaptures);

private:
   const Regex& regex_;
   std::string_view text_;
   size_t searchFrom_;
};

/// The pieces between matches, as regexp_split_to_array has them: empty matches at the ends or right after another
/// match do not split.
std::vector<std::string_view> splitByRegex(const Regex& regex, std::string_view text);
/// Captures of a match (or the whole match, if there are none) as a text[] value.
std::string captureArray(const Regex& regex, std::string_view text, const std::vector<RegexSpan>& spans);

} // namespace ouzel::executor
