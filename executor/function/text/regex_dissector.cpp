#include "executor/function/text/regex_dissector.hpp"

#include <functional>
#include <set>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "executor/function/text/utf8_text.hpp"

// RegexDissector. This file and regex.cpp are the ones that use RE2.

namespace ouzel::executor {

namespace {

using Kind = RegexDissection::Kind;

/// Bytes for a program and the states it makes while it matches. Few expressions need more than the usual.
constexpr int64_t usualBytes = 8 << 20, largeBytes = 64 << 20;

} // namespace

std::unique_ptr<RE2> compileRe2(const std::string& pattern, bool longest) {
   RE2::Options options(RE2::Quiet);
   options.set_longest_match(longest);
   options.set_max_mem(usualBytes);
   auto result = std::make_unique<RE2>(pattern, options);
   if (result->error_code() == RE2::ErrorPatternTooLarge) {
      checkInterrupted();
      options.set_max_mem(largeBytes);
      result = std::make_unique<RE2>(pattern, options);
   }
   if (!result->ok()) {
      if (result->error_code() == RE2::ErrorPatternTooLarge || result->error_code() == RE2::ErrorRepeatSize)
         throw SqlError(sqlstate::invalidRegularExpression,
                        "invalid regular expression: regular expression is too complex");
      throw SqlError(sqlstate::invalidRegularExpression, "invalid regular expression: " + result->error());
   }
   return result;
}

void RegexDissector::dissect(const RegexDissection& root, std::string_view text, std::vector<RegexSpan>& spans) {
   text_ = text;
   spans_ = &spans;
   node(root, spans[0].begin, spans[0].end);
}

// ---- parts of the expression, parts of the text ----

RE2& RegexDissector::engineOf(const RegexPart& part) {
   constexpr size_t enginesMax = 256;
   if (engines_.size() >= enginesMax) engines_.clear();
   std::unique_ptr<RE2>& engine = engines_[{part.node, part.kind, part.from, part.to}];
   if (engine) return *engine;
   checkInterrupted();
   std::string pattern = "(?:";
   const auto write = [&](const RegexNode& syntax) { writeRe2(syntax, RegexLaziness::None, false, pattern); };
   const RegexNode& syntax = *part.node;
   switch (part.kind) {
   case RegexPart::Kind::Node: write(syntax); break;
   case RegexPart::Kind::Neighbours:
      for (size_t i = part.from; i < part.to; ++i)
         write(*syntax.children[i]);
      break;
   case RegexPart::Kind::Rounds:
      pattern += "(?:";
      write(*syntax.children[0]);
      pattern += "){" + std::to_string(std::max(syntax.min - 1, 0)) + ",";
      if (syntax.max > 0) pattern += std::to_string(syntax.max - 1);
      pattern += "}";
      break;
   }
   engine = compileRe2(pattern + ")", true);
   return *engine;
}

void RegexDissector::tick(size_t bytes) {
   constexpr uint64_t bytesBetweenChecks = 1 << 20, bytesOfCall = 64;
   bytesTested_ += bytes + bytesOfCall;
   if (bytesTested_ < bytesBetweenChecks) return;
   bytesTested_ = 0;
   checkInterrupted();
}

bool RegexDissector::fits(const RegexPart& part, size_t begin, size_t end) {
   tick(end - begin);
   return engineOf(part).Match(piece(text_), begin, end, RE2::ANCHOR_BOTH, nullptr, 0);
}

size_t RegexDissector::longest(const RegexPart& part, size_t begin, size_t end) {
   tick(end - begin);
   re2::StringPiece found;
   if (!engineOf(part).Match(piece(text_), begin, end, RE2::ANCHOR_START, &found, 1))
      throwInternal("a match of a regular expression could not be dissected");
   return begin + found.size();
}

template <typename IsSplit>
bool RegexDissector::trySplits(size_t begin, size_t end, bool shortestFirst, IsSplit&& isSplit) {
   size_t middle = shortestFirst ? begin : end;
   for (;;) {
      if (isSplit(middle)) return true;
      tick(0);
      if (middle == (shortestFirst ? end : begin)) return false;
      middle = shortestFirst ? nextCharacter(text_, middle) : previousCharacter(text_, middle);
   }
}

// ---- nodes ----

void RegexDissector::node(const RegexDissection& n, size_t begin, size_t end) {
   checkStack();
   for (const uint32_t capture : n.captures)
      (*spans_)[capture] = {begin, end};
   switch (n.kind) {
   case Kind::Leaf: return;
   case Kind::Concat: return concat(n, begin, end);
   case Kind::Iterate: return iterate(n, begin, end);
   case Kind::Choice: break;
   }
   for (const auto& branch : n.children)
      if (fits(branch->part, begin, end)) return node(*branch, begin, end);
   throwInternal("a match of a regular expression fits no branch");
}

void RegexDissector::concat(const RegexDissection& n, size_t begin, size_t end) {
   for (size_t i = 0; i + 1 < n.children.size(); ++i) {
      const size_t middle = split(n, i, begin, end);
      node(*n.children[i], begin, middle);
      begin = middle;
   }
   node(*n.children.back(), begin, end);
}

/// Where a child ends when it begins at `begin` and the children behind it reach to `end`.
size_t RegexDissector::split(const RegexDissection& n, size_t child, size_t begin, size_t end) {
   const RegexDissection& left = *n.children[child];
   const RegexPart& right = child + 2 == n.children.size() ? n.children.back()->part : n.rests[child + 1];
   const RegexWidth& rightWidth = n.restWidths[child + 1];
   if (left.width.isFixed()) return begin + offsetOfCharacter(text_.substr(begin), left.width.min);
   size_t middle = end;
   if (rightWidth.isFixed()) {
      for (uint32_t i = 0; i < rightWidth.min; ++i)
         middle = previousCharacter(text_, middle);
      return middle;
   }
   const bool shortestFirst = left.preference == RegexPreference::Shortest;
   const auto isSplit = [&](size_t m) {
      // The right part is asked first: where it does not fit, it nearly always fails at its first character.
      if (!fits(right, m, end) || !fits(left.part, begin, m)) return false;
      middle = m;
      return true;
   };
   if (!trySplits(begin, shortestFirst ? end : longest(left.part, begin, end), shortestFirst, isSplit))
      throwInternal("a match of a regular expression could not be split");
   return middle;
}

/// x* and x{0,n}: one round after the other, each as long (or short) as x prefers. No round is empty but in an empty
/// match, and there is none in that one if x prefers the shortest.
void RegexDissector::iterate(const RegexDissection& n, size_t begin, size_t end) {
   const RegexDissection& round = *n.children[0];
   const bool shortestFirst = round.preference == RegexPreference::Shortest;
   if (begin == end) {
      if (!shortestFirst && fits(round.part, begin, end)) node(round, begin, end);
      return;
   }
   if (n.max < 0) {
      for (;;) {
         size_t next = begin;
         const auto isRound = [&](size_t m) {
            next = m;
            return m > begin && fits(n.part, m, end) && fits(round.part, begin, m);
         };
         if (!trySplits(begin, shortestFirst ? end : longest(round.part, begin, end), shortestFirst, isRound))
            throwInternal("a match of a regular expression could not be repeated");
         if (next == end) return node(round, begin, end);
         begin = next;
      }
   }
   std::set<std::pair<int32_t, size_t>> deadEnds; // the rounds after these (rounds, position) do not reach the end
   const std::function<bool(int32_t, size_t)> goOn = [&](int32_t rounds, size_t from) {
      const auto isRound = [&](size_t m) {
         if (m == from || !fits(n.part, m, end) || !fits(round.part, from, m)) return false;
         if (m == end) {
            node(round, from, end);
            return true;
         }
         return rounds + 1 < n.max && !deadEnds.contains({rounds + 1, m}) && goOn(rounds + 1, m);
      };
      if (trySplits(from, end, shortestFirst, isRound)) return true;
      deadEnds.emplace(rounds, from);
      return false;
   };
   if (!goOn(0, begin)) throwInternal("a match of a regular expression could not be repeated");
}

} // namespace ouzel::executor
