#include <algorithm>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/number/decimal_big.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"

// Decimals as text and in the wire's base-10000 form.

namespace ouzel::decimal {

namespace {

bool equalsWord(std::string_view text, std::string_view word) {
   return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return asciiLower(a) == b; });
}

bool parseSpecial(std::string_view text, StringView& out) {
   if (equalsWord(text, "nan")) {
      out = nan();
      return true;
   }
   bool negative = false;
   if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
      negative = text[0] == '-';
      text.remove_prefix(1);
   }
   if (!equalsWord(text, "infinity") && !equalsWord(text, "inf")) return false;
   out = infinity(negative);
   return true;
}

/// A numeric literal behind its sign: digits with a point among them, then an exponent.
struct Literal {
   std::string_view whole, fraction;
   int64_t exponent = 0;
   bool negative = false;
};

ParseStatus split(std::string_view text, Literal& out) {
   const char *p = text.data(), *const end = p + text.size();
   if (p < end && (*p == '+' || *p == '-')) out.negative = *p++ == '-';
   const auto digits = [&] {
      const char* start = p;
      while (p < end && isDigit(*p))
         ++p;
      return std::string_view(start, static_cast<size_t>(p - start));
   };
   out.whole = digits();
   if (p < end && *p == '.') {
      ++p;
      out.fraction = digits();
   }
   if (out.whole.empty() && out.fraction.empty()) return ParseStatus::Malformed;
   if (p < end && asciiLower(*p) == 'e') {
      ++p;
      bool negative = false;
      if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
      const std::string_view exponent = digits();
      if (exponent.empty()) return ParseStatus::Malformed;
      for (const char c : exponent)
         out.exponent = std::min<int64_t>(out.exponent * 10 + (c - '0'), INT32_MAX);
      if (out.exponent >= INT32_MAX / 2) return ParseStatus::OutOfRange;
      if (negative) out.exponent = -out.exponent;
   }
   return p == end ? ParseStatus::Ok : ParseStatus::Malformed;
}

ParseStatus assemble(const Literal& literal, Arena& arena, StringView& out) {
   std::string_view whole = literal.whole;
   while (!whole.empty() && whole.front() == '0')
      whole.remove_prefix(1);
   const int64_t digitScale = static_cast<int64_t>(literal.fraction.size()) - literal.exponent;
   const int64_t scale = std::max<int64_t>(digitScale, 0);
   if (scale > scaleMax) return ParseStatus::OutOfRange;
   const size_t digits = whole.size() + literal.fraction.size();
   const int64_t zeros = scale - digitScale; // to append
   if (static_cast<int64_t>(digits) + zeros < static_cast<int64_t>(powersOfTen)) {
      uint128 magnitude = 0;
      const auto take = [&magnitude](std::string_view part) {
         while (!part.empty()) {
            const size_t count = std::min<size_t>(part.size(), 18);
            uint64_t chunk = 0;
            for (size_t i = 0; i < count; ++i)
               chunk = chunk * 10 + static_cast<uint64_t>(part[i] - '0');
            magnitude = magnitude == 0 ? chunk : magnitude * powerOfTen(static_cast<uint32_t>(count)) + chunk;
            part.remove_prefix(count);
         }
      };
      take(whole);
      take(literal.fraction);
      magnitude *= powerOfTen(static_cast<uint32_t>(zeros));
      const int128 value = static_cast<int128>(magnitude);
      out = fromInt128(literal.negative ? -value : value, static_cast<int32_t>(scale), arena);
      return ParseStatus::Ok;
   }
   std::string all(whole);
   all.append(literal.fraction);
   const size_t leadingZeros = std::min(all.find_first_not_of('0'), all.size());
   all.erase(0, leadingZeros);
   if (all.empty()) {
      out = fromInt64(0, static_cast<int32_t>(scale));
      return ParseStatus::Ok;
   }
   if (static_cast<int64_t>(all.size()) - digitScale > integerDigitsMax) return ParseStatus::OutOfRange;
   Integer z;
   mpz_set_str(z, all.c_str(), 10);
   scaleUp(z, static_cast<uint32_t>(zeros));
   if (literal.negative) mpz_neg(z, z);
   out = store(z, static_cast<int32_t>(scale), arena);
   return ParseStatus::Ok;
}

