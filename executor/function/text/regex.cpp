#include "executor/function/text/regex.hpp"

#include <list>
#include <re2/re2.h>
#include <unordered_map>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "executor/function/text/utf8_text.hpp"

// Regex: compilation and matching. The only file that uses RE2.

namespace ouzel::executor {

namespace {

/// Bytes for a program and the states it makes while it matches. Few expressions need more than the usual.
constexpr int64_t usualBytes = 8 << 20, largeBytes = 64 << 20;

std::unique_ptr<RE2> compile(const std::string& pattern, bool longest) {
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

re2::StringPiece piece(std::string_view text) {
   return {text.data(), text.size()};
}

} // namespace

namespace {

using Kind = RegexNode::Kind;

/// Finds the captures within a match of known extent, as PostgreSQL's engine (Henry Spencer's) does. A sequence gives
/// its first part as much (or as little) text as that part prefers. An alternation takes the first branch that fits. A
/// repetition captures its last round. RE2 decides whether a part of the expression matches a part of the text.
class Dissector {
public:
   void dissect(const RegexNode& root, std::string_view text, std::vector<RegexSpan>& spans) {
      text_ = text;
      spans_ = &spans;
      node(root, spans[0].begin, spans[0].end);
   }

private:
   enum class Part : uint8_t { Whole, Rounds };
   static constexpr size_t enginesMax = 256;
   static constexpr size_t splitsBetweenChecks = 64; ///< each looks at the whole match

   bool fits(const RegexNode& n, size_t from, Part part, size_t begin, size_t end) {
      if (engines_.size() >= enginesMax) engines_.clear();
      std::unique_ptr<RE2>& engine = engines_[{&n, from, part}];
      if (!engine) {
         checkInterrupted();
         std::string pattern = "(?:";
         if (part == Part::Rounds) { // all rounds of a repetition but the last
            pattern += "(?:";
            writeRe2(*n.children[0], false, pattern);
            pattern += "){" + std::to_string(std::max(n.min - 1, 0)) + ",";
            if (n.max > 0) pattern += std::to_string(n.max - 1);
            pattern += "}";
         } else if (n.kind == Kind::Sequence) {
            for (size_t i = from; i < n.children.size(); ++i)
               writeRe2(*n.children[i], false, pattern);
         } else {
            writeRe2(n, false, pattern);
         }
         engine = compile(pattern + ")", true);
      }
      return engine->Match(piece(text_), begin, end, RE2::ANCHOR_BOTH, nullptr, 0);
   }
   bool fits(const RegexNode& n, size_t begin, size_t end) { return fits(n, 0, Part::Whole, begin, end); }

   /// Call `isSplit(middle)` for the positions in [begin, end] until it returns true; from the end on, unless
   /// `shortestFirst`.
   template <typename IsSplit>
   static void trySplits(std::string_view text, size_t begin, size_t end, bool shortestFirst, IsSplit&& isSplit) {
      const size_t count = end - begin;
      for (size_t i = 0; i <= count; ++i) {
         const size_t middle = shortestFirst ? begin + i : end - i;
         if (middle < text.size() && isContinuation(text[middle])) continue;
         if (i % splitsBetweenChecks == splitsBetweenChecks - 1) checkInterrupted();
         if (isSplit(middle)) return;
      }
      throwInternal("a match of a regular expression could not be dissected");
   }

   void node(const RegexNode& n, size_t begin, size_t end) {
      if (!n.hasCaptures) return;
      switch (n.kind) {
      case Kind::Text: return;
      case Kind::Group:
         if (n.isCapture) (*spans_)[n.capture] = {begin, end};
         return node(*n.children[0], begin, end);
      case Kind::Choice:
         for (const auto& child : n.children)
            if (fits(*child, begin, end)) return node(*child, begin, end);
         return;
      case Kind::Sequence: return sequence(n, 0, begin, end);
      case Kind::Repeat: return repeat(n, begin, end);
      }
   }

