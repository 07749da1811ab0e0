#include "common/json/json_lexer.hpp"

#include <algorithm>
#include <cstring>
#include <immintrin.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"
#include "common/text/utf8.hpp"

namespace ouzel::json {

namespace {

/// Characters that error messages count to a word that is no token.
bool isWordCharacter(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_' || (c & 0x80) != 0;
}

bool isHighSurrogate(uint32_t c) {
   return c >= 0xD800 && c <= 0xDBFF;
}
bool isLowSurrogate(uint32_t c) {
   return c >= 0xDC00 && c <= 0xDFFF;
}

/// The bytes of eight that are a quote, a backslash or below a blank have their high bits set in the result; bytes
/// behind the first such one may have them set too.
uint64_t specialBytes(uint64_t word) {
   constexpr uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
   const auto zeroBytes = [](uint64_t v) { return (v - ones) & ~v & highs; };
   const uint64_t controls = (word - ones * 0x20) & ~word & highs;
   return controls | zeroBytes(word ^ (ones * '"')) | zeroBytes(word ^ (ones * '\\'));
}

} // namespace

void Lexer::next() {
   const char *const text = text_.data(), *p = text + end_, *const stop = text + text_.size();
   for (; p < stop && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'); ++p)
      if (*p == '\n') {
         ++line_;
         lineStart_ = static_cast<size_t>(p + 1 - text);
      }
   previousEnd_ = end_;
   start_ = end_ = static_cast<size_t>(p - text);
   if (p == stop) {
      token_ = Token::End;
      return;
   }
   switch (*p) {
   case '{': return punctuation(Token::ObjectStart);
   case '}': return punctuation(Token::ObjectEnd);
   case '[': return punctuation(Token::ArrayStart);
   case ']': return punctuation(Token::ArrayEnd);
   case ',': return punctuation(Token::Comma);
   case ':': return punctuation(Token::Colon);
   case '"': return lexString();
   default: return *p == '-' || isDigit(*p) ? number() : word();
   }
}

void Lexer::punctuation(Token token) {
   token_ = token;
   ++end_;
}

void Lexer::word() {
   size_t end = start_;
   while (end < text_.size() && isWordCharacter(text_[end]))
      ++end;
   const std::string_view word = text_.substr(start_, end - start_);
   if (word == "true")
      token_ = Token::True;
   else if (word == "false")
      token_ = Token::False;
   else if (word == "null")
      token_ = Token::Null;
   else {
      end = std::max(end, start_ + 1);
      fail("Token \"" + std::string(text_.substr(start_, end - start_)) + "\" is invalid.", end);
   }
   end_ = end;
}

void Lexer::number() {
   const char *const text = text_.data(), *p = text + start_, *const stop = text + text_.size();
   bool isValid = true;
   const auto digits = [&] {
      isValid &= p < stop && isDigit(*p);
      while (p < stop && isDigit(*p))
         ++p;
   };
   if (*p == '-') ++p;
   if (p < stop && *p == '0')
      ++p;
   else
      digits();
   if (p < stop && *p == '.') {
      ++p;
      digits();
   }
   if (p < stop && (*p == 'e' || *p == 'E')) {
      ++p;
      if (p < stop && (*p == '+' || *p == '-')) ++p;
      digits();
   }
   for (; p < stop && isWordCharacter(*p); ++p)
      isValid = false;
   const auto end = static_cast<size_t>(p - text);
   if (!isValid) fail("Token \"" + std::string(text_.substr(start_, end - start_)) + "\" is invalid.", end);
   token_ = Token::Number;
   end_ = end;
}

/// Where the first quote, backslash or control character from `at` on is.
size_t Lexer::plainEnd(size_t at) const {
   const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'),
                 lastControl = _mm256_set1_epi8(0x1F);
   for (; at + 32 <= text_.size(); at += 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text_.data() + at));
      const __m256i isControl = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, lastControl), bytes);
      const __m256i isEnd = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, quote), _mm256_cmpeq_epi8(bytes, backslash));
      const auto special = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(isEnd, isControl)));
      if (special) return at + static_cast<size_t>(__builtin_ctz(special));
   }
   for (; at + 8 <= text_.size(); at += 8) {
      uint64_t word;
      std::memcpy(&word, text_.data() + at, 8);
      if (const uint64_t special = specialBytes(word)) return at + static_cast<size_t>(__builtin_ctzll(special)) / 8;
   }
   for (; at < text_.size(); ++at) {
      const auto c = static_cast<unsigned char>(text_[at]);
      if (c < ' ' || c == '"' || c == '\\') return at;
   }
   return at;
}