void appendDigits(std::string& out, const char* digits, size_t count, int32_t scale) {
   const size_t fraction = static_cast<size_t>(scale);
   if (count > fraction) {
      out.append(digits, count - fraction);
   } else {
      out.push_back('0');
   }
   if (fraction == 0) return;
   out.push_back('.');
   if (count < fraction) out.append(fraction - count, '0');
   out.append(count < fraction ? digits : digits + (count - fraction), std::min(count, fraction));
}

/// Decimal digits of v (none for zero) at `buffer`, which has room for 39.
size_t writeMagnitude(char* buffer, uint128 v) {
   if (v == 0) return 0;
   constexpr uint64_t chunk = 1'000'000'000'000'000'000;
   const uint128 high = v / chunk;
   if (high == 0) return static_cast<size_t>(writeUnsigned(buffer, static_cast<uint64_t>(v)) - buffer);
   char* p = buffer + writeMagnitude(buffer, high);
   p = writePadded(p, static_cast<uint64_t>(v % chunk), 18);
   return static_cast<size_t>(p - buffer);
}

void appendBig16(std::string& out, uint32_t v) {
   out.push_back(static_cast<char>(v >> 8));
   out.push_back(static_cast<char>(v));
}

constexpr uint32_t wireNegative = 0x4000, wireNaN = 0xc000, wireInfinity = 0xd000, wireNegativeInfinity = 0xf000;

/// From decimal digits without leading zeros.
void appendGroups(std::string& out, std::string_view digits, int32_t scale, bool negative) {
   // Pad so that the decimal point falls between groups of four.
   std::string padded(digits);
   padded.append(static_cast<size_t>((4 - scale % 4) % 4), '0');
   const int32_t fractionGroups = (scale + 3) / 4;
   padded.insert(0, (4 - padded.size() % 4) % 4, '0');
   std::vector<uint16_t> groups;
   groups.reserve(padded.size() / 4);
   for (size_t i = 0; i < padded.size(); i += 4)
      groups.push_back(static_cast<uint16_t>((padded[i] - '0') * 1000 + (padded[i + 1] - '0') * 100 +
                                             (padded[i + 2] - '0') * 10 + (padded[i + 3] - '0')));
   int32_t weight = static_cast<int32_t>(groups.size()) - fractionGroups - 1;
   size_t first = 0, last = groups.size();
   while (first < last && groups[first] == 0)
      ++first, --weight;
   while (last > first && groups[last - 1] == 0)
      --last;
   if (first == last) weight = 0;
   appendBig16(out, static_cast<uint32_t>(last - first));
   appendBig16(out, static_cast<uint32_t>(weight));
   appendBig16(out, negative ? wireNegative : 0);
   appendBig16(out, static_cast<uint32_t>(scale));
   for (; first < last; ++first)
      appendBig16(out, groups[first]);
}

[[noreturn, gnu::cold]] void throwBadBinary(const char* what) {
   throw SqlError(sqlstate::invalidBinaryRepresentation,
                  std::string("invalid ") + what + " in external \"numeric\" value");
}

} // namespace

ParseStatus tryParse(std::string_view text, Arena& arena, StringView& out) {
   text = trimBlanks(text);
   Literal literal;
   const ParseStatus status = split(text, literal);
   if (status == ParseStatus::Ok) return assemble(literal, arena, out);
   return parseSpecial(text, out) ? ParseStatus::Ok : status;
}

StringView parse(std::string_view text, Arena& arena) {
   StringView result;
   switch (tryParse(text, arena, result)) {
   case ParseStatus::Ok: return result;
   case ParseStatus::Malformed: throwInvalidSyntax("numeric", text);
   case ParseStatus::OutOfRange: throwOverflow();
   }
   return result;
}

void appendScaled(std::string& out, int128 value, int32_t scale) {
   char digits[48];
   if (value < 0) out.push_back('-');
   const uint128 magnitude = value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value);
   appendDigits(out, digits, writeMagnitude(digits, magnitude), scale);
}

