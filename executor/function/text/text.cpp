#include <algorithm>

#include "common/type/blanks.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text/text_search.hpp"
#include "executor/function/text/utf8_text.hpp"
#include "executor/function/value_builder.hpp"

// Functions that measure, cut and join text. A part of an argument is given as a view of its bytes, not as a copy.

namespace ouzel::executor {

namespace {

[[noreturn, gnu::cold]] void throwTooLong() {
   throw SqlError(sqlstate::programLimitExceeded, "requested length too large");
}

/// A view of a part of an argument; short texts are inline.
StringView part(std::string_view text) {
   return StringView(text);
}

/// From here on a value takes so long to copy that a cancel must be noticed meanwhile.
constexpr uint32_t longBytes = 1 << 20;

StringView concatenate(StringView a, StringView b, KernelEnv& env) {
   const uint32_t size = a.size() + b.size();
   if (size > StringView::lengthMax) throwTooLong();
   if (size > longBytes) {
      ValueBuilder result(env.strings);
      result.reserve(size);
      return result.append(a.view()).append(b.view()).finish();
   }
   char bytes[StringView::inlineMax];
   char* target = size <= StringView::inlineMax ? bytes : static_cast<char*>(env.strings.allocate(size, 1));
   std::memcpy(target, a.data(), a.size());
   std::memcpy(target + a.size(), b.data(), b.size());
   return StringView(target, size);
}

int32_t characterLength(StringView s) {
   return static_cast<int32_t>(countCharacters(s.view()));
}
int32_t lengthWithoutBlanks(StringView s) {
   return static_cast<int32_t>(countCharacters(trimTrailingBlanks(s.view())));
}
int32_t octetLength(StringView s) {
   return static_cast<int32_t>(s.size());
}
/// octet_length(char(n)) counts the padding, which is not stored.
int32_t bpcharOctetLength(StringView s, KernelEnv& env) {
   const int32_t typmod = env.call.argTypes[0].typmod;
   if (typmod < 4) return octetLength(s);
   const int32_t blanks = std::max(0, typmod - 4 - characterLength(s));
   return octetLength(s) + blanks;
}

/// The value of a bpchar(n) with its blanks, which it needs where n is lost.
StringView withBlanks(StringView s, KernelEnv& env) {
   std::string text;
   appendWithBlanks(text, s.view(), env.call.argTypes[0].typmod);
   if (text.size() == s.size()) return s;
   ValueBuilder out(env.strings);
   out.append(text);
   return out.finish();
}

// ---- substring ----

[[noreturn, gnu::cold]] void throwNegativeLength() {
   throw SqlError(sqlstate::substringError, "negative substring length not allowed");
}

std::string_view slice(std::string_view text, int64_t start, int64_t end, bool inBytes) {
   // Positions count from 1; end is exclusive.
   if (start < 1) start = 1;
   if (end <= start) return {};
   const auto skip = static_cast<uint64_t>(start - 1), count = static_cast<uint64_t>(end - start);
   if (skip >= text.size()) return {};
   if (inBytes) return text.substr(skip, count);
   const size_t from = offsetOfCharacter(text, static_cast<uint32_t>(skip));
   text.remove_prefix(from);
   if (count >= text.size()) return text;
   return text.substr(0, offsetOfCharacter(text, static_cast<uint32_t>(count)));
}
int64_t endOf(int32_t start, int32_t length) {
   if (length < 0) throwNegativeLength();
   return int64_t{start} + length;
}
constexpr int64_t noEnd = INT64_MAX;

StringView substring(const StringView& s, int32_t start, int32_t length) {
   return part(slice(s.view(), start, endOf(start, length), false));
}
StringView substringToEnd(const StringView& s, int32_t start) {
   return part(slice(s.view(), start, noEnd, false));
}
StringView byteSubstring(const StringView& s, int32_t start, int32_t length) {
   return part(slice(s.view(), start, endOf(start, length), true));
}
StringView byteSubstringToEnd(const StringView& s, int32_t start) {
   return part(slice(s.view(), start, noEnd, true));
}

StringView left(const StringView& s, int32_t n) {
   const std::string_view text = s.view();
   if (n >= 0) return part(text.substr(0, offsetOfCharacter(text, static_cast<uint32_t>(n))));
   const int64_t keep = int64_t{countCharacters(text)} + n;
   return keep <= 0 ? StringView() : part(text.substr(0, offsetOfCharacter(text, static_cast<uint32_t>(keep))));
}
StringView right(const StringView& s, int32_t n) {
   const std::string_view text = s.view();
   const int64_t skip = n >= 0 ? int64_t{countCharacters(text)} - n : -int64_t{n};
   return skip <= 0 ? s : part(text.substr(offsetOfCharacter(text, static_cast<uint32_t>(skip))));
}

template <bool inBytes>
StringView overlayAt(std::string_view text, std::string_view inset, int32_t start, int32_t length, KernelEnv& env) {
   if (start <= 0) throwNegativeLength();
   int32_t after;
   if (__builtin_add_overflow(start, length, &after))
      throw SqlError(sqlstate::numericValueOutOfRange, "integer out of range");
   ValueBuilder result(env.strings);
   return result.append(slice(text, 1, start, inBytes))
       .append(inset)
       .append(slice(text, after, noEnd, inBytes))
       .finish();
}
template <bool inBytes>
StringView overlay(const StringView& s, const StringView& inset, int32_t start, int32_t length, KernelEnv& env) {
   return overlayAt<inBytes>(s.view(), inset.view(), start, length, env);
}
template <bool inBytes>
StringView overlayNoLength(const StringView& s, const StringView& inset, int32_t start, KernelEnv& env) {
   const size_t length = inBytes ? inset.size() : countCharacters(inset.view());
   return overlayAt<inBytes>(s.view(), inset.view(), start, static_cast<int32_t>(length), env);
}

// ---- search ----

int32_t position(const StringView& s, const StringView& needle) {
   const size_t found = findBytes(s.view(), needle.view());
   return found == std::string_view::npos ? 0 : static_cast<int32_t>(countCharacters(s.view().substr(0, found))) + 1;
}
int32_t bytePosition(const StringView& s, const StringView& needle) {
   const size_t found = findBytes(s.view(), needle.view());
   return found == std::string_view::npos ? 0 : static_cast<int32_t>(found) + 1;
}
bool startsWith(const StringView& s, const StringView& prefix) {
   return s.view().starts_with(prefix.view());
}

StringView replaceAll(const StringView& s, const StringView& from, const StringView& to, KernelEnv& env) {
   std::string_view rest = s.view();
   if (from.empty() || rest.empty()) return s;
   size_t found = findBytes(rest, from.view());
   if (found == std::string_view::npos) return s;
   ValueBuilder result(env.strings);
   while (found != std::string_view::npos) {
      result.append(rest.substr(0, found)).append(to.view());
      rest.remove_prefix(found + from.size());
      found = findBytes(rest, from.view());
   }
   return result.append(rest).finish();
}

StringView translate(const StringView& s, const StringView& from, const StringView& to, KernelEnv& env) {
   if (s.empty()) return s;
   // Pairs of characters (from, to). Characters of `from` without a counterpart in `to` are dropped from the text.
   std::vector<std::pair<std::string_view, std::string_view>> pairs;
   std::string_view f = from.view(), t = to.view();
   while (!f.empty()) {
      const std::string_view source = f.substr(0, characterBytes(f[0]));
      f.remove_prefix(source.size());
      std::string_view target;
      if (!t.empty()) {
         target = t.substr(0, characterBytes(t[0]));
         t.remove_prefix(target.size());
      }
      pairs.emplace_back(source, target);
   }
   ValueBuilder result(env.strings);
   std::string_view rest = s.view();
   while (!rest.empty()) {
      const std::string_view c = rest.substr(0, characterBytes(rest[0]));
      rest.remove_prefix(c.size());
      const auto it = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == c; });
      result.append(it == pairs.end() ? c : it->second);
   }
   return result.finish();
}

