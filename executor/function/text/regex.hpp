#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/function/text/regex_syntax.hpp"

namespace ouzel::executor {

/// A part of a text; begin npos: did not take part in the match.
struct RegexSpan {
   size_t begin = std::string_view::npos, end = std::string_view::npos;
   bool isMatched() const { return begin != std::string_view::npos; }
   std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// A compiled regular expression. Immutable, but kept per thread: see find().
class Regex {
public:
   /// The compiled form from this thread's cache. Valid until the thread has compiled some hundred others.
   static const Regex& find(std::string_view pattern, const RegexFlags& flags = {});

   Regex(std::string_view pattern, const RegexFlags& flags);
   ~Regex();

   uint32_t captures() const { return captures_; }
   /// Does it match anywhere in the text?
   bool matches(std::string_view text) const;
   /// The leftmost match at or after byte `start`, as long (or short) as PostgreSQL has it: spans[0] is the match,
   /// spans[1..] the captures, as many as asked for. False: none.
   bool search(std::string_view text, size_t start, std::vector<RegexSpan>& spans, bool withCaptures) const;

private:
   struct Engines;
   std::unique_ptr<Engines> engines_;
   uint32_t captures_ = 0;
};

/// Flags of regexp_match and its kin ("gix"); `isGlobal` null: g is an error.
RegexFlags parseRegexFlags(std::string_view options, bool* isGlobal);

} // namespace ouzel::executor
