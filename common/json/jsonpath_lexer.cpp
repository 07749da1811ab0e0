#include "common/json/jsonpath_lexer.hpp"

#include <algorithm>
#include <utility>

#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::json {

namespace {

constexpr bool isBlankByte(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
constexpr bool isSpecial(char c) {
   return std::string_view("?%$.[]{}()|&!=<>@#,*:-+/").find(c) != std::string_view::npos;
}
/// What names are made of.
constexpr bool isPlain(char c) {
   return !isSpecial(c) && !isBlankByte(c) && c != '\\' && c != '"';
}
constexpr bool isDigitByte(char c) {
   return c >= '0' && c <= '9';
}
struct KeyWord {
   std::string_view name;
   PathWord word;
   bool isLowerCase = false; ///< known in lower case only
};
constexpr KeyWord keyWords[] = {
    {"is", PathWord::Is},
    {"to", PathWord::To},
    {"abs", PathWord::Abs},
    {"lax", PathWord::Lax},
    {"flag", PathWord::Flag},
    {"last", PathWord::Last},
    {"null", PathWord::Null, true},
    {"size", PathWord::Size},
    {"true", PathWord::True, true},
    {"type", PathWord::Type},
    {"with", PathWord::With},
    {"false", PathWord::False, true},
    {"floor", PathWord::Floor},
    {"double", PathWord::Double},
    {"exists", PathWord::Exists},
    {"starts", PathWord::Starts},
    {"strict", PathWord::Strict},
    {"ceiling", PathWord::Ceiling},
    {"unknown", PathWord::Unknown},
    {"datetime", PathWord::DateTime},
    {"keyvalue", PathWord::KeyValue},
    {"like_regex", PathWord::LikeRegex},
};

PathWord wordOf(std::string_view name) {
   for (const KeyWord& key : keyWords) {
      const bool isSame =
          key.name.size() == name.size() &&
          std::equal(name.begin(), name.end(), key.name.begin(), [](char a, char b) { return asciiLower(a) == b; });
      if (isSame) return key.isLowerCase && name != key.name ? PathWord::Identifier : key.word;
   }
   return PathWord::Identifier;
}

void appendCodePoint(std::string& out, uint32_t c) {
   if (c == 0)
      throw SqlError(sqlstate::untranslatableCharacter, "unsupported Unicode escape sequence")
          .detail("\\u0000 cannot be converted to text.");
   if (c > 0x10ffff) throw SqlError(sqlstate::syntaxError, "invalid Unicode code point");
   const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
   if (c < 0x80) {
      put(c);
   } else if (c < 0x800) {
      put(0xc0 | c >> 6);
      put(0x80 | (c & 0x3f));
   } else if (c < 0x10000) {
      put(0xe0 | c >> 12);
      put(0x80 | (c >> 6 & 0x3f));
      put(0x80 | (c & 0x3f));
   } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
      put(0x80 | (c >> 6 & 0x3f));
      put(0x80 | (c & 0x3f));
   }
}

[[noreturn, gnu::cold]] void failSurrogate(const char* detail) {
   throw SqlError(sqlstate::invalidTextRepresentation, "invalid input syntax for type jsonpath").detail(detail);
}

/// The bytes of a \uXXXX or \u{X...} that `text` begins with; `isWhole` tells whether it is complete.
size_t unicodeEscape(std::string_view text, uint32_t& codePoint, bool& isWhole) {
   const bool hasBraces = text.size() > 2 && text[2] == '{';
   const size_t begin = hasBraces ? 3 : 2, digitsMax = hasBraces ? 6 : 4;
   size_t at = begin;
   codePoint = 0;
   for (; at < text.size() && at - begin < digitsMax && hexDigit(text[at]) >= 0; ++at)
      codePoint = codePoint * 16 + static_cast<uint32_t>(hexDigit(text[at]));
   if (!hasBraces) {
      isWhole = at - begin == 4;
      return at;
   }
   isWhole = at > begin && at < text.size() && text[at] == '}';
   return at + (isWhole ? 1 : 0);
}

} // namespace

void PathLexer::fail(const char* message, std::string_view near) {
   std::string text(message);
   if (near.empty())
      text += " at end of jsonpath input";
   else
      text.append(" at or near \"").append(near).append("\" of jsonpath input");
   throw SqlError(sqlstate::syntaxError, text);
}