void append(std::string& out, StringView v) {
   Scaled s;
   if (decode(v, s)) return appendScaled(out, s.value, s.scale);
   switch (kind(v)) {
   case Kind::NaN: out.append("NaN"); return;
   case Kind::Infinity: out.append("Infinity"); return;
   case Kind::NegativeInfinity: out.append("-Infinity"); return;
   case Kind::Finite: break;
   }
   Integer z;
   const int32_t valueScale = load(v, z);
   if (z.sign() < 0) out.push_back('-');
   mpz_abs(z, z);
   std::string digits(mpz_sizeinbase(z, 10) + 2, '\0');
   mpz_get_str(digits.data(), 10, z);
   digits.resize(std::strlen(digits.c_str()));
   appendDigits(out, digits.data(), digits.size(), valueScale);
}

std::string toString(StringView v) {
   std::string out;
   append(out, v);
   return out;
}

void appendBinaryScaled(std::string& out, int64_t value, int32_t scale) {
   appendBinary(out, fromInt64(value, scale));
}

void appendBinary(std::string& out, StringView v) {
   const Kind k = kind(v);
   if (k != Kind::Finite) {
      appendBig16(out, 0);
      appendBig16(out, 0);
      appendBig16(out, k == Kind::NaN ? wireNaN : k == Kind::Infinity ? wireInfinity : wireNegativeInfinity);
      appendBig16(out, k == Kind::NaN ? 0 : 0x20); // PostgreSQL leaks a header bit here
      return;
   }
   Scaled s;
   char local[48];
   if (decode(v, s)) {
      const uint128 magnitude = s.value < 0 ? -static_cast<uint128>(s.value) : static_cast<uint128>(s.value);
      appendGroups(out, {local, writeMagnitude(local, magnitude)}, s.scale, s.value < 0);
      return;
   }
   Integer z;
   const int32_t valueScale = load(v, z);
   const bool negative = z.sign() < 0;
   mpz_abs(z, z);
   std::string digits(mpz_sizeinbase(z, 10) + 2, '\0');
   mpz_get_str(digits.data(), 10, z);
   digits.resize(std::strlen(digits.c_str()));
   appendGroups(out, digits, valueScale, negative);
}

StringView parseBinary(std::string_view bytes, Arena& arena) {
   const auto read16 = [&bytes](size_t i) {
      return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i * 2])) << 8 |
             static_cast<unsigned char>(bytes[i * 2 + 1]);
   };
   if (bytes.size() < 8) throw SqlError(sqlstate::protocolViolation, "insufficient data left in message");
   const uint32_t groups = read16(0), signField = read16(2), displayScale = read16(3);
   const int32_t weight = static_cast<int16_t>(read16(1));
   if (bytes.size() != 8 + groups * 2) {
      if (bytes.size() < 8 + groups * 2)
         throw SqlError(sqlstate::protocolViolation, "insufficient data left in message");
      throw SqlError(sqlstate::invalidBinaryRepresentation, "incorrect binary data format");
   }
   switch (signField) {
   case 0:
   case wireNegative: break;
   case wireNaN: return nan();
   case wireInfinity: return infinity();
   case wireNegativeInfinity: return infinity(true);
   default: throwBadBinary("sign");
   }
   if (displayScale > static_cast<uint32_t>(scaleMax)) throwBadBinary("scale");
   std::string digits;
   digits.reserve(groups * 4 + 1);
   for (uint32_t i = 0; i < groups; ++i) {
      const uint32_t group = read16(4 + i);
      if (group > 9999) throwBadBinary("digit");
      char buffer[4];
      writePadded(buffer, group, 4);
      digits.append(buffer, 4);
   }
   // digits are worth 10^(4 * (weight + 1 - groups)); digits behind the display scale are cut off.
   Integer z;
   if (!digits.empty()) mpz_set_str(z, digits.c_str(), 10);
   const int32_t have = 4 * (static_cast<int32_t>(groups) - weight - 1), want = static_cast<int32_t>(displayScale);
   if (z.sign() != 0 && 4 * (weight + 1) > integerDigitsMax + 4) throwOverflow();
   if (have > want)
      scaleDownTruncated(z, static_cast<uint32_t>(have - want));
   else
      scaleUp(z, static_cast<uint32_t>(want - have));
   if (signField == wireNegative) mpz_neg(z, z);
   return store(z, want, arena);
}

} // namespace ouzel::decimal
