#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/function/text/regex_syntax.hpp"

namespace ouzel::executor {

/// A part of a text, as byte positions. `begin` is npos for a capture that did not take part in the match.
struct RegexSpan {
   size_t begin = std::string_view::npos, end = std::string_view::npos;
   bool isMatched() const { return begin != std::string_view::npos; }
   std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// A compiled regular expression. Used by one thread: each thread has a cache, see find().
class Regex {
public:
   /// The compiled expression from this thread's cache. Valid until the thread's next call.
   static const Regex& find(std::string_view pattern, const RegexFlags& flags = {});

   Regex(std::string_view pattern, const RegexFlags& flags);
   ~Regex();

   uint32_t captures() const { return captures_; }
   /// Whether the expression matches anywhere in the text.
   bool matches(std::string_view text) const;
   /// Find the leftmost match at or after byte `start`, as long (or short) as in PostgreSQL. spans[0] becomes the
   /// match, and, with `withCaptures`, spans[1..] the captures. False: no match.
   bool search(std::string_view text, size_t start, std::vector<RegexSpan>& spans, bool withCaptures) const;

private:
   struct Engines;
   std::unique_ptr<Engines> engines_;
   uint32_t captures_ = 0;
};

/// Parse the flags of regexp_match and similar functions ("gix"). `isGlobal` null: g is an error.
RegexFlags parseRegexFlags(std::string_view options, bool* isGlobal);

} // namespace ouzel::executor