   void sequence(const RegexNode& n, size_t from, size_t begin, size_t end) {
      const RegexNode& left = *n.children[from];
      if (from + 1 == n.children.size()) return node(left, begin, end);
      const bool shortestFirst = preferenceOf(left) == RegexPreference::Shortest;
      trySplits(text_, begin, end, shortestFirst, [&](size_t middle) {
         if (!fits(left, begin, middle) || !fits(n, from + 1, Part::Whole, middle, end)) return false;
         node(left, begin, middle);
         sequence(n, from + 1, middle, end);
         return true;
      });
   }

   void repeat(const RegexNode& n, size_t begin, size_t end) {
      const RegexNode& operand = *n.children[0];
      if (n.max == 0) return;
      if (begin == end && n.min == 0) {
         if (fits(operand, begin, end)) node(operand, begin, end);
         return;
      }
      if (n.max == 1) return node(operand, begin, end);
      if (n.min == 0) return rounds(n, begin, end);
      // x{m,n} matches as x{m-1,n-1} without captures, followed by x.
      trySplits(text_, begin, end, n.isLazy, [&](size_t middle) {
         if (middle == end && begin != end) return false; // the last round is not empty unless all are
         if (!fits(n, 0, Part::Rounds, begin, middle) || !fits(operand, middle, end)) return false;
         node(operand, middle, end);
         return true;
      });
   }

   /// x* and x{0,n}: one round after the other, each as long (or short) as possible.
   void rounds(const RegexNode& n, size_t begin, size_t end) {
      const RegexNode& operand = *n.children[0];
      size_t last = begin;
      while (begin < end) {
         trySplits(text_, begin, end, n.isLazy, [&](size_t middle) {
            if (middle == begin || !fits(operand, begin, middle) || !fits(n, middle, end)) return false;
            last = begin;
            begin = middle;
            return true;
         });
      }
      node(operand, last, end);
   }

   std::map<std::tuple<const RegexNode*, size_t, Part>, std::unique_ptr<RE2>> engines_;
   std::string_view text_;
   std::vector<RegexSpan>* spans_ = nullptr;
};

std::string toRe2(const RegexSyntax& syntax, bool isLazy) {
   std::string pattern;
   writeRe2(*syntax.root, isLazy, pattern);
   return pattern;
}

} // namespace

struct Regex::Engines {
   RegexSyntax syntax;
   std::unique_ptr<RE2> extent; ///< finds the extent of a match
   std::unique_ptr<RE2> inside; ///< finds the captures of a plain expression
   Dissector dissector;         ///< finds the captures of other expressions
};

Regex::Regex(std::string_view pattern, const RegexFlags& flags) : engines_(std::make_unique<Engines>()) {
   RegexSyntax& syntax = engines_->syntax;
   syntax = parseRegex(pattern, flags);
   captures_ = syntax.captures;
   const bool isShortest = syntax.preference == RegexPreference::Shortest;
   engines_->extent = compile(toRe2(syntax, isShortest), !isShortest);
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

   std::string key(1, static_cast<char>((flags.ignoreCase ? 1 : 0) | (flags.dotNewline ? 2 : 0) |
                                        (flags.lineAnchors ? 4 : 0) | (flags.expanded ? 8 : 0) |
                                        (flags.literal ? 16 : 0)));
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
   return engines_->extent->Match(piece(text), 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

bool Regex::search(std::string_view text, size_t start, std::vector<RegexSpan>& spans, bool withCaptures) const {
   const uint32_t wanted = withCaptures ? captures_ + 1 : 1;
   spans.assign(wanted, {});
   std::vector<re2::StringPiece> found(wanted);
   const auto spanOf = [&](const re2::StringPiece& p) {
      if (p.data() == nullptr) return RegexSpan{};
      const size_t begin = static_cast<size_t>(p.data() - text.data());
      return RegexSpan{begin, begin + p.size()};
   };
   if (!engines_->extent->Match(piece(text), start, text.size(), RE2::UNANCHORED, found.data(), 1)) return false;
   spans[0] = spanOf(found[0]);
   if (wanted == 1) return true;
   if (!engines_->syntax.isPlain) {
      engines_->dissector.dissect(*engines_->syntax.root, text, spans);
      return true;
   }
   if (!engines_->inside) engines_->inside = compile(toRe2(engines_->syntax, false), false);
   if (!engines_->inside->Match(piece(text), spans[0].begin, spans[0].end, RE2::ANCHOR_BOTH, found.data(),
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
