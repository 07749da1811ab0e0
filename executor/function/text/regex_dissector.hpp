#pragma once
#include <map>
#include <re2/re2.h>

#include "executor/function/text/regex.hpp"
#include "executor/function/text/regex_structure.hpp"

namespace ouzel::executor {

/// Compile an expression in RE2's syntax. Throws 2201B if it is too large.
std::unique_ptr<RE2> compileRe2(const std::string& pattern, bool longest);

inline re2::StringPiece piece(std::string_view text) {
   return {text.data(), text.size()};
}

/// Finds the captures within a match of known extent, as PostgreSQL's engine (Henry Spencer's) does. A sequence gives
/// its first part as much (or as little) text as that part prefers. An alternation takes the first branch that fits. A
/// repetition captures its last round. RE2 decides whether a part of the expression matches a part of the text.
class RegexDissector {
public:
   /// Set spans[1..] within spans[0]. Where the groups lie is for `root` to say, the same one in all calls.
   void dissect(const RegexDissection& root, std::string_view text, std::vector<RegexSpan>& spans);

private:
   RE2& engineOf(const RegexPart& part);
   bool fits(const RegexPart& part, size_t begin, size_t end);
   /// The end of the longest match of the part that begins at `begin`.
   size_t longest(const RegexPart& part, size_t begin, size_t end);
   void node(const RegexDissection& n, size_t begin, size_t end);
   void concat(const RegexDissection& n, size_t begin, size_t end);
   void iterate(const RegexDissection& n, size_t begin, size_t end);
   size_t split(const RegexDissection& n, size_t child, size_t begin, size_t end);
   template <typename IsSplit>
   bool trySplits(size_t begin, size_t end, bool shortestFirst, IsSplit&& isSplit);
   /// Look for a cancelled statement now and then; `bytes` is the work since the last call.
   void tick(size_t bytes);

   std::map<std::tuple<const RegexNode*, RegexPart::Kind, size_t, size_t>, std::unique_ptr<RE2>> engines_;
   std::string_view text_;
   std::vector<RegexSpan>* spans_ = nullptr;
   uint64_t bytesTested_ = 0; ///< since the last look for a cancelled statement
};

} // namespace ouzel::executor