void Lexer::lexString() {
   size_t at = plainEnd(start_ + 1);
   if (at < text_.size() && text_[at] == '"') {
      string_ = text_.substr(start_ + 1, at - start_ - 1);
      token_ = Token::String;
      end_ = at + 1;
      return;
   }
   decode(at);
}

uint32_t Lexer::hexDigits(size_t& at) const {
   uint32_t value = 0;
   for (int i = 0; i < 4; ++i, ++at) {
      if (at >= text_.size()) failEarlyEnd();
      const int digit = hexDigit(text_[at]);
      if (digit < 0) failInString("\"\\u\" must be followed by four hexadecimal digits.", at);
      value = value * 16 + static_cast<uint32_t>(digit);
   }
   return value;
}

void Lexer::decode(size_t at) {
   constexpr const char* lowMustFollow = "Unicode low surrogate must follow a high surrogate.";
   turn_ = !turn_;
   std::string& out = decoded_[turn_];
   out.clear();
   if (decodesStrings_) out.append(text_, start_ + 1, at - start_ - 1);
   uint32_t high = 0; // the high surrogate that waits for its low one
   for (;;) {
      if (at >= text_.size()) failEarlyEnd();
      const char c = text_[at];
      const auto noHigh = [&](size_t last) {
         if (high != 0) failInString(lowMustFollow, last);
      };
      if (c == '"') {
         noHigh(at);
         break;
      }
      if (c != '\\') {
         if (static_cast<unsigned char>(c) < ' ') {
            constexpr char digits[] = "0123456789abcdef";
            fail(std::string("Character with value 0x") + digits[c >> 4] + digits[c & 15] + " must be escaped.", at);
         }
         noHigh(at);
         const size_t end = plainEnd(at);
         if (decodesStrings_) out.append(text_, at, end - at);
         at = end;
         continue;
      }
      if (++at >= text_.size()) failEarlyEnd();
      if (text_[at] == 'u') {
         ++at;
         uint32_t code = hexDigits(at);
         if (!decodesStrings_) continue;
         if (isHighSurrogate(code)) {
            if (high != 0) failInString("Unicode high surrogate must not follow a high surrogate.", at - 1);
            high = code;
            continue;
         }
         if (isLowSurrogate(code)) {
            if (high == 0) failInString(lowMustFollow, at - 1);
            code = 0x10000 + ((high & 0x3FF) << 10) + (code & 0x3FF);
            high = 0;
         }
         noHigh(at - 1);
         if (code == 0) failInString("\\u0000 cannot be converted to text.", at - 1);
         appendUtf8(out, code);
         continue;
      }
      constexpr std::string_view letters = "\"\\/bfnrt", characters = "\"\\/\b\f\n\r\t";
      if (decodesStrings_) noHigh(at);
      const size_t letter = letters.find(text_[at]);
      if (letter == std::string_view::npos) {
         const size_t end = characterEnd(at);
         fail("Escape sequence \"\\" + std::string(text_.substr(at, end - at)) + "\" is invalid.", end);
      }
      if (decodesStrings_) out.push_back(characters[letter]);
      ++at;
   }
   string_ = out;
   token_ = Token::String;
   end_ = at + 1;
}

/// Behind the character at `at`.
size_t Lexer::characterEnd(size_t at) const {
   do
      ++at;
   while (at < text_.size() && (text_[at] & 0xC0) == 0x80);
   return at;
}

void Lexer::failInString(const char* detail, size_t at) const {
   fail(detail, characterEnd(at));
}

void Lexer::failEarlyEnd() const {
   fail("Token \"" + std::string(text_.substr(start_)) + "\" is invalid.", text_.size());
}

void Lexer::failExpected(const char* what) const {
   if (token_ == Token::End) fail("The input string ended unexpectedly.", text_.size());
   fail(std::string("Expected ") + what + ", but found \"" + std::string(lexeme()) + "\".", end_);
}

void Lexer::fail(const std::string& detail, size_t end) const {
   // The line up to the error, at most its last 50 bytes.
   size_t from = std::min(lineStart_, end);
   const size_t lineStart = from;
   while (end - from >= 50)
      from = characterEnd(from);
   if (from - lineStart <= 3) from = lineStart;
   std::string context = "JSON data, line " + std::to_string(line_) + ": " + (from > lineStart ? "..." : "");
   context.append(text_, from, end - from);
   if (end < text_.size() && text_[end] != '\n' && text_[end] != '\r') context += "...";
   const bool isUntranslatable = detail.starts_with("\\u0000");
   throw SqlError(isUntranslatable ? sqlstate::untranslatableCharacter : sqlstate::invalidTextRepresentation,
                  isUntranslatable ? "unsupported Unicode escape sequence" : "invalid input syntax for type json")
       .detail(detail)
       .context(std::move(context));
}

} // namespace ouzel::json
