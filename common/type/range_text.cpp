#include <algorithm>
#include <optional>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"
#include "common/type/binary_codec.hpp"
#include "common/type/quoted_part.hpp"
#include "common/type/range.hpp"
#include "common/type/session_format.hpp"
#include "common/type/text_codec.hpp"
#include "common/type/user_types.hpp"

// Ranges and multiranges as texts and in the binary form of the protocol.

namespace ouzel {

namespace {

bool startsWithEmpty(std::string_view text) {
   constexpr std::string_view word = "empty";
   return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
             return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + ('a' - 'A')) : b);
          });
}

[[noreturn]] void throwMalformedLiteral(const char* kind, std::string_view text, const char* detail) {
   throw SqlError(sqlstate::invalidTextRepresentation,
                  std::string("malformed ") + kind + " literal: \"" + std::string(text) + '"')
       .detail(detail);
}

// ---- output ----

void appendBoundText(std::string& out, const RangeKind& kind, const RangeBound& bound, const SessionFormat& format) {
   if (bound.isInfinite) return;
   std::string text;
   appendText(text, {kind.subtype(), -1, invalidOid}, {kind.physical(), 0}, bound.value, format);
   const bool needsQuotes = text.empty() || std::any_of(text.begin(), text.end(), [](char c) {
                               return std::string_view("\"\\()[],").find(c) != std::string_view::npos || isBlank(c);
                            });
   if (!needsQuotes) {
      out.append(text);
      return;
   }
   out.push_back('"');
   for (const char c : text) {
      if (c == '"' || c == '\\') out.push_back(c);
      out.push_back(c);
   }
   out.push_back('"');
}

void appendOne(std::string& out, const RangeKind& kind, const Range& range, const SessionFormat& format) {
   if (range.isEmpty) {
      out.append("empty");
      return;
   }
   out.push_back(range.lower.isInclusive ? '[' : '(');
   appendBoundText(out, kind, range.lower, format);
   out.push_back(',');
   appendBoundText(out, kind, range.upper, format);
   out.push_back(range.upper.isInclusive ? ']' : ')');
}

// ---- input ----

/// Reads one range literal.
class RangeLiteral {
public:
   explicit RangeLiteral(std::string_view text) : text_(text) {}

   /// Takes the literal apart; nothing: the range is empty.
   bool read() {
      skipBlanks();
      if (startsWithEmpty(text_.substr(p_))) {
         p_ += 5;
         skipBlanks();
         if (!atEnd()) fail("Junk after \"empty\" key word.");
         return false;
      }
      if (peek() != '[' && peek() != '(') fail("Missing left parenthesis or bracket.");
      isLowerInclusive = text_[p_++] == '[';
      lower = bound();
      if (peek() != ',') fail("Missing comma after lower bound.");
      ++p_;
      upper = bound();
      if (peek() == ',') fail("Too many commas.");
      isUpperInclusive = text_[p_++] == ']';
      skipBlanks();
      if (!atEnd()) fail("Junk after right parenthesis or bracket.");
      return true;
   }

   std::optional<std::string> lower, upper; ///< nothing: infinite
   bool isLowerInclusive = false, isUpperInclusive = false;

private:
   bool atEnd() const { return p_ >= text_.size(); }
   char peek() const { return atEnd() ? '\0' : text_[p_]; }
   void skipBlanks() {
      while (!atEnd() && isBlank(peek()))
         ++p_;
   }
   bool atBoundsEnd() const { return peek() == ',' || peek() == ')' || peek() == ']'; }
   std::optional<std::string> bound() {
      if (atBoundsEnd()) return std::nullopt;
      return takeQuotedPart(text_, p_, ",)]", [&](const char* detail) { fail(detail); });
   }
   [[noreturn]] void fail(const char* detail) const { throwMalformedLiteral("range", text_, detail); }

   std::string_view text_;
   size_t p_ = 0;
};

/// A bound and the value that its bytes lie in.
struct OwnedBound {
   Value value;
   RangeBound bound;

