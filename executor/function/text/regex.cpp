#include "executor/function/text/regex.hpp"

#include <list>
#include <optional>
#include <re2/re2.h>
#include <span>
#include <unordered_map>

#include "common/error/sql_error.hpp"
#include "executor/function/text/regex_backtracker.hpp"
#include "executor/function/text/regex_dissector.hpp"
#include "executor/function/text/regex_stepper.hpp"
#include "executor/function/text/utf8_text.hpp"

// Regex: compilation and matching.

namespace ouzel::executor {

namespace {

std::string toRe2(const RegexSyntax& syntax, RegexLaziness laziness, bool withCaptures) {
   std::string pattern;
   writeRe2(*syntax.root, laziness, withCaptures, pattern);
   return pattern;
}

bool isAnyText(const RegexNode& node) {
   return node.kind == RegexNode::Kind::Repeat && node.min == 0 && node.max == -1 && !node.isLazy &&
          node.children[0]->kind == RegexNode::Kind::Text && node.children[0]->text == RegexNode::anyCharacter;
}

bool endsWithText(const RegexNode& root) {
   if (root.kind != RegexNode::Kind::Sequence || root.children.empty()) return false;
   const RegexNode& last = *root.children.back();
   return last.kind == RegexNode::Kind::Text && last.text == RegexNode::endOfText;
}

/// How many children stand before .* or .*$ at the end: what they match goes on to the end of the text. 0: there is no
/// such end.
size_t countBeforeOpenTail(const RegexNode& root) {
   if (root.kind != RegexNode::Kind::Sequence) return 0;
   const size_t count = root.children.size() - (endsWithText(root) ? 1 : 0);
   return count < 2 || !isAnyText(*root.children[count - 1]) ? 0 : count - 1;
}

std::string re2Of(const RegexNode& sequence, size_t count) {
   std::string head;
   for (size_t i = 0; i < count; ++i)
      writeRe2(*sequence.children[i], RegexLaziness::AsGiven, true, head);
   return head;
}

} // namespace

struct Regex::Engines {
   RegexSyntax syntax;
   std::unique_ptr<RegexDissection> dissection;
   std::unique_ptr<RE2> extent; ///< finds the extent of a match
   std::unique_ptr<RE2> inside; ///< finds the captures if leftmost-first search does
   std::unique_ptr<RE2> head;   ///< finds them without an end of any text, which it leaves out; null: there is none
   RegexDissector dissector;    ///< finds them otherwise
   /// Before all others: finds matches at the start of the text, which are the only ones.
   std::optional<RegexStepper> stepper;
   bool mayEndEarlier = false;   ///< the shortest match may end before the one of `extent`
   bool isLeftmostFirst = false; ///< `inside` finds the captures

   bool mayMatchInsideCharacter = false;          ///< `extent` may find an empty match there
   std::unique_ptr<RegexBacktracker> backtracker; ///< instead of all others, for what RE2 does not know

