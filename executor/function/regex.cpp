#include "executor/function/regex.hpp"

#include <list>
#include <re2/re2.h>
#include <unordered_map>

#include "common/error/sql_error.hpp"

// The only file that knows RE2.

namespace ouzel::executor {

namespace {

std::unique_ptr<RE2> compile(const std::string& pattern, bool longest) {
   RE2::Options options(RE2::Quiet);
   options.set_longest_match(longest);
   options.set_max_mem(64 << 20);
   auto result = std::make_unique<RE2>(pattern, options);
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

struct Regex::Engines {
   RegexSyntax syntax;
   std::unique_ptr<RE2> extent;         // where a match lies
   mutable std::unique_ptr<RE2> inside; // how its captures lie in it, when `extent` cannot tell
};

Regex::Regex(std::string_view pattern, const RegexFlags& flags) : engines_(std::make_unique<Engines>()) {
   RegexSyntax& syntax = engines_->syntax;
   syntax = parseRegex(pattern, flags);
   captures_ = syntax.captures;
   const bool isShortest = syntax.preference == RegexPreference::Shortest;
   engines_->extent = compile(toRe2(syntax, isShortest ? RegexVariant::Lazy : RegexVariant::Greedy), !isShortest);
}

Regex::~Regex() = default;

const Regex& Regex::find(std::string_view pattern, const RegexFlags& flags) {
   // Least recently used last. PostgreSQL keeps 32 per session; a thread here serves many.
   struct Entry {
      std::string key;
      std::unique_ptr<Regex> regex;
   };
   constexpr size_t kept = 128;
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
   if (entries.size() > kept) {
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
   const RegexSyntax& syntax = engines_->syntax;
   // A longest match without lazy quantifiers also tells how captures lie; RE2 prefers longer ones from the left.
   const bool isDirect = wanted == 1 || (!syntax.hasLazy && syntax.hasChoice);
   if (!engines_->extent->Match(piece(text), start, text.size(), RE2::UNANCHORED, found.data(),
                                static_cast<int>(isDirect ? wanted : 1)))
      return false;
   const auto spanOf = [&](const re2::StringPiece& p) {
      if (p.data() == nullptr) return RegexSpan{};
      const size_t begin = static_cast<size_t>(p.data() - text.data());
      return RegexSpan{begin, begin + p.size()};
   };
   spans[0] = spanOf(found[0]);
   if (!isDirect) {
      if (!engines_->inside) engines_->inside = compile(toRe2(syntax, RegexVariant::Written), false);
      if (!engines_->inside->Match(piece(text), spans[0].begin, spans[0].end, RE2::ANCHOR_BOTH, found.data(),
                                   static_cast<int>(wanted)))
         throwInternal("a match of a regular expression did not match again");
   }
   for (uint32_t i = 1; i < wanted; ++i)
      spans[i] = spanOf(found[i]);
   return true;
}

RegexFlags parseRegexFlags(std::string_view options, bool* isGlobal) {
   RegexFlags flags;
   for (const char c : options) {
      switch (c) {
      case 'g':
         if (!isGlobal) throw SqlError(sqlstate::invalidParameterValue, "invalid regular expression option: \"g\"");
         *isGlobal = true;
         break;
      case 'b':
         throwNotSupported("basic regular expressions");
      case 'c':
         flags.ignoreCase = false;
         break;
      case 'e':
         break;
      case 'i':
         flags.ignoreCase = true;
         break;
      case 'm':
      case 'n':
         flags.dotNewline = false;
         flags.lineAnchors = true;
         break;
      case 'p':
         flags.dotNewline = false;
         break;
      case 'q':
         flags.literal = true;
         break;
      case 's':
         flags.dotNewline = true;
         flags.lineAnchors = false;
         break;
      case 't':
         flags.expanded = false;
         break;
      case 'w':
         flags.lineAnchors = true;
         break;
      case 'x':
         flags.expanded = true;
         break;
      default:
         throw SqlError(sqlstate::invalidParameterValue,
                        std::string("invalid regular expression option: \"") + c + "\"");
      }
   }
   return flags;
}

} // namespace ouzel::executor
