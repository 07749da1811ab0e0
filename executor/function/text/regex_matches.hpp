#pragma once
#include <optional>
#include <vector>

#include "common/memory/arena.hpp"
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
   /// Where the next search begins.
   size_t position() const { return searchFrom_; }

private:
   const Regex& regex_;
   std::string_view text_;
   size_t searchFrom_;
};

/// The next part of the text between matches, as in regexp_split_to_array: the one from `begin` to the next match,
/// which must be one of `matches`. `begin` moves to the part after it. None: the part from `begin` on is the last.
/// Empty matches at the ends of the text or right after another match do not split.
std::optional<std::string_view> nextPiece(RegexMatches& matches, std::string_view text, size_t& begin,
                                          std::vector<RegexSpan>& spans);
/// The captures of a match as a text[] value in `arena`; the whole match if the expression has no captures.
StringView captureArray(Arena& arena, const Regex& regex, std::string_view text, const std::vector<RegexSpan>& spans);

} // namespace ouzel::executor