PathToken PathLexer::next() {
   while (true) {
      while (!atEnd() && isBlankByte(peek()))
         ++at_;
      PathToken token;
      if (atEnd()) return token;
      const char c = peek();
      if (c == '/' && peek(1) == '*') {
         skipComment();
         continue;
      }
      const auto symbol = [&](PathWord word, size_t size) {
         token.word = word;
         token.symbol = size == 1 ? c : '\0';
         token.near = text_.substr(at_, size);
         at_ += size;
         return token;
      };
      switch (c) {
      case '"': ++at_; return quoted(PathWord::String);
      case '&':
         if (peek(1) == '&') return symbol(PathWord::And, 2);
         break;
      case '|':
         if (peek(1) == '|') return symbol(PathWord::Or, 2);
         break;
      case '*':
         if (peek(1) == '*') return symbol(PathWord::AnyLevel, 2);
         break;
      case '!': return peek(1) == '=' ? symbol(PathWord::NotEqual, 2) : symbol(PathWord::Not, 1);
      case '<':
         if (peek(1) == '=') return symbol(PathWord::LessOrEqual, 2);
         return peek(1) == '>' ? symbol(PathWord::NotEqual, 2) : symbol(PathWord::Less, 1);
      case '>': return peek(1) == '=' ? symbol(PathWord::GreaterOrEqual, 2) : symbol(PathWord::Greater, 1);
      case '=':
         if (peek(1) == '=') return symbol(PathWord::Equal, 2);
         break;
      case '$': {
         if (peek(1) == '"') {
            at_ += 2;
            return quoted(PathWord::Variable);
         }
         size_t size = 1;
         while (at_ + size < text_.size() && isPlain(text_[at_ + size]))
            ++size;
         if (size == 1) break;
         token.text = text_.substr(at_ + 1, size - 1);
         return symbol(PathWord::Variable, size);
      }
      default: break;
      }
      if (isDigitByte(c) || (c == '.' && isDigitByte(peek(1)))) {
         if (number(token)) return token;
      } else if (isSpecial(c)) {
         return symbol(PathWord::Symbol, 1);
      }
      if (name(token)) return token;
   }
}

void PathLexer::skipComment() {
   const size_t end = text_.find("*/", at_ + 2);
   if (end == std::string_view::npos) fail("unexpected end of comment", "");
   at_ = end + 2;
}

/// Of all that may begin here PostgreSQL's scanner takes the longest, which may be a name: 1ab. Then false.
bool PathLexer::number(PathToken& token) {
   const std::string_view rest = text_.substr(at_);
   const auto digitsFrom = [rest](size_t from) {
      size_t end = from;
      while (end < rest.size() && isDigitByte(rest[end]))
         ++end;
      return end;
   };
   const auto at = [rest](size_t i) { return i < rest.size() ? rest[i] : '\0'; };
   const auto isPlainAt = [rest](size_t i) { return i < rest.size() && isPlain(rest[i]); };

   size_t size = at(0) == '0' ? 1 : digitsFrom(0);
   token.word = PathWord::Integer;
   if (at(size) == '.') {
      size = digitsFrom(size + 1);
      token.word = PathWord::Number;
   }
   bool isCut = false; // an exponent without digits
   if (at(size) == 'e' || at(size) == 'E') {
      const size_t sign = at(size + 1) == '+' || at(size + 1) == '-' ? 1 : 0;
      const size_t end = digitsFrom(size + 1 + sign);
      isCut = sign == 1 && end == size + 2;
      if (isCut || end > size + 1 + sign) {
         size = end;
         token.word = PathWord::Number;
      }
   }
   const bool hasJunk = !isCut && isPlainAt(size);
   size_t nameSize = 0;
   while (isPlainAt(nameSize))
      ++nameSize;
   if (nameSize > size + (hasJunk ? 1 : 0)) return false;
   if (isCut) fail("invalid numeric literal", rest.substr(0, size));
   if (hasJunk) fail("trailing junk after numeric literal", rest.substr(0, size + 1));
   token.text = token.near = rest.substr(0, size);
   at_ += size;
   return true;
}

std::string_view PathLexer::keep(std::string_view source, const std::string& made, bool isMade) {
   if (!isMade) return source;
   char* bytes = arena_.allocateArray<char>(made.size());
   std::copy(made.begin(), made.end(), bytes);
   return {bytes, made.size()};
}

