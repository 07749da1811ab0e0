#include "executor/function/text/like.hpp"

#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/text_search.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// LIKE, ILIKE and their negations. ESCAPE is a function that rewrites the pattern (like_escape).

namespace ouzel::executor {

LikePattern::LikePattern(std::string_view pattern, bool foldCase) : pattern_(pattern) {
   if (foldCase)
      for (char& c : pattern_)
         c = asciiLower(c);
   segments_.emplace_back();
   bool hasSingle = false, hasAny = false, dangling = false, lastWasAny = false;
   for (size_t i = 0; i < pattern_.size(); ++i) {
      char c = pattern_[i];
      lastWasAny = false;
      if (c == '_') {
         hasSingle = true;
      } else if (c == '%') {
         if (i == 0) startsOpen_ = true;
         hasAny = lastWasAny = true;
         if (!segments_.back().empty()) segments_.emplace_back();
         continue;
      } else if (c == '\\') {
         if (i + 1 == pattern_.size()) {
            dangling = true;
            break;
         }
         c = pattern_[++i];
      }
      segments_.back().push_back(c);
   }
   endsOpen_ = lastWasAny;
   if (segments_.size() > 1 && segments_.back().empty()) segments_.pop_back();
   if (hasSingle || dangling) return;
   if (!hasAny) {
      kind_ = Kind::Exact;
   } else if (segments_.size() == 1) {
      kind_ = startsOpen_ && endsOpen_ ? Kind::Contains : startsOpen_ ? Kind::Suffix : Kind::Prefix;
   } else {
      kind_ = Kind::Segments;
   }
}

bool LikePattern::matchesSegments(std::string_view text) const {
   size_t first = 0, last = segments_.size();
   if (!startsOpen_) {
      if (!text.starts_with(segments_.front())) return false;
      text.remove_prefix(segments_.front().size());
      ++first;
   }
   if (!endsOpen_) {
      if (!text.ends_with(segments_.back())) return false;
      text.remove_suffix(segments_.back().size());
      --last;
   }
   for (size_t i = first; i < last; ++i) {
      const size_t found = findBytes(text, segments_[i]);
      if (found == std::string_view::npos) return false;
      text.remove_prefix(found + segments_[i].size());
   }
   return true;
}

namespace {

[[noreturn, gnu::cold]] void throwDanglingEscape() {
   throw SqlError(sqlstate::invalidEscapeSequence, "LIKE pattern must not end with escape character");
}

/// Match with backtracking to the last % only. That suffices: a later % can match all that an earlier % could take.
bool matchGeneral(std::string_view text, std::string_view pattern) {
   size_t t = 0, p = 0, retryText = std::string_view::npos, retryPattern = 0;
   for (;;) {
      if (p < pattern.size() && pattern[p] == '%') {
         retryPattern = ++p;
         retryText = t;
         if (p == pattern.size()) return true;
         continue;
      }
      if (t == text.size()) return p == pattern.size();
      bool same = false;
      if (p < pattern.size() && pattern[p] == '_') {
         t += characterBytes(text[t]);
         ++p;
         continue;
      }
      if (p < pattern.size()) {
         size_t literal = p;
         if (pattern[p] == '\\') {
            if (p + 1 == pattern.size()) throwDanglingEscape();
            ++literal;
         }
         same = pattern[literal] == text[t];
         if (same) {
            p = literal + 1;
            ++t;
            continue;
         }
      }
      if (retryText == std::string_view::npos) return false;
      retryText += characterBytes(text[retryText]);
      if (retryText > text.size()) return false;
      t = retryText;
      p = retryPattern;
   }
}

} // namespace

bool LikePattern::matches(std::string_view text) const {
   switch (kind_) {
   case Kind::Exact: return text == literal();
   case Kind::Prefix: return text.starts_with(literal());
   case Kind::Suffix: return text.ends_with(literal());
   case Kind::Contains: return findBytes(text, literal()) != std::string_view::npos;
   case Kind::Segments: return matchesSegments(text);
   case Kind::General: return matchGeneral(text, pattern_);
   }
   return false;
}

namespace {

/// The text that is matched: bpchar(n) is padded, and folded for ILIKE.
class Subject {
public:
   Subject(const KernelCall& call, bool foldCase) : foldCase_(foldCase) {
      const SqlType& type = call.argTypes[0];
      if (type.oid == oid::bpchar && type.typmod >= 4) width_ = static_cast<uint32_t>(type.typmod - 4);
   }
   bool isPlain() const { return !foldCase_ && width_ == 0; }
   std::string_view of(const StringView& value) {
      if (isPlain()) return value.view();
      buffer_.assign(value.view());
      const uint32_t characters = width_ == 0 ? 0 : countCharacters(buffer_);
      if (characters < width_) buffer_.append(width_ - characters, ' ');
      if (foldCase_)
         for (char& c : buffer_)
            c = asciiLower(c);
      return buffer_;
   }

private:
   bool foldCase_;
   uint32_t width_ = 0;
   std::string buffer_;
};

template <bool negated, typename Match>
void matchRows(const Vector& texts, Selection rows, uint8_t* out, Match match) {
   const StringView* values = texts.values<StringView>();
   if (texts.encoding == Encoding::Flat) {
      forEachRow(rows, [&](uint32_t row) { out[row] = match(values[row]) != negated; });
   } else {
      forEachRow(rows, [&](uint32_t row) { out[row] = match(values[texts.positionOf(row)]) != negated; });
   }
}

template <bool negated, bool foldCase>
void like(const KernelCall& call, ResultVector& result) {
   const Vector &texts = call.args[0], &patterns = call.args[1];
   uint8_t* out = result.values<uint8_t>();
   Subject subject(call, foldCase);
   if (patterns.encoding != Encoding::Constant) {
      forEachRow(call.rows, [&](uint32_t row) {
         const LikePattern pattern(patterns.value<StringView>(row).view(), foldCase);
         out[row] = pattern.matches(subject.of(texts.value<StringView>(row))) != negated;
      });
      return;
   }
   const LikePattern pattern(patterns.value<StringView>(0).view(), foldCase);
   if (!subject.isPlain())
      return matchRows<negated>(texts, call.rows, out,
                                [&](const StringView& text) { return pattern.matches(subject.of(text)); });
   const std::string_view literal = pattern.literal();
   switch (pattern.kind()) {
   case LikePattern::Kind::Exact: {
      const StringView wanted(literal);
      return matchRows<negated>(texts, call.rows, out, [&](const StringView& text) { return text == wanted; });
   }
   case LikePattern::Kind::Prefix:
      return matchRows<negated>(texts, call.rows, out,
                                [=](const StringView& text) { return text.view().starts_with(literal); });
   case LikePattern::Kind::Suffix:
      return matchRows<negated>(texts, call.rows, out,
                                [=](const StringView& text) { return text.view().ends_with(literal); });
   case LikePattern::Kind::Contains:
      return matchRows<negated>(texts, call.rows, out, [=](const StringView& text) {
         return findBytes(text.view(), literal) != std::string_view::npos;
      });
   default:
      return matchRows<negated>(texts, call.rows, out,
                                [&](const StringView& text) { return pattern.matches(text.view()); });
   }
}

/// pattern ESCAPE c: the same pattern with backslash as its escape character.
StringView likeEscape(const StringView& pattern, const StringView& escape, KernelEnv& env) {
   const std::string_view e = escape.view();
   ValueBuilder result(env.strings);
   if (e.empty()) { // no escape character: backslashes are ordinary
      for (const char c : pattern.view()) {
         if (c == '\\') result.push_back('\\');
         result.push_back(c);
      }
      return result.finish();
   }
   if (countCharacters(e) != 1)
      throw SqlError(sqlstate::invalidEscapeSequence, "invalid escape string")
          .hint("Escape string must be empty or one character.");
   if (e == "\\") return pattern;
   std::string_view rest = pattern.view();
   bool afterEscape = false;
   while (!rest.empty()) {
      const std::string_view c = rest.substr(0, characterBytes(rest[0]));
      rest.remove_prefix(c.size());
      if (c == e && !afterEscape) {
         result.push_back('\\');
         afterEscape = true;
      } else if (c == "\\") {
         if (!afterEscape) result.push_back('\\');
         result.push_back('\\');
         afterEscape = false;
      } else {
         result.append(c);
         afterEscape = false;
      }
   }
   return result.finish();
}

} // namespace

void registerLike() {
   for (const char* name : {"textlike", "namelike", "bytealike"})
      registerKernel(name, "ss", {like<false, false>, true, false});
   for (const char* name : {"textnlike", "namenlike", "byteanlike"})
      registerKernel(name, "ss", {like<true, false>, true, false});
   for (const char* name : {"texticlike", "nameiclike"})
      registerKernel(name, "ss", {like<false, true>, true, false});
   for (const char* name : {"texticnlike", "nameicnlike"})
      registerKernel(name, "ss", {like<true, true>, true, false});
   addKernels<likeEscape>({"like_escape", "like_escape_bytea"});
}

} // namespace ouzel::executor
