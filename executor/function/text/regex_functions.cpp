#include "executor/function/array_builder.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/regex_matches.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// The operators ~, ~*, !~, !~*; regexp_replace, regexp_match, regexp_split_to_array, regexp_like, _count, _instr,
// _substr; SIMILAR TO.

namespace ouzel::executor {

bool RegexMatches::next(std::vector<RegexSpan>& spans, bool withCaptures) {
   if (searchFrom_ > text_.size() || !regex_.search(text_, searchFrom_, spans, withCaptures)) return false;
   searchFrom_ = spans[0].end;
   if (spans[0].begin == spans[0].end)
      searchFrom_ += searchFrom_ < text_.size() ? characterBytes(text_[searchFrom_]) : 1;
   return true;
}

std::optional<std::string_view> nextPiece(RegexMatches& matches, std::string_view text, size_t& begin,
                                          std::vector<RegexSpan>& spans) {
   while (matches.next(spans, false)) {
      if (spans[0].begin >= text.size() || spans[0].end <= begin) continue;
      const std::string_view piece = text.substr(begin, spans[0].begin - begin);
      begin = spans[0].end;
      return piece;
   }
   return std::nullopt;
}

StringView captureArray(Arena& arena, const Regex& regex, std::string_view text, const std::vector<RegexSpan>& spans) {
   ArrayBuilder captures(arena, oid::text);
   for (size_t i = regex.captures() == 0 ? 0 : 1; i < spans.size(); ++i)
      if (spans[i].isMatched())
         captures.addText(spans[i].of(text));
      else
         captures.addNull();
   return captures.finish();
}

namespace {

// ---- predicates: the pattern is nearly always a constant ----

/// The text that is matched: character(n) is padded with blanks.
class RegexSubject {
public:
   explicit RegexSubject(const SqlType& type) {
      if (type.oid == oid::bpchar && type.typmod >= 4) width_ = static_cast<uint32_t>(type.typmod - 4);
   }
   std::string_view of(const StringView& value) {
      const uint32_t characters = width_ == 0 ? 0 : countCharacters(value.view());
      if (characters >= width_) return value.view();
      buffer_.assign(value.view());
      buffer_.append(width_ - characters, ' ');
      return buffer_;
   }

private:
   uint32_t width_ = 0;
   std::string buffer_;
};

template <bool negated, bool ignoreCase>
void matchRegex(const KernelCall& call, ResultVector& result) {
   uint8_t* out = result.values<uint8_t>();
   RegexFlags flags;
   flags.ignoreCase = ignoreCase;
   const Vector &texts = call.args[0], &patterns = call.args[1];
   RegexSubject subject(call.argTypes[0]);
   if (patterns.encoding == Encoding::Constant) {
      const Regex& regex = Regex::find(patterns.value<StringView>(0).view(), flags);
      forEachRow(call.rows,
                 [&](uint32_t row) { out[row] = regex.matches(subject.of(texts.value<StringView>(row))) != negated; });
      return;
   }
   forEachRow(call.rows, [&](uint32_t row) {
      const Regex& regex = Regex::find(patterns.value<StringView>(row).view(), flags);
      out[row] = regex.matches(subject.of(texts.value<StringView>(row))) != negated;
   });
}

RegexFlags flagsWithoutGlobal(std::string_view options, const char* function, const char* hint = nullptr) {
   bool isGlobal = false;
   const RegexFlags flags = parseRegexFlags(options, &isGlobal);
   if (isGlobal) {
      SqlError error(sqlstate::invalidParameterValue,
                     std::string(function) + "() does not support the \"global\" option");
      if (hint) throw std::move(error).hint(hint);
      throw error;
   }
   return flags;
}

bool regexpLikeFlags(const StringView& s, const StringView& pattern, const StringView& options) {
   return Regex::find(pattern.view(), flagsWithoutGlobal(options.view(), "regexp_like")).matches(s.view());
}
bool regexpLike(const StringView& s, const StringView& pattern) {
   return Regex::find(pattern.view()).matches(s.view());
}

// ---- substring(text from pattern), regexp_match ----

std::optional<StringView> regexSubstring(const StringView& s, const StringView& pattern) {
   const Regex& regex = Regex::find(pattern.view());
   std::vector<RegexSpan> spans;
   if (!regex.search(s.view(), 0, spans, true)) return std::nullopt;
   const RegexSpan& span = spans[regex.captures() > 0 ? 1 : 0];
   if (!span.isMatched()) return std::nullopt;
   return StringView(span.of(s.view()));
}

std::optional<StringView> matchArray(std::string_view text, const Regex& regex, KernelEnv& env) {
   std::vector<RegexSpan> spans;
   if (!regex.search(text, 0, spans, true)) return std::nullopt;
   return captureArray(env.strings, regex, text, spans);
}
std::optional<StringView> regexpMatch(const StringView& s, const StringView& pattern, KernelEnv& env) {
   return matchArray(s.view(), Regex::find(pattern.view()), env);
}
std::optional<StringView> regexpMatchFlags(const StringView& s, const StringView& pattern, const StringView& options,
                                           KernelEnv& env) {
   const RegexFlags flags =
       flagsWithoutGlobal(options.view(), "regexp_match", "Use the regexp_matches function instead.");
   return matchArray(s.view(), Regex::find(pattern.view(), flags), env);
}

StringView splitArray(std::string_view text, const Regex& regex, KernelEnv& env) {
   ArrayBuilder pieces(env.strings, oid::text);
   RegexMatches matches(regex, text);
   std::vector<RegexSpan> spans;
   size_t begin = 0;
   while (const std::optional<std::string_view> piece = nextPiece(matches, text, begin, spans))
      pieces.addText(*piece);
   pieces.addText(text.substr(begin));
   return pieces.finish();
}
StringView regexpSplit(const StringView& s, const StringView& pattern, KernelEnv& env) {
   return splitArray(s.view(), Regex::find(pattern.view()), env);
}
StringView regexpSplitFlags(const StringView& s, const StringView& pattern, const StringView& options, KernelEnv& env) {
   return splitArray(s.view(), Regex::find(pattern.view(), flagsWithoutGlobal(options.view(), "regexp_split_to_array")),
                     env);
}

// ---- regexp_replace ----

void appendReplacement(ValueBuilder& out, std::string_view replacement, std::string_view text,
                       const std::vector<RegexSpan>& spans) {
   for (size_t i = 0; i < replacement.size(); ++i) {
      const char c = replacement[i];
      if (c != '\\' || i + 1 == replacement.size()) {
         out.push_back(c);
         continue;
      }
      const char next = replacement[i + 1];
      if (next >= '1' && next <= '9') {
         const size_t capture = static_cast<size_t>(next - '0');
         if (capture < spans.size() && spans[capture].isMatched()) out.append(spans[capture].of(text));
         ++i;
      } else if (next == '&') {
         out.append(spans[0].of(text));
         ++i;
      } else if (next == '\\') {
         out.push_back('\\');
         ++i;
      } else {
         out.push_back('\\');
      }
   }
}

/// Replace the n-th match (0: all) that begins at or after byte `start`.
StringView replaceMatches(const StringView& s, const Regex& regex, std::string_view replacement, size_t start,
                          int32_t n, KernelEnv& env) {
   const std::string_view text = s.view();
   const bool withCaptures = replacement.find('\\') != std::string_view::npos;
   RegexMatches matches(regex, text, start);
   thread_local std::vector<RegexSpan> spans; // kept, since making one takes as long as a short search
   ValueBuilder result(env.strings);
   size_t copied = 0;
   bool changed = false;
   for (int32_t count = 1; matches.next(spans, withCaptures); ++count) {
      if (n > 0 && count < n) continue;
      result.append(text.substr(copied, spans[0].begin - copied));
      appendReplacement(result, replacement, text, spans);
      copied = spans[0].end;
      changed = true;
      if (n > 0) break;
   }
   if (!changed) return s;
   return result.append(text.substr(copied)).finish();
}

StringView regexpReplace(const StringView& s, const StringView& pattern, const StringView& replacement,
                         KernelEnv& env) {
   return replaceMatches(s, Regex::find(pattern.view()), replacement.view(), 0, 1, env);
}
StringView regexpReplaceFlags(const StringView& s, const StringView& pattern, const StringView& replacement,
                              const StringView& options, KernelEnv& env) {
   if (!options.empty() && options.view()[0] >= '0' && options.view()[0] <= '9')
      throw SqlError(sqlstate::invalidParameterValue,
                     "invalid regular expression option: \"" + std::string(options.view().substr(0, 1)) + "\"")
          .hint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer "
                "explicitly.");
   bool isGlobal = false;
   const RegexFlags flags = parseRegexFlags(options.view(), &isGlobal);
   return replaceMatches(s, Regex::find(pattern.view(), flags), replacement.view(), 0, isGlobal ? 0 : 1, env);
}

[[noreturn, gnu::cold]] void throwParameter(const char* name, int32_t value) {
   throw SqlError(sqlstate::invalidParameterValue,
                  "invalid value for parameter \"" + std::string(name) + "\": " + std::to_string(value));
}
/// The byte at which character `start` (counted from 1) begins.
size_t startOffset(std::string_view text, int32_t start) {
   if (start <= 0) throwParameter("start", start);
   const auto skip = static_cast<uint32_t>(start - 1);
   const size_t offset = offsetOfCharacter(text, skip);
   // Past the end of the text there is no match, not even an empty one.
   return offset == text.size() && countCharacters(text) < skip ? text.size() + 1 : offset;
}

StringView regexpReplaceExtended(const StringView& s, const StringView& pattern, const StringView& replacement,
                                 int32_t start, int32_t n, const StringView& options, KernelEnv& env) {
   if (start <= 0) throwParameter("start", start);
   if (n < 0) throwParameter("n", n);
   bool isGlobal = false;
   const RegexFlags flags = parseRegexFlags(options.view(), &isGlobal);
   return replaceMatches(s, Regex::find(pattern.view(), flags), replacement.view(), startOffset(s.view(), start), n,
                         env);
}
StringView regexpReplaceNoFlags(const StringView& s, const StringView& pattern, const StringView& replacement,
                                int32_t start, int32_t n, KernelEnv& env) {
   return regexpReplaceExtended(s, pattern, replacement, start, n, StringView(), env);
}
StringView regexpReplaceNoN(const StringView& s, const StringView& pattern, const StringView& replacement,
                            int32_t start, KernelEnv& env) {
   return regexpReplaceExtended(s, pattern, replacement, start, 1, StringView(), env);
}

// ---- regexp_count, regexp_instr, regexp_substr ----

int32_t countFlags(const StringView& s, const StringView& pattern, int32_t start, const StringView& options) {
   if (start <= 0) throwParameter("start", start);
   const RegexFlags flags = flagsWithoutGlobal(options.view(), "regexp_count");
   RegexMatches matches(Regex::find(pattern.view(), flags), s.view(), startOffset(s.view(), start));
   std::vector<RegexSpan> spans;
   int32_t count = 0;
   while (matches.next(spans, false))
      ++count;
   return count;
}
int32_t countStart(const StringView& s, const StringView& pattern, int32_t start) {
   return countFlags(s, pattern, start, StringView());
}
int32_t countAll(const StringView& s, const StringView& pattern) {
   return countFlags(s, pattern, 1, StringView());
}

/// The subexpression `subexpr` of the n-th match; nullopt if there is none. An expression without captures has one, the
/// whole match.
std::optional<RegexSpan> nthMatch(const StringView& s, const StringView& pattern, int32_t start, int32_t n,
                                  std::string_view options, int32_t subexpr, const char* function) {
   if (start <= 0) throwParameter("start", start);
   if (n <= 0) throwParameter("n", n);
   if (subexpr < 0) throwParameter("subexpr", subexpr);
   const Regex& regex = Regex::find(pattern.view(), flagsWithoutGlobal(options, function));
   if (subexpr == 1 && regex.captures() == 0) subexpr = 0;
   RegexMatches matches(regex, s.view(), startOffset(s.view(), start));
   std::vector<RegexSpan> spans;
   while (matches.next(spans, subexpr > 0)) {
      if (--n > 0) continue;
      if (static_cast<uint32_t>(subexpr) > regex.captures()) return std::nullopt;
      const RegexSpan& span = spans[static_cast<size_t>(subexpr)];
      return span.isMatched() ? std::optional(span) : std::nullopt;
   }
   return std::nullopt;
}

int32_t instrFull(const StringView& s, const StringView& pattern, int32_t start, int32_t n, int32_t endOption,
                  const StringView& options, int32_t subexpr) {
   if (start <= 0) throwParameter("start", start);
   if (n <= 0) throwParameter("n", n);
   if (endOption != 0 && endOption != 1) throwParameter("endoption", endOption);
   const std::optional<RegexSpan> span = nthMatch(s, pattern, start, n, options.view(), subexpr, "regexp_instr");
   if (!span) return 0;
   return static_cast<int32_t>(countCharacters(s.view().substr(0, endOption ? span->end : span->begin))) + 1;
}
int32_t instrFlags(const StringView& s, const StringView& p, int32_t start, int32_t n, int32_t endOption,
                   const StringView& options) {
   return instrFull(s, p, start, n, endOption, options, 0);
}
int32_t instrEnd(const StringView& s, const StringView& p, int32_t start, int32_t n, int32_t endOption) {
   return instrFull(s, p, start, n, endOption, StringView(), 0);
}
int32_t instrN(const StringView& s, const StringView& p, int32_t start, int32_t n) {
   return instrFull(s, p, start, n, 0, StringView(), 0);
}
int32_t instrStart(const StringView& s, const StringView& p, int32_t start) {
   return instrFull(s, p, start, 1, 0, StringView(), 0);
}
int32_t instr(const StringView& s, const StringView& p) {
   return instrFull(s, p, 1, 1, 0, StringView(), 0);
}

std::optional<StringView> substrFull(const StringView& s, const StringView& pattern, int32_t start, int32_t n,
                                     const StringView& options, int32_t subexpr) {
   const std::optional<RegexSpan> span = nthMatch(s, pattern, start, n, options.view(), subexpr, "regexp_substr");
   return span ? std::optional(StringView(span->of(s.view()))) : std::nullopt;
}
std::optional<StringView> substrFlags(const StringView& s, const StringView& p, int32_t start, int32_t n,
                                      const StringView& options) {
   return substrFull(s, p, start, n, options, 0);
}
std::optional<StringView> substrN(const StringView& s, const StringView& p, int32_t start, int32_t n) {
   return substrFull(s, p, start, n, StringView(), 0);
}
std::optional<StringView> substrStart(const StringView& s, const StringView& p, int32_t start) {
   return substrFull(s, p, start, 1, StringView(), 0);
}
std::optional<StringView> substr(const StringView& s, const StringView& p) {
   return substrFull(s, p, 1, 1, StringView(), 0);
}

// ---- SIMILAR TO ----

/// Converts a SIMILAR TO pattern to a regular expression, as PostgreSQL does.
std::string similarToRegex(std::string_view pattern, std::optional<std::string_view> escape) {
   const std::string_view e = escape ? *escape : std::string_view("\\");
   if (countCharacters(e) > 1)
      throw SqlError(sqlstate::invalidEscapeSequence, "invalid escape string")
          .hint("Escape string must be empty or one character.");
   std::string out = "^(?:";
   bool afterEscape = false, inBracket = false;
   int separators = 0;
   for (size_t i = 0; i < pattern.size();) {
      const std::string_view c = pattern.substr(i, characterBytes(pattern[i]));
      i += c.size();
      if (c.size() > 1) {
         if (afterEscape) {
            out.append("\\").append(c);
            afterEscape = false;
         } else if (c == e) {
            afterEscape = true;
         } else {
            out.append(c);
         }
         continue;
      }
      const char p = c[0];
      if (afterEscape) {
         if (p == '"' && !inBracket) { // escape-double-quote separates the parts of substring(... similar ...)
            if (separators == 0) {
               out.append("){1,1}?(");
            } else if (separators == 1) {
               out.append("){1,1}(?:");
            } else {
               throw SqlError(sqlstate::invalidUseOfEscapeCharacter,
                              "SQL regular expression may not contain more than two escape-double-quote separators");
            }
            ++separators;
         } else {
            out.append("\\").push_back(p);
         }
         afterEscape = false;
      } else if (c == e) {
         afterEscape = true;
      } else if (inBracket) {
         if (p == '\\') out.push_back('\\');
         out.push_back(p);
         if (p == ']') inBracket = false;
      } else if (p == '[') {
         out.push_back('[');
         inBracket = true;
      } else if (p == '%') {
         out.append(".*");
      } else if (p == '_') {
         out.push_back('.');
      } else if (p == '(') {
         out.append("(?:");
      } else if (p == '\\' || p == '.' || p == '^' || p == '$') {
         out.append("\\").push_back(p);
      } else {
         out.push_back(p);
      }
   }
   return out.append(")$");
}
StringView similarTo1(const StringView& pattern, KernelEnv& env) {
   return env.copy(similarToRegex(pattern.view(), std::nullopt));
}
StringView similarTo2(const StringView& pattern, const StringView& escape, KernelEnv& env) {
   return env.copy(similarToRegex(pattern.view(), escape.view()));
}
std::optional<StringView> similarEscape(std::optional<StringView> pattern, std::optional<StringView> escape,
                                        KernelEnv& env) {
   if (!pattern) return std::nullopt;
   return env.copy(similarToRegex(pattern->view(), escape ? std::optional(escape->view()) : std::nullopt));
}
/// substring(text similar pattern escape e).
std::optional<StringView> substringSimilar(const StringView& s, const StringView& pattern, const StringView& escape) {
   return regexSubstring(s, StringView(similarToRegex(pattern.view(), escape.view()), StringView::Storage::Transient));
}

} // namespace