   OwnedBound(const RangeKind& kind, const std::optional<std::string>& text, bool isInclusive,
              const SessionFormat& format) {
      bound.isInclusive = isInclusive;
      bound.isInfinite = !text;
      if (text) keep(kind, parseText({kind.subtype(), -1, invalidOid}, *text, format), format.types);
   }
   OwnedBound(const RangeKind& kind, std::optional<std::string_view> message, bool isInclusive,
              const UserTypes* types) {
      bound.isInclusive = isInclusive;
      bound.isInfinite = !message;
      if (message) keep(kind, parseBinary({kind.subtype(), -1, invalidOid}, *message, types), types);
   }
   OwnedBound(const OwnedBound&) = delete;

private:
   void keep(const RangeKind& kind, Value parsed, const UserTypes* types) {
      value = std::move(parsed);
      if (kind.domain()) checkDomain({kind.subtype(), -1, invalidOid, kind.domain()}, value, types);
      DCHECK(value.type == kind.physical());
      value.store(bound.value);
   }
};

/// Goes over a multirange literal and gives the texts of its ranges.
class MultirangeLiteral {
public:
   explicit MultirangeLiteral(std::string_view text) : text_(text) {
      skipBlanks();
      if (peek() != '{') fail("Missing left brace.");
      ++p_;
   }
   /// The text of the next range that is not the word "empty"; nothing: there is none.
   std::optional<std::string_view> next() {
      while (true) {
         skipBlanks();
         if (peek() == '}' && isFirst_) break;
         if (!isFirst_) {
            if (atEnd()) fail("Unexpected end of input.");
            if (peek() == '}') break;
            if (peek() != ',') fail("Expected comma or end of multirange.");
            ++p_;
            skipBlanks();
         }
         isFirst_ = false;
         if (atEnd()) fail("Unexpected end of input.");
         if (peek() == '[' || peek() == '(') return range();
         if (!startsWithEmpty(text_.substr(p_))) fail("Expected range start.");
         p_ += 5;
      }
      ++p_;
      skipBlanks();
      if (!atEnd()) fail("Junk after closing right brace.");
      return std::nullopt;
   }

private:
   bool atEnd() const { return p_ >= text_.size(); }
   char peek() const { return atEnd() ? '\0' : text_[p_]; }
   void skipBlanks() {
      while (!atEnd() && isBlank(peek()))
         ++p_;
   }
   std::string_view range() {
      const size_t begin = p_;
      bool isQuoted = false;
      while (isQuoted || (peek() != ']' && peek() != ')')) {
         if (peek() == '\\')
            ++p_;
         else if (peek() == '"')
            isQuoted = !isQuoted; // two quotes within quotes end them and begin them again
         if (atEnd()) fail("Unexpected end of input.");
         ++p_;
      }
      return text_.substr(begin, ++p_ - begin);
   }
   [[noreturn]] void fail(const char* detail) const { throwMalformedLiteral("multirange", text_, detail); }

   std::string_view text_;
   size_t p_ = 0;
   bool isFirst_ = true;
};

std::string rangeBytes(std::string_view text, const RangeKind& kind, const SessionFormat& format) {
   RangeLiteral literal(text);
   std::string bytes;
   if (!literal.read()) {
      appendRange(bytes, kind, Range::empty());
      return bytes;
   }
   const OwnedBound lower(kind, literal.lower, literal.isLowerInclusive, format);
   const OwnedBound upper(kind, literal.upper, literal.isUpperInclusive, format);
   appendRange(bytes, kind, kind.make(lower.bound, upper.bound));
   return bytes;
}

/// The multirange of ranges that each have bytes of their own.
std::string multirangeOf(const RangeKind& kind, const std::vector<std::string>& parts) {
   Ranges ranges;
   ranges.reserve(parts.size());
   for (const std::string& part : parts)
      ranges.push_back(readRange(part));
   std::string bytes;
   appendMultirange(bytes, kind, normalizedRanges(kind, std::move(ranges)));
   return bytes;
}