/// Field n of the text split at `separator`; negative n counts from the end.
StringView splitPart(const StringView& s, const StringView& separator, int32_t n) {
   if (n == 0) throw SqlError(sqlstate::invalidParameterValue, "field position must not be zero");
   const std::string_view text = s.view(), sep = separator.view();
   if (text.empty()) return StringView();
   if (sep.empty()) return n == 1 || n == -1 ? s : StringView();
   size_t begin = 0;
   if (n > 0) {
      for (size_t end = findBytes(text, sep); end != std::string_view::npos;) {
         if (--n == 0) return part(text.substr(begin, end - begin));
         begin = end + sep.size();
         const size_t next = findBytes(text.substr(begin), sep);
         end = next == std::string_view::npos ? next : begin + next;
      }
      return n == 1 ? part(text.substr(begin)) : StringView();
   }
   // Count from the end, but use the separators that a forward search finds.
   std::vector<std::string_view> fields;
   for (;;) {
      const size_t found = findBytes(text.substr(begin), sep);
      if (found == std::string_view::npos) break;
      fields.push_back(text.substr(begin, found));
      begin += found + sep.size();
   }
   fields.push_back(text.substr(begin));
   const int64_t index = static_cast<int64_t>(fields.size()) + n;
   return index < 0 ? StringView() : part(fields[static_cast<size_t>(index)]);
}