void registerRegex() {
   for (const char* prefix : {"text", "name"}) {
      const std::string p = prefix;
      registerKernel(p + "regexeq", "ss", {matchRegex<false, false>, true, false});
      registerKernel(p + "regexne", "ss", {matchRegex<true, false>, true, false});
      registerKernel(p + "icregexeq", "ss", {matchRegex<false, true>, true, false});
      registerKernel(p + "icregexne", "ss", {matchRegex<true, true>, true, false});
   }
   addKernel<regexpLike>("regexp_like_no_flags");
   addKernel<regexpLikeFlags>("regexp_like");
   addKernel<regexSubstring>("textregexsubstr");
   addKernel<regexpMatch>("regexp_match_no_flags");
   addKernel<regexpMatchFlags>("regexp_match");
   addKernel<regexpSplit>("regexp_split_to_array_no_flags");
   addKernel<regexpSplitFlags>("regexp_split_to_array");
   addKernel<regexpReplace>("textregexreplace_noopt");
   addKernel<regexpReplaceFlags>("textregexreplace");
   addKernel<regexpReplaceExtended>("textregexreplace_extended");
   addKernel<regexpReplaceNoFlags>("textregexreplace_extended_no_flags");
   addKernel<regexpReplaceNoN>("textregexreplace_extended_no_n");
   addKernel<countAll>("regexp_count_no_start");
   addKernel<countStart>("regexp_count_no_flags");
   addKernel<countFlags>("regexp_count");
   addKernel<instr>("regexp_instr_no_start");
   addKernel<instrStart>("regexp_instr_no_n");
   addKernel<instrN>("regexp_instr_no_endoption");
   addKernel<instrEnd>("regexp_instr_no_flags");
   addKernel<instrFlags>("regexp_instr_no_subexpr");
   addKernel<instrFull>("regexp_instr");
   addKernel<substr>("regexp_substr_no_start");
   addKernel<substrStart>("regexp_substr_no_n");
   addKernel<substrN>("regexp_substr_no_flags");
   addKernel<substrFlags>("regexp_substr_no_subexpr");
   addKernel<substrFull>("regexp_substr");
   addKernel<similarTo1>("similar_to_escape_1");
   addKernel<similarTo2>("similar_to_escape_2");
   addKernel<similarEscape>("similar_escape");
   addKernel<substringSimilar>("sql:substring");
}

} // namespace ouzel::executor
