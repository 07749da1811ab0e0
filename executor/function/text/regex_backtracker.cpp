#include "executor/function/text/regex_backtracker.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/hash/hash.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "executor/function/text/regex_dissector.hpp"
#include "executor/function/text/utf8_text.hpp"

namespace ouzel::executor {

namespace {

using Kind = RegexDissection::Kind;
using Syntax = RegexNode::Kind;

/// Steps of a search: some, and more for a longer text. A step is about 50 ns.
constexpr uint64_t stepsAlways = 10'000'000, stepsForByte = 64, stepsBetweenChecks = 100'000;
/// Positions that are copied in the time of a step.
constexpr size_t copiedInStep = 16;
/// Positions that are kept while a search goes on from one beginning to the next.
constexpr size_t knownPositionsMax = 1'000'000;

void sortUnique(std::vector<size_t>& positions) {
   std::sort(positions.begin(), positions.end());
   positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

void collectGroups(const RegexNode& node, std::map<uint32_t, const RegexNode*>& groups) {
   checkStack();
   if (node.isCapture) groups[node.capture] = &node;
   for (const auto& child : node.children)
      collectGroups(*child, groups);
}

bool isWordByte(char c) {
   return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool equalIgnoringCase(std::string_view l, std::string_view r) {
   return std::equal(l.begin(), l.end(), r.begin(), r.end(),
                     [](char a, char b) { return asciiLower(a) == asciiLower(b); });
}

} // namespace

bool RegexBacktracker::Key::operator==(const Key& other) const {
   return begin == other.begin && part.node == other.part.node && part.kind == other.part.kind &&
          part.from == other.part.from && part.to == other.part.to;
}

size_t RegexBacktracker::KeyHash::operator()(const Key& key) const {
   const auto node = reinterpret_cast<uintptr_t>(key.part.node);
   return hashU64(node ^ hashU64(key.begin ^ (key.part.from << 40) ^ (static_cast<uint64_t>(key.part.kind) << 62)));
}

RegexBacktracker::RegexBacktracker(const RegexSyntax& syntax, const RegexDissection& root)
   : syntax_(syntax), root_(root) {
   collectGroups(*syntax.root, groups_);
}

void RegexBacktracker::step(size_t count) {
   steps_ += count;
   if (steps_ < nextCheck_) return;
   nextCheck_ = steps_ + stepsBetweenChecks;
   checkInterrupted();
   if (steps_ > stepsMax_)
      throw SqlError(sqlstate::programLimitExceeded, "regular expression takes too many steps to match")
          .hint("Back references and look-around are tried one way after the other.");
}

bool RegexBacktracker::search(std::string_view text, size_t start, std::vector<RegexSpan>& spans) {
   text_ = text;
   spans_ = &spans;
   known_.clear(); // a search may have ended with an error
   knownPositions_ = 0;
   steps_ = nextCheck_ = 0;
   stepsMax_ = stepsAlways + stepsForByte * text.size();
   const bool isFound = find(text, start, spans);
   known_ = {};
   return isFound;
}

bool RegexBacktracker::find(std::string_view text, size_t start, std::vector<RegexSpan>& spans) {
   const RegexNode& root = *syntax_.root;
   for (size_t begin = start;; begin = nextCharacter(text, begin)) {
      step(1);
      if (knownPositions_ > knownPositionsMax) {
         known_.clear();
         knownPositions_ = 0;
      }
      const bool isAtEnd = begin >= text.size();
      const bool mayBegin =
          root.width.min == 0 ||
          (!isAtEnd && root.first.test(std::min<size_t>(static_cast<unsigned char>(text[begin]), 128)));
      const auto isMatch = [&](size_t end) {
         spans.assign(syntax_.captures + 1, {});
         if (!dissect(root_, begin, end)) return false;
         spans[0] = {begin, end};
         return true;
      };
      if (mayBegin && tryEnds(root_.part, root_.preference, begin, text.size(), isMatch)) return true;
      if (isAtEnd) return false;
   }
}

// ---- what a part may match, back references aside ----

const RegexBacktracker::Positions& RegexBacktracker::ends(const RegexPart& part, size_t begin) {
   const Key key{part, begin};
   if (const auto found = known_.find(key); found != known_.end()) return found->second;
   Positions positions;
   switch (part.kind) {
   case RegexPart::Kind::Node: positions = endsOf(*part.node, begin); break;
   case RegexPart::Kind::Neighbours: positions = endsOfSequence(*part.node, part.from, part.to, begin); break;
   case RegexPart::Kind::Rounds:
      positions = endsOfRounds(*part.node, std::max(part.node->min - 1, 0),
                               part.node->max < 0 ? -1 : std::max(part.node->max - 1, 0), begin);
      break;
   }
   knownPositions_ += positions.size() + 1;
   step(positions.size() + 1);
   return known_.emplace(key, std::move(positions)).first->second;
}

RegexBacktracker::Positions RegexBacktracker::endsOf(const RegexNode& node, size_t begin) {
   checkStack();
   switch (node.kind) {
   case Syntax::Text: return endsOfText(node, begin);
   case Syntax::Group: return ends({RegexPart::Kind::Node, node.children[0].get()}, begin);
   case Syntax::Sequence: return endsOfSequence(node, 0, node.children.size(), begin);
   case Syntax::Repeat: return endsOfRounds(node, node.min, node.max, begin);
   case Syntax::BackReference: return ends({RegexPart::Kind::Node, groups_.at(node.capture)}, begin);
   case Syntax::Look: return looks(node, begin) ? Positions{begin} : Positions{};
   case Syntax::WordStart: return isWordEdge(true, begin) ? Positions{begin} : Positions{};
   case Syntax::WordEnd: return isWordEdge(false, begin) ? Positions{begin} : Positions{};
   case Syntax::Choice: break;
   }
   Positions all;
   for (const auto& child : node.children) {
      const Positions& some = ends({RegexPart::Kind::Node, child.get()}, begin);
      all.insert(all.end(), some.begin(), some.end());
   }
   step(all.size());
   sortUnique(all);
   return all;
}

/// One character or an anchor.
RegexBacktracker::Positions RegexBacktracker::endsOfText(const RegexNode& node, size_t begin) {
   if (node.text.empty()) return {begin};
   size_t end = begin;
   if (node.width.max > 0) {
      if (begin >= text_.size()) return {};
      const auto first = static_cast<unsigned char>(text_[begin]);
      if (!node.first.test(std::min<size_t>(first, 128))) return {};
      end = nextCharacter(text_, begin);
   }
   std::unique_ptr<RE2>& atom = atoms_[&node];
   if (!atom) atom = compileRe2(node.text, false);
   const bool isAnchor = node.width.max == 0;
   const bool matches = atom->Match(piece(text_), begin, isAnchor ? text_.size() : end,
                                    isAnchor ? RE2::ANCHOR_START : RE2::ANCHOR_BOTH, nullptr, 0);
   return matches ? Positions{end} : Positions{};
}

/// Where matches of the node end that begin at one of the positions.
RegexBacktracker::Positions RegexBacktracker::oneMore(const RegexNode& node, const Positions& begins) {
   if (begins.size() == 1) return ends({RegexPart::Kind::Node, &node}, begins[0]);
   Positions all;
   for (const size_t begin : begins) {
      const Positions& some = ends({RegexPart::Kind::Node, &node}, begin);
      step(some.size() + 1);
      all.insert(all.end(), some.begin(), some.end());
   }
   sortUnique(all);
   return all;
}

RegexBacktracker::Positions RegexBacktracker::endsOfSequence(const RegexNode& node, size_t from, size_t to,
                                                             size_t begin) {
   Positions positions{begin};
   for (size_t i = from; i < to && !positions.empty(); ++i)
      positions = oneMore(*node.children[i], positions);
   return positions;
}

RegexBacktracker::Positions RegexBacktracker::endsOfRounds(const RegexNode& node, int32_t min, int32_t max,
                                                           size_t begin) {
   const RegexNode& round = *node.children[0];
   Positions newest{begin};
   for (int32_t i = 0; i < min && !newest.empty(); ++i)
      newest = oneMore(round, newest);
   Positions all = newest;
   for (int32_t i = min; !newest.empty() && (max < 0 || i < max); ++i) {
      const Positions reached = oneMore(round, newest);
      newest.clear();
      std::set_difference(reached.begin(), reached.end(), all.begin(), all.end(), std::back_inserter(newest));
      const auto merged = static_cast<ptrdiff_t>(all.size());
      all.insert(all.end(), newest.begin(), newest.end());
      std::inplace_merge(all.begin(), all.begin() + merged, all.end());
      step(reached.size() + all.size() / copiedInStep + 1);
   }
   return all;
}

bool RegexBacktracker::looks(const RegexNode& look, size_t at) {
   const RegexPart inside = {RegexPart::Kind::Node, look.children[0].get()};
   bool found = false;
   if (look.looksAhead) {
      found = !ends(inside, at).empty();
   } else {
      const RegexWidth& width = look.children[0]->width;
      size_t begin = at;
      for (uint32_t characters = 0; !found; ++characters) {
         if (characters >= width.min) found = fits(inside, begin, at);
         if (begin == 0 || characters == width.max) break;
         begin = previousCharacter(text_, begin);
         step(1);
      }
   }
   return found != look.isNegated;
}

/// Words are of letters, digits and underscores of ASCII, as for \y.
bool RegexBacktracker::isWordEdge(bool isStart, size_t at) const {
   const bool before = at > 0 && isWordByte(text_[at - 1]), after = at < text_.size() && isWordByte(text_[at]);
   return isStart ? !before && after : before && !after;
}

bool RegexBacktracker::fits(const RegexPart& part, size_t begin, size_t end) {
   const Positions& positions = ends(part, begin);
   return std::binary_search(positions.begin(), positions.end(), end);
}

// ---- captures ----

template <typename Take>
bool RegexBacktracker::tryEnds(const RegexPart& part, RegexPreference preference, size_t begin, size_t end,
                               Take&& take) {
   const Positions positions = ends(part, begin); // a copy: what is known may be forgotten meanwhile
   step(positions.size() / copiedInStep);
   const auto behind = std::upper_bound(positions.begin(), positions.end(), end);
   const auto count = static_cast<size_t>(behind - positions.begin());
   for (size_t i = 0; i < count; ++i) {
      step(1);
      if (take(positions[preference == RegexPreference::Shortest ? i : count - 1 - i])) return true;
   }
   return false;
}

bool RegexBacktracker::dissect(const RegexDissection& node, size_t begin, size_t end) {
   checkStack();
   if (!node.hasCaptures && !node.hasBackReference) return true;
   const std::vector<RegexSpan> before = *spans_;
   if (dissectInside(node, begin, end)) {
      for (const uint32_t capture : node.captures)
         (*spans_)[capture] = {begin, end};
      return true;
   }
   *spans_ = before;
   return false;
}

bool RegexBacktracker::dissectInside(const RegexDissection& node, size_t begin, size_t end) {
   switch (node.kind) {
   case Kind::Leaf: return node.backReference == 0 || repeats(node, begin, end);
   case Kind::Concat: return concat(node, 0, begin, end);
   case Kind::Iterate: {
      if (begin != end || node.min > 0) return iterate(node, 0, begin, end);
      // An empty match has one round if that may be empty, but none with a back reference.
      const RegexDissection& round = *node.children[0];
      if (round.hasBackReference) return true;
      if (round.preference != RegexPreference::Shortest && fits(round.part, begin, end)) dissect(round, begin, end);
      return true;
   }
   case Kind::Choice: break;
   }
   return std::any_of(node.children.begin(), node.children.end(), [&](const auto& branch) {
      return fits(branch->part, begin, end) && dissect(*branch, begin, end);
   });
}

bool RegexBacktracker::concat(const RegexDissection& node, size_t child, size_t begin, size_t end) {
   const RegexDissection& left = *node.children[child];
   if (child + 1 == node.children.size()) return fits(left.part, begin, end) && dissect(left, begin, end);
   const RegexPart& right = child + 2 == node.children.size() ? node.children.back()->part : node.rests[child + 1];
   return tryEnds(left.part, left.preference, begin, end, [&](size_t middle) {
      if (!fits(right, middle, end)) return false;
      const std::vector<RegexSpan> before = *spans_;
      if (dissect(left, begin, middle) && concat(node, child + 1, middle, end)) return true;
      *spans_ = before;
      return false;
   });
}

void RegexBacktracker::forget(const RegexDissection& node) {
   for (const uint32_t capture : node.captures)
      (*spans_)[capture] = {};
   for (const auto& child : node.children)
      forget(*child);
}

/// `rounds` have been made. A round is empty only where that is needed for the least number of them.
bool RegexBacktracker::iterate(const RegexDissection& node, int32_t rounds, size_t begin, size_t end) {
   checkStack();
   const RegexDissection& round = *node.children[0];
   const int32_t needed = std::max(node.min, 1);
   return tryEnds(round.part, round.preference, begin, end, [&](size_t next) {
      const bool isEnough = rounds + 1 >= needed;
      if (next == begin && (rounds >= needed || static_cast<size_t>(needed - rounds) < end - begin)) return false;
      if (next == end && !isEnough && next != begin) return false;
      if (next != end && node.max >= 0 && rounds + 1 >= node.max) return false;
      const std::vector<RegexSpan> before = *spans_;
      forget(round); // of the round before
      if (dissect(round, begin, next) && ((next == end && isEnough) || iterate(node, rounds + 1, next, end)))
         return true;
      *spans_ = before;
      return false;
   });
}

/// Whether the text is that of the group, as often as the quantifier says.
bool RegexBacktracker::repeats(const RegexDissection& node, size_t begin, size_t end) {
   const RegexSpan& group = (*spans_)[node.backReference];
   if (!group.isMatched()) return false;
   const std::string_view once = group.of(text_);
   if (once.empty()) return begin == end;
   const size_t length = end - begin, times = length / once.size();
   if (times * once.size() != length || times < static_cast<size_t>(node.min) ||
       (node.max >= 0 && times > static_cast<size_t>(node.max)))
      return false;
   step(length / copiedInStep + times);
   for (size_t i = 0; i < times; ++i) {
      const std::string_view here = text_.substr(begin + i * once.size(), once.size());
      if (syntax_.flags.ignoreCase ? !equalIgnoringCase(here, once) : here != once) return false;
   }
   return true;
}

} // namespace ouzel::executor