// ---- padding and trimming ----

/// A short text that is repeated often is appended in blocks of many: each append costs a call.
void appendRepeated(ValueBuilder& result, std::string_view text, size_t count) {
   constexpr size_t blockBytes = size_t{16} << 10;
   result.reserve(text.size() * count);
   if (text.size() * count > blockBytes && text.size() < blockBytes / 2) {
      const size_t blockCount = blockBytes / text.size();
      std::string block;
      for (size_t i = 0; i < blockCount; ++i)
         block.append(text);
      for (; count >= blockCount; count -= blockCount)
         result.append(block);
   }
   for (; count > 0; --count)
      result.append(text);
}

template <bool atLeft>
StringView pad(const StringView& s, int32_t length, const StringView& fill, KernelEnv& env) {
   const std::string_view text = s.view();
   const uint32_t wanted = length < 0 ? 0 : static_cast<uint32_t>(length), present = countCharacters(text);
   if (present >= wanted || fill.empty()) return part(text.substr(0, offsetOfCharacter(text, wanted)));
   uint32_t missing = wanted - present;
   if (size_t{missing} * 4 > StringView::lengthMax) throwTooLong();
   ValueBuilder result(env.strings);
   if (!atLeft) result.append(text);
   const uint32_t fillCharacters = countCharacters(fill.view());
   appendRepeated(result, fill.view(), missing / fillCharacters);
   result.append(fill.view().substr(0, offsetOfCharacter(fill.view(), missing % fillCharacters)));
   if (atLeft) result.append(text);
   return result.finish();
}

template <bool atLeft>
StringView padBlanks(const StringView& s, int32_t length, KernelEnv& env) {
   return pad<atLeft>(s, length, StringView(" ", 1), env);
}