   size_t shortestEnd(std::string_view text, size_t begin, size_t end) const;
};

/// The end of the shortest match at `begin`; `end` is the end of one.
size_t Regex::Engines::shortestEnd(std::string_view text, size_t begin, size_t end) const {
   // Whether a match ends at or before a position only grows with the position.
   const auto endsBy = [&](size_t position) {
      return extent->Match(piece(text), begin, position, RE2::ANCHOR_START, nullptr, 0);
   };
   size_t tooShort = begin; // matches end at this position or later
   for (size_t probe = previousCharacter(text, end); tooShort < end;) {
      if (endsBy(probe)) {
         end = probe;
      } else {
         tooShort = nextCharacter(text, probe);
      }
      probe = characterStart(text, tooShort + (end - tooShort) / 2);
   }
   return end;
}

Regex::Regex(std::string_view pattern, const RegexFlags& flags) : engines_(std::make_unique<Engines>()) {
   RegexSyntax& syntax = engines_->syntax;
   syntax = parseRegex(pattern, flags);
   captures_ = syntax.captures;
   engines_->dissection = dissectionOf(*syntax.root);
   const RegexDissection& dissection = *engines_->dissection;
   if (syntax.isBeyondRe2) {
      engines_->backtracker = std::make_unique<RegexBacktracker>(syntax, dissection);
      return;
   }
   const bool isShortest = dissection.preference == RegexPreference::Shortest;
   engines_->extent =
       compileRe2(toRe2(syntax, isShortest ? RegexLaziness::All : RegexLaziness::None, false), !isShortest);
   engines_->mayEndEarlier = isShortest && !isOrdered(dissection.part, dissection.preference);
   engines_->mayMatchInsideCharacter = syntax.hasNonBoundary && dissection.width.min == 0;
   engines_->isLeftmostFirst = isLeftmostFirst(dissection);
   if (!engines_->isLeftmostFirst || syntax.hasNonBoundary) return;
   if (const size_t count = isShortest ? 0 : countBeforeOpenTail(*syntax.root); count > 0) {
      engines_->head = compileRe2(re2Of(*syntax.root, count), false);
      engines_->stepper = RegexStepper::compile(*syntax.root, count);
   } else if (endsWithText(*syntax.root) || isOrdered(dissection.part, dissection.preference)) {
      // The first match that leftmost-first search finds is as long, or as short, as preferred.
      engines_->stepper = RegexStepper::compile(*syntax.root, syntax.root->children.size());
   }
}

Regex::~Regex() = default;

const Regex& Regex::find(std::string_view pattern, const RegexFlags& flags) {
   // The least recently used entry is last. PostgreSQL keeps 32 per session; a thread here serves many sessions.
   struct Entry {
      std::string key;
      std::unique_ptr<Regex> regex;
   };
   constexpr size_t kept = 32, keptBytesMax = 64 << 10;
   thread_local size_t keptBytes = 0; // of all patterns: a long one takes megabytes
   thread_local std::list<Entry> entries;
   thread_local std::unordered_map<std::string_view, std::list<Entry>::iterator> byKey;

   const auto letters =
       static_cast<char>((flags.ignoreCase ? 1 : 0) | (flags.dotNewline ? 2 : 0) | (flags.lineAnchors ? 4 : 0) |
                         (flags.expanded ? 8 : 0) | (flags.literal ? 16 : 0));
   if (!entries.empty()) { // mostly the one before
      const std::string& last = entries.front().key;
      if (last[0] == letters && std::string_view(last).substr(1) == pattern) return *entries.front().regex;
   }
   std::string key(1, letters);
   key.append(pattern);
   if (const auto it = byKey.find(key); it != byKey.end()) {
      entries.splice(entries.begin(), entries, it->second);
      return *it->second->regex;
   }
   entries.push_front({std::move(key), nullptr});
   try {
      entries.front().regex = std::make_unique<Regex>(pattern, flags);
   } catch (...) {
      entries.pop_front();
      throw;
   }
   byKey.emplace(entries.front().key, entries.begin());
   keptBytes += pattern.size();
   while (entries.size() > kept || (keptBytes > keptBytesMax && entries.size() > 1)) {
      keptBytes -= entries.back().key.size() - 1;
      byKey.erase(entries.back().key);
      entries.pop_back();
   }
   return *entries.front().regex;
}

bool Regex::matches(std::string_view text) const {
   if (engines_->mayMatchInsideCharacter || engines_->backtracker) {
      std::vector<RegexSpan> spans;
      return search(text, 0, spans, false);
   }
   if (engines_->stepper) {
      RegexSpan span;
      const RegexStepper::Outcome outcome = engines_->stepper->match(text, std::span(&span, 1));
      if (outcome != RegexStepper::Outcome::TooManyTries) return outcome == RegexStepper::Outcome::Match;
   }
   const RE2& engine = engines_->head ? *engines_->head : *engines_->extent;
   return engine.Match(piece(text), 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

bool Regex::search(std::string_view text, size_t start, std::vector<RegexSpan>& spans, bool withCaptures) const {
   const uint32_t wanted = withCaptures ? captures_ + 1 : 1;
   if (engines_->backtracker) {
      if (!engines_->backtracker->search(text, start, spans)) return false;
      spans.resize(wanted);
      return true;
   }
   spans.assign(wanted, {});
   if (engines_->stepper && start == 0) {
      const RegexStepper::Outcome outcome = engines_->stepper->match(text, spans);
      if (engines_->head) spans[0].end = text.size();
      if (outcome != RegexStepper::Outcome::TooManyTries) return outcome == RegexStepper::Outcome::Match;
   }
   constexpr uint32_t usual = 8;
   re2::StringPiece few[usual];
   std::vector<re2::StringPiece> many(wanted > usual ? wanted : 0);
   re2::StringPiece* const found = many.empty() ? few : many.data();
   const auto spanOf = [&](const re2::StringPiece& p) {
      if (p.data() == nullptr) return RegexSpan{};
      const size_t begin = static_cast<size_t>(p.data() - text.data());
      return RegexSpan{begin, begin + p.size()};
   };
   if (engines_->head) {
      if (!engines_->head->Match(piece(text), start, text.size(), RE2::UNANCHORED, found, static_cast<int>(wanted)))
         return false;
      for (uint32_t i = 0; i < wanted; ++i)
         spans[i] = spanOf(found[i]);
      spans[0].end = text.size();
      return true;
   }
   for (;;) {
      if (!engines_->extent->Match(piece(text), start, text.size(), RE2::UNANCHORED, found, 1)) return false;
      spans[0] = spanOf(found[0]);
      // RE2's \B also matches between the bytes of a character.
      if (characterStart(text, spans[0].begin) == spans[0].begin) break;
      start = nextCharacter(text, characterStart(text, spans[0].begin));
   }
   if (engines_->mayEndEarlier && spans[0].end > spans[0].begin)
      spans[0].end = engines_->shortestEnd(text, spans[0].begin, spans[0].end);
   if (wanted == 1) return true;
   if (!engines_->isLeftmostFirst) {
      engines_->dissector.dissect(*engines_->dissection, text, spans);
      return true;
   }
   if (!engines_->inside) engines_->inside = compileRe2(toRe2(engines_->syntax, RegexLaziness::AsGiven, true), false);
   if (!engines_->inside->Match(piece(text), spans[0].begin, spans[0].end, RE2::ANCHOR_BOTH, found,
                                static_cast<int>(wanted)))
      throwInternal("a match of a regular expression did not match again");
   for (uint32_t i = 1; i < wanted; ++i)
      spans[i] = spanOf(found[i]);
   return true;
}

RegexFlags parseRegexFlags(std::string_view options, bool* isGlobal) {
   RegexFlags flags;
   for (const char c : options) {
      if (c == 'g' && isGlobal)
         *isGlobal = true;
      else if (!applyRegexOption(flags, c))
         throw SqlError(sqlstate::invalidParameterValue,
                        std::string("invalid regular expression option: \"") + c + "\"");
   }
   return flags;
}

} // namespace ouzel::executor