PathToken PathLexer::quoted(PathWord word) {
   const size_t begin = at_;
   size_t plain = at_;
   std::string made;
   bool isMade = false;
   while (true) {
      if (atEnd()) fail("unexpected end of quoted string", "");
      if (peek() == '"') break;
      if (peek() != '\\') {
         ++at_;
         continue;
      }
      made.append(text_.substr(plain, at_ - plain));
      isMade = true;
      escape(made);
      plain = at_;
   }
   if (isMade) made.append(text_.substr(plain, at_ - plain));
   PathToken token;
   token.word = word;
   token.text = keep(text_.substr(begin, at_ - begin), made, isMade);
   token.near = text_.substr(at_, 1);
   ++at_;
   return token;
}

/// False: a comment follows at once, and PostgreSQL's scanner forgets the name.
bool PathLexer::name(PathToken& token) {
   const size_t begin = at_;
   size_t plain = at_;
   std::string made;
   bool isMade = false;
   while (!atEnd() && (isPlain(peek()) || peek() == '\\')) {
      if (peek() != '\\') {
         ++at_;
         continue;
      }
      made.append(text_.substr(plain, at_ - plain));
      isMade = true;
      escape(made);
      plain = at_;
   }
   if (isMade) made.append(text_.substr(plain, at_ - plain));
   token.text = keep(text_.substr(begin, at_ - begin), made, isMade);
   if (peek() == '/' && peek(1) == '*') {
      skipComment();
      return false;
   }
   // An error shows the blanks that ended the name; before anything else it says "at end".
   const size_t end = at_;
   while (!atEnd() && isBlankByte(peek()))
      ++at_;
   token.near = text_.substr(end, at_ - end);
   token.word = wordOf(token.text);
   return true;
}

/// Reads what begins with the backslash here.
void PathLexer::escape(std::string& out) {
   const std::string_view rest = text_.substr(at_);
   if (rest.size() < 2 || rest[1] == '\n') fail("unexpected end after backslash", rest.substr(0, 1));
   switch (rest[1]) {
   case 'b': out.push_back('\b'); break;
   case 'f': out.push_back('\f'); break;
   case 'n': out.push_back('\n'); break;
   case 'r': out.push_back('\r'); break;
   case 't': out.push_back('\t'); break;
   case 'v': out.push_back('\v'); break;
   case 'u': return unicodeEscapes(out);
   case 'x': {
      const int high = rest.size() > 2 ? hexDigit(rest[2]) : -1, low = rest.size() > 3 ? hexDigit(rest[3]) : -1;
      if (high < 0 || low < 0) fail("invalid hex character sequence", rest.substr(0, high < 0 ? 2 : 3));
      appendCodePoint(out, static_cast<uint32_t>(high * 16 + low));
      at_ += 4;
      return;
   }
   default: out.push_back(rest[1]); break;
   }
   at_ += 2;
}

/// Reads the escapes \u that follow each other, among which are pairs of surrogates.
void PathLexer::unicodeEscapes(std::string& out) {
   const size_t begin = at_;
   size_t end = at_;
   const auto isEscape = [this](size_t at) { return text_.substr(at).starts_with("\\u"); };
   for (uint32_t ignored = 0; isEscape(end);) { // all of them first: one bad escape is the error of them all
      bool isWhole = false;
      end += unicodeEscape(text_.substr(end), ignored, isWhole);
      if (!isWhole) fail("invalid unicode sequence", text_.substr(begin, end - begin));
   }
   uint32_t high = 0;
   while (at_ < end) {
      uint32_t c = 0;
      bool isWhole = false;
      at_ += unicodeEscape(text_.substr(at_), c, isWhole);
      if (c >= 0xd800 && c < 0xdc00) {
         if (high != 0) failSurrogate("Unicode high surrogate must not follow a high surrogate.");
         high = c;
         continue;
      }
      const bool isLow = c >= 0xdc00 && c < 0xe000;
      if (isLow != (high != 0)) failSurrogate("Unicode low surrogate must follow a high surrogate.");
      if (isLow) c = 0x10000 + ((high & 0x3ff) << 10) + (c & 0x3ff);
      high = 0;
      appendCodePoint(out, c);
   }
   if (high != 0) failSurrogate("Unicode low surrogate must follow a high surrogate.");
}

} // namespace ouzel::json