/// True if the character at the front of `c` is one of `set`.
bool isOneOf(std::string_view c, std::string_view set) {
   if (c.size() == 1) return set.find(c[0]) != std::string_view::npos;
   for (size_t i = 0; i < set.size(); i += characterBytes(set[i]))
      if (set.substr(i, characterBytes(set[i])) == c) return true;
   return false;
}
enum TrimSide : uint8_t { trimLeft = 1, trimRight = 2, trimBoth = 3 };
template <uint8_t side, bool inBytes = false>
std::string_view trimmed(std::string_view text, std::string_view set) {
   if (set.empty()) return text;
   if constexpr ((side & trimLeft) != 0) {
      while (!text.empty()) {
         const uint32_t bytes = inBytes ? 1 : characterBytes(text[0]);
         if (!isOneOf(text.substr(0, bytes), set)) break;
         text.remove_prefix(bytes);
      }
   }
   if constexpr ((side & trimRight) != 0) {
      while (!text.empty()) {
         size_t begin = text.size() - 1;
         while (!inBytes && begin > 0 && isContinuation(text[begin]))
            --begin;
         if (!isOneOf(text.substr(begin), set)) break;
         text = text.substr(0, begin);
      }
   }
   return text;
}
template <uint8_t side>
StringView trim(const StringView& s, const StringView& set) {
   return part(trimmed<side>(s.view(), set.view()));
}
template <uint8_t side>
StringView trimBytes(const StringView& s, const StringView& set) {
   return part(trimmed<side, true>(s.view(), set.view()));
}
template <uint8_t side>
StringView trimBlanks(const StringView& s) {
   return part(trimmed<side>(s.view(), " "));
}

// ---- building ----

StringView repeatText(const StringView& s, int32_t count, KernelEnv& env) {
   if (count <= 0 || s.empty()) return StringView();
   const size_t size = size_t{s.size()} * static_cast<size_t>(count);
   if (size > StringView::lengthMax) throwTooLong();
   ValueBuilder result(env.strings);
   appendRepeated(result, s.view(), static_cast<size_t>(count));
   return result.finish();
}

StringView reverse(const StringView& s, KernelEnv& env) {
   ValueBuilder result(env.strings);
   const std::string_view text = s.view();
   size_t end = text.size();
   char* target = result.extend(end);
   for (size_t i = 0; i < text.size();) {
      const uint32_t bytes = characterBytes(text[i]);
      end -= bytes;
      std::memcpy(target + end, text.data() + i, bytes);
      i += bytes;
   }
   return result.finish();
}

int32_t asciiCode(const StringView& s) {
   return s.empty() ? 0 : static_cast<int32_t>(decodeCharacter(s.view()));
}

StringView characterOf(int32_t code) {
   if (code < 0) throw SqlError(sqlstate::invalidParameterValue, "character number must be positive");
   if (code == 0) throw SqlError(sqlstate::programLimitExceeded, "null character not permitted");
   if (code > 0x10ffff)
      throw SqlError(sqlstate::programLimitExceeded,
                     "requested character too large for encoding: " + std::to_string(code));
   if (code >= 0xd800 && code <= 0xdfff)
      throw SqlError(sqlstate::programLimitExceeded,
                     "requested character not valid for encoding: " + std::to_string(code));
   std::string text;
   appendCharacter(text, static_cast<uint32_t>(code));
   return StringView(text);
}

template <typename T>
StringView hexOf(T value, KernelEnv& env) {
   char digits[16];
   int at = 16;
   auto rest = static_cast<std::make_unsigned_t<T>>(value);
   do {
      digits[--at] = "0123456789abcdef"[rest & 15];
      rest = static_cast<decltype(rest)>(rest >> 4);
   } while (rest != 0);
   return env.copy({digits + at, static_cast<size_t>(16 - at)});
}

StringView same(const StringView& s) {
   return s;
}
/// Cast to name: at most 63 bytes, cut between characters.
StringView toName(const StringView& s) {
   if (s.size() < 64) return s;
   size_t size = 63;
   while (size > 0 && isContinuation(s.view()[size]))
      --size;
   return part(s.view().substr(0, size));
}
StringView bpcharToName(const StringView& s) {
   return part(trimTrailingBlanks(toName(s).view()));
}
StringView toChar(const StringView& s) {
   char byte;
   return part(parseChar(s.view(), byte));
}
StringView fromChar(const StringView& s, KernelEnv& env) {
   std::string text;
   appendChar(text, s.view());
   return env.copy(text);
}
/// A name is 64 characters to PostgreSQL, zeros behind its end.
std::optional<StringView> nameByte(const StringView& name, int32_t at) {
   constexpr int32_t nameBytes = 64;
   if (at < 0 || at >= nameBytes) return std::nullopt;
   const std::string_view bytes = name.view();
   return part(bytes.substr(std::min(bytes.size(), static_cast<size_t>(at)), 1));
}
StringView nameConcatOid(const StringView& name, int64_t oid, KernelEnv& env) {
   const std::string suffix = "_" + std::to_string(oid);
   std::string_view text = name.view();
   if (text.size() + suffix.size() > 63) {
      size_t size = 63 - suffix.size();
      while (size > 0 && isContinuation(text[size]))
         --size;
      text = text.substr(0, size);
   }
   return env.copy(std::string(text) + suffix);
}