// ---- binary form ----

void appendBoundBinary(std::string& out, const RangeKind& kind, const RangeBound& bound, const UserTypes* types) {
   if (bound.isInfinite) return;
   std::string message;
   appendBinary(message, {kind.subtype(), -1, invalidOid}, {kind.physical(), 0}, bound.value, types);
   appendBig(out, static_cast<int32_t>(message.size()));
   out.append(message);
}

void appendOneBinary(std::string& out, const RangeKind& kind, const Range& range, const UserTypes* types) {
   out.push_back(static_cast<char>(rangeFlags(range)));
   if (range.isEmpty) return;
   appendBoundBinary(out, kind, range.lower, types);
   appendBoundBinary(out, kind, range.upper, types);
}

std::string_view takeCounted(WireReader& reader) {
   const auto size = reader.take<int32_t>();
   if (size < 0) throwTooShort();
   return reader.takeBytes(static_cast<size_t>(size));
}

} // namespace

void appendRangeText(std::string& out, std::string_view bytes, const SessionFormat& format) {
   RangeReader reader(bytes);
   appendOne(out, reader.kind(), reader.next(), format);
}

void appendMultirangeText(std::string& out, std::string_view bytes, const SessionFormat& format) {
   RangeReader reader(bytes);
   const uint32_t count = reader.nextCount();
   out.push_back('{');
   for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) out.push_back(',');
      appendOne(out, reader.kind(), reader.next(), format);
   }
   out.push_back('}');
}

std::string parseRangeText(std::string_view text, Oid type, const SessionFormat& format) {
   return rangeBytes(text, RangeKind::of(type), format);
}

std::string parseMultirangeText(std::string_view text, Oid type, const SessionFormat& format) {
   const RangeKind kind = RangeKind::of(type);
   MultirangeLiteral literal(text);
   std::vector<std::string> parts;
   while (const std::optional<std::string_view> part = literal.next())
      parts.push_back(rangeBytes(*part, kind, format));
   return multirangeOf(kind, parts);
}

void appendRangeBinary(std::string& out, std::string_view bytes, const UserTypes* types) {
   RangeReader reader(bytes);
   appendOneBinary(out, reader.kind(), reader.next(), types);
}

void appendMultirangeBinary(std::string& out, std::string_view bytes, const UserTypes* types) {
   RangeReader reader(bytes);
   const uint32_t count = reader.nextCount();
   appendBig(out, static_cast<int32_t>(count));
   for (uint32_t i = 0; i < count; ++i) {
      std::string one;
      appendOneBinary(one, reader.kind(), reader.next(), types);
      appendBig(out, static_cast<int32_t>(one.size()));
      out.append(one);
   }
}

std::string readRangeBinary(std::string_view message, Oid type, const UserTypes* types) {
   const RangeKind kind = RangeKind::of(type);
   WireReader reader(message);
   const Range flags = rangeOfFlags(reader.take<uint8_t>());
   const auto bound = [&](const RangeBound& end) {
      return end.isInfinite ? std::nullopt : std::optional(takeCounted(reader));
   };
   const OwnedBound lower(kind, bound(flags.lower), flags.lower.isInclusive, types);
   const OwnedBound upper(kind, bound(flags.upper), flags.upper.isInclusive, types);
   reader.finish();
   std::string bytes;
   appendRange(bytes, kind, flags.isEmpty ? flags : kind.make(lower.bound, upper.bound));
   return bytes;
}

std::string readMultirangeBinary(std::string_view message, Oid type, const UserTypes* types) {
   const RangeKind kind = RangeKind::of(type);
   WireReader reader(message);
   const auto count = reader.take<uint32_t>();
   std::vector<std::string> parts;
   for (uint32_t i = 0; i < count; ++i)
      parts.push_back(readRangeBinary(takeCounted(reader), kind.range(), types));
   reader.finish();
   return multirangeOf(kind, parts);
}

} // namespace ouzel