void addCutting() {
   addKernel<substring>("text_substr");
   addKernel<substringToEnd>("text_substr_no_len", totalKernel);
   addKernel<byteSubstring>("bytea_substr");
   addKernel<byteSubstringToEnd>("bytea_substr_no_len", totalKernel);
   addKernel<left>("text_left", totalKernel);
   addKernel<right>("text_right", totalKernel);
   addKernel<overlay<false>>("textoverlay");
   addKernel<overlayNoLength<false>>("textoverlay_no_len");
   addKernel<overlay<true>>("byteaoverlay");
   addKernel<overlayNoLength<true>>("byteaoverlay_no_len");
   addKernel<splitPart>("split_part");
   addKernel<trim<trimLeft>>("ltrim", totalKernel);
   addKernel<trim<trimRight>>("rtrim", totalKernel);
   addKernel<trim<trimBoth>>("btrim", totalKernel);
   addKernel<trimBytes<trimLeft>>("bytealtrim", totalKernel);
   addKernel<trimBytes<trimRight>>("byteartrim", totalKernel);
   addKernel<trimBytes<trimBoth>>("byteatrim", totalKernel);
   addKernel<trimBlanks<trimLeft>>("ltrim1", totalKernel);
   addKernel<trimBlanks<trimRight>>("rtrim1", totalKernel);
   addKernel<trimBlanks<trimBoth>>("btrim1", totalKernel);
}

} // namespace

void registerText() {
   addCutting();
   addKernels<concatenate>({"textcat", "byteacat"}, totalKernel);
   addKernel<characterLength>("textlen", totalKernel);
   addKernel<lengthWithoutBlanks>("bpcharlen", totalKernel);
   addKernels<octetLength>({"textoctetlen", "byteaoctetlen"}, totalKernel);
   addKernel<withBlanks>("ouzel_with_blanks");
   addKernel<bpcharOctetLength>("bpcharoctetlen", totalKernel);
   addKernel<position>("textpos", totalKernel);
   addKernel<bytePosition>("byteapos", totalKernel);
   addKernels<startsWith>({"text_starts_with"}, totalKernel);
   addKernel<replaceAll>("replace_text");
   addKernel<translate>("translate", totalKernel);
   addKernel<pad<true>>("lpad");
   addKernel<pad<false>>("rpad");
   addKernel<padBlanks<true>>("sql:lpad");
   addKernel<padBlanks<false>>("sql:rpad");
   addKernel<repeatText>("repeat");
   addKernel<reverse>("text_reverse", totalKernel);
   addKernel<asciiCode>("ascii", totalKernel);
   addKernel<characterOf>("chr");
   addKernel<hexOf<int32_t>>("to_hex32", totalKernel);
   addKernel<hexOf<int64_t>>("to_hex64", totalKernel);
   addKernels<same>({"name_text", "bpchar_text"}, totalKernel);
   addKernel<toName>("text_name", totalKernel);
   addKernel<bpcharToName>("bpchar_name", totalKernel);
   addKernel<same>("name_bpchar", totalKernel);
   addKernels<fromChar>({"char_bpchar", "char_text"}, totalKernel);
   addKernel<toChar>("text_char", totalKernel);
   addKernel<nameByte>("ouzel_name_byte");
   addKernel<nameConcatOid>("nameconcatoid", totalKernel);
}

} // namespace ouzel::executor
