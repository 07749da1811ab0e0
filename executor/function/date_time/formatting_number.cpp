#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/number/decimal_big.hpp"
#include "common/text/number_text.hpp"
#include "common/value/sql_type.hpp"
#include "executor/function/date_time/format_template.hpp"
#include "executor/function/date_time/formatting.hpp"

// to_char() and to_number() of numbers. A template is first summarised (Picture), then processed node by node.

namespace ouzel {

namespace {

using namespace formatting;

[[gnu::cold]] SqlError badPicture(const char* message) {
   return SqlError(sqlstate::syntaxError, message);
}

enum class LocaleSign : uint8_t { None, Before, After };

/// The summary of a template.
struct Picture {
   int32_t pre = 0, post = 0; ///< digits before and after the point
   int32_t multiply = 0;      ///< digits after V
   int32_t zeroStart = 0, zeroEnd = 0;
   LocaleSign localeSign = LocaleSign::None;
   int32_t preAtLocaleSign = 0;
   bool hasPoint = false, isFillMode = false, hasLocaleSign = false, hasBracket = false, hasMinus = false,
        hasPlus = false, isRoman = false, isMultiplied = false, isScientific = false, hasZero = false, isBlank = false;

   void add(const Keyword& keyword) {
      if (isScientific && keyword.id != EEEE) throw badPicture("\"EEEE\" must be the last pattern used");
      switch (keyword.id) {
      case NINE:
         if (hasBracket) throw badPicture("\"9\" must be ahead of \"PR\"");
         if (isMultiplied)
            ++multiply;
         else
            ++(hasPoint ? post : pre);
         break;
      case ZERO:
         if (hasBracket) throw badPicture("\"0\" must be ahead of \"PR\"");
         if (!hasZero && !hasPoint) {
            hasZero = true;
            zeroStart = pre + 1;
         }
         ++(hasPoint ? post : pre);
         zeroEnd = pre + post;
         break;
      case BLANK:
         if (pre == 0 && post == 0 && !hasZero) isBlank = true;
         break;
      case DECIMAL:
      case POINT:
         if (hasPoint) throw badPicture("multiple decimal points");
         if (isMultiplied) throw badPicture("cannot use \"V\" and decimal point together");
         hasPoint = true;
         break;
      case FM: isFillMode = true; break;
      case LOCALE_SIGN:
         if (hasLocaleSign) throw badPicture("cannot use \"S\" twice");
         if (hasPlus || hasMinus || hasBracket)
            throw badPicture("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together");
         if (!hasPoint) {
            localeSign = LocaleSign::Before;
            preAtLocaleSign = pre;
            hasLocaleSign = true;
         } else if (localeSign == LocaleSign::None) {
            localeSign = LocaleSign::After;
            hasLocaleSign = true;
         }
         break;
      case MINUS:
         if (hasLocaleSign) throw badPicture("cannot use \"S\" and \"MI\" together");
         hasMinus = true;
         break;
      case PLUS:
         if (hasLocaleSign) throw badPicture("cannot use \"S\" and \"PL\" together");
         hasPlus = true;
         break;
      case SIGN:
         if (hasLocaleSign) throw badPicture("cannot use \"S\" and \"SG\" together");
         hasMinus = hasPlus = true;
         break;
      case BRACKET:
         if (hasLocaleSign || hasPlus || hasMinus)
            throw badPicture("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
         hasBracket = true;
         break;
      case ROMAN:
      case roman: isRoman = true; break;
      case MULTIPLY:
         if (hasPoint) throw badPicture("cannot use \"V\" and decimal point together");
         isMultiplied = true;
         break;
      case EEEE:
         if (isScientific) throw badPicture("cannot use \"EEEE\" twice");
         if (isBlank || isFillMode || hasLocaleSign || hasBracket || hasMinus || hasPlus || isRoman || isMultiplied)
            throw SqlError(sqlstate::syntaxError, "\"EEEE\" is incompatible with other formats")
                .detail("\"EEEE\" may only be used together with digit and decimal point patterns.");
         isScientific = true;
         break;
      default: break;
      }
   }
};

struct NumberTemplate {
   std::vector<Node> nodes;
   Picture picture;
};

const NumberTemplate& cachedTemplate(std::string_view pattern) {
   thread_local std::string source;
   thread_local std::optional<NumberTemplate> parsed;
   if (!parsed || source != pattern) {
      parsed.reset();
      NumberTemplate fresh;
      fresh.nodes = parseTemplate(pattern, TemplateKind::Number);
      for (const Node& node : fresh.nodes)
         if (node.keyword) fresh.picture.add(*node.keyword);
      source = std::string(pattern);
      parsed = std::move(fresh);
   }
   return *parsed;
}

/// Prints digits by a template. The digits are already rounded to the picture.
class NumberPrinter {
public:
   /// `digits` has no sign. `padding`: number of places of the picture before the first digit.
   NumberPrinter(std::string& out, Picture picture, std::string digits, char sign, int32_t padding)
      : out_(out), picture_(picture), digits_(std::move(digits)), sign_(sign), padding_(padding) {
      if (picture_.zeroStart != 0) --picture_.zeroStart;
      if (picture_.hasPlus || picture_.hasMinus) {
         signWritten_ = !(picture_.hasPlus && !picture_.hasMinus);
      } else {
         if (sign_ != '-' && picture_.isFillMode) picture_.hasBracket = false;
         signWritten_ = sign_ == '+' && picture_.isFillMode && !picture_.hasLocaleSign;
         if (picture_.localeSign == LocaleSign::Before && picture_.pre == picture_.preAtLocaleSign)
            picture_.localeSign = LocaleSign::After;
      }
      places_ = picture_.post + picture_.pre - 1;
      if (picture_.isFillMode && picture_.hasPoint) findLastRelevant();
      if (!signWritten_ && padding_ == 0) ++places_;
   }

   void print(const std::vector<Node>& nodes) {
      for (const Node& node : nodes) {
         if (node.kind != NodeKind::Action)
            out_.append(node.text);
         else
            action(node.keyword->id);
      }
      if (cut_ != none) out_.resize(cut_);
   }

private:
   static constexpr size_t none = std::string::npos;

   /// Find the last digit after the point that is not zero, or the point itself.
   void findLastRelevant() {
      const size_t point = digits_.find('.');
      if (point == std::string::npos) return;
      lastRelevant_ = point;
      for (size_t i = point + 1; i < digits_.size(); ++i)
         if (digits_[i] != '0') lastRelevant_ = i;
      // Places that the template marks with 0 stay.
      if (picture_.zeroEnd > padding_) {
         const size_t lastZero = std::min(digits_.size() - 1, static_cast<size_t>(picture_.zeroEnd - padding_));
         lastRelevant_ = std::max(lastRelevant_, lastZero);
      }
   }

   char digit(size_t i) const { return i < digits_.size() ? digits_[i] : '\0'; }
   bool lastRelevantIsPoint() const { return lastRelevant_ != none && digit(lastRelevant_) == '.'; }
   /// A leading zero is hidden: "9.9" prints 0.1 as " .1".
   bool isLeadingZeroHidden() const { return !picture_.hasZero && next_ == 0 && digit(0) == '0' && picture_.post != 0; }
   void blank() {
      if (!picture_.isFillMode) out_.push_back(' ');
   }

   void action(int32_t id) {
      switch (id) {
      case NINE:
      case ZERO:
      case POINT:
      case DECIMAL: digitPlace(id); break;
      case COMMA:
      case GROUP:
         if (inNumber_)
            out_.push_back(',');
         else
            blank();
         break;
      case CURRENCY: out_.push_back(' '); break;
      case ROMAN:
      case roman: {
         std::string text = digits_.substr(std::min(next_, digits_.size()));
         if (id == roman)
            std::transform(text.begin(), text.end(), text.begin(),
                           [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
         if (!picture_.isFillMode && text.size() < 15) out_.append(15 - text.size(), ' ');
         out_.append(text);
         break;
      }
      case ordinal:
      case ORDINAL:
         if (picture_.isRoman || digit(0) == '#' || sign_ == '-' || picture_.hasPoint) break;
         out_.append(ordinalSuffix(digits_, id == ORDINAL));
         break;
      case MINUS:
         if (sign_ == '-')
            out_.push_back('-');
         else
            blank();
         break;
      case PLUS:
         if (sign_ == '+')
            out_.push_back('+');
         else
            blank();
         break;
      case SIGN: out_.push_back(sign_); break;
      default: break;
      }
   }

   void writeSign() {
      const bool isReached = place_ >= padding_ || (picture_.hasZero && picture_.zeroStart == place_);
      if (signWritten_ || !isReached || (isLeadingZeroHidden() && !lastRelevantIsPoint())) return;
      if (picture_.hasLocaleSign) {
         if (picture_.localeSign != LocaleSign::Before) return;
         out_.push_back(sign_ == '-' ? '-' : '+');
      } else if (picture_.hasBracket) {
         out_.push_back(sign_ == '+' ? ' ' : '<');
      } else if (sign_ == '+') {
         blank();
      } else {
         out_.push_back('-');
      }
      signWritten_ = true;
   }

   void writeDigit(int32_t id) {
      if (digit(next_) == '.') {
         if (!lastRelevantIsPoint() || picture_.isFillMode) out_.push_back('.');
      } else if (lastRelevant_ != none && next_ > lastRelevant_ && id != ZERO) {
         // after the last relevant digit
      } else if (isLeadingZeroHidden()) {
         if (!picture_.isFillMode)
            out_.push_back(' ');
         else if (lastRelevantIsPoint())
            out_.push_back('0');
      } else {
         if (next_ < digits_.size())
            out_.push_back(digits_[next_]);
         else if (cut_ == none)
            cut_ = out_.size();
         inNumber_ = true;
      }
      if (next_ < digits_.size()) ++next_;
   }

   void digitPlace(int32_t id) {
      if (picture_.isRoman) return;
      inNumber_ = false;
      writeSign();
      const bool isPadding = place_ < padding_;
      if (isPadding && (picture_.zeroStart > place_ || !picture_.hasZero)) {
         blank();
      } else if (isPadding) {
         out_.push_back('0');
         inNumber_ = true;
      } else {
         writeDigit(id);
      }
      int32_t end = places_ + (padding_ != 0 ? 1 : 0) + (picture_.hasPoint ? 1 : 0);
      if (lastRelevant_ != none && lastRelevant_ == next_) end = place_;
      if (place_ + 1 == end) {
         if (signWritten_ && picture_.hasBracket)
            out_.push_back(sign_ == '+' ? ' ' : '>');
         else if (picture_.hasLocaleSign && picture_.localeSign == LocaleSign::After)
            out_.push_back(sign_ == '-' ? '-' : '+');
      }
      ++place_;
   }

   std::string& out_;
   Picture picture_;
   std::string digits_;
   char sign_;
   int32_t padding_;
   bool signWritten_ = false, inNumber_ = false;
   int32_t places_ = 0, place_ = 0;
   size_t next_ = 0; ///< index of the next digit to write
   size_t lastRelevant_ = none;
   size_t cut_ = none; ///< where the text ends if the picture has more digits than the number
};

/// Prints sign and digits of a number given as text; '#' marks if it has more digits than the picture.
void printDigits(std::string& out, const NumberTemplate& t, Picture picture, std::string text) {
   char sign = '+';
   if (!text.empty() && text[0] == '-') {
      sign = '-';
      text.erase(0, 1);
   }
   const int32_t whole = static_cast<int32_t>(std::min(text.find('.'), text.size()));
   int32_t padding = 0;
   if (whole < picture.pre) {
      padding = picture.pre - whole;
   } else if (whole > picture.pre) {
      text.assign(static_cast<size_t>(picture.pre + picture.post + 1), '#');
      text[static_cast<size_t>(picture.pre)] = '.';
   }
   NumberPrinter(out, picture, std::move(text), sign, padding).print(t.nodes);
}

std::string romanNumeral(int64_t v) {
   if (v < 1 || v > 3999) return std::string(15, '#');
   constexpr struct {
      int value;
      const char* text;
   } steps[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
                {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
   std::string out;
   for (const auto& step : steps)
      for (; v >= step.value; v -= step.value)
         out.append(step.text);
   return out;
}

void printRoman(std::string& out, const NumberTemplate& t, int64_t v) {
   NumberPrinter(out, t.picture, romanNumeral(v), '+', 0).print(t.nodes);
}

/// The '#' marks that scientific form prints for NaN and infinities.
std::string overflowMarks(const Picture& picture) {
   std::string marks(static_cast<size_t>(picture.pre + picture.post + 6), '#');
   marks[0] = ' ';
   marks[static_cast<size_t>(picture.pre + 1)] = '.';
   return marks;
}

/// A decimal as d.ddde+dd, with the mantissa rounded half away from zero.
std::string scientific(StringView v, const Picture& picture) {
   if (!decimal::isFinite(v)) return overflowMarks(picture);
   decimal::Integer z;
   const int32_t scale = decimal::load(v, z);
   const int32_t digits = static_cast<int32_t>(z.digits());
   const int32_t exponent = digits == 0 ? 0 : digits - 1 - scale;
   // mantissa * 10^post = z * 10^(post - scale - exponent)
   const int32_t shift = picture.post - scale - exponent;
   if (shift >= 0)
      decimal::scaleUp(z, static_cast<uint32_t>(shift));
   else
      decimal::scaleDown(z, static_cast<uint32_t>(-shift));
   Arena arena;
   std::string text = decimal::toString(decimal::store(z, picture.post, arena));
   char tail[16];
   std::snprintf(tail, sizeof tail, "e%+03d", exponent);
   if (text[0] != '-') text.insert(0, 1, ' ');
   return text + tail;
}

void printScientific(std::string& out, const Picture& picture, double v) {
   if (!std::isfinite(v)) {
      out.append(overflowMarks(picture));
      return;
   }
   char buffer[512];
   const int length = std::snprintf(buffer, sizeof buffer, "%+.*e", std::min(picture.post, 400), v);
   if (buffer[0] == '+') buffer[0] = ' ';
   out.append(buffer, static_cast<size_t>(length));
}

StringView powerOfTen(int32_t exponent, Arena& arena) {
   return decimal::power(decimal::fromInt64(10), decimal::fromInt64(exponent), arena);
}

void printFloating(std::string& out, std::string_view pattern, double v, int32_t digitsMax) {
   const NumberTemplate& t = cachedTemplate(pattern);
   Picture picture = t.picture;
   if (picture.isRoman) {
      const double rounded = std::rint(v);
      return printRoman(out, t, rounded >= 1 && rounded < 4000 ? static_cast<int64_t>(rounded) : 0);
   }
   if (picture.isScientific) return printScientific(out, picture, v);
   if (picture.isMultiplied) {
      v *= std::pow(10.0, picture.multiply);
      picture.pre += picture.multiply;
   }
   char buffer[1200];
   const auto infinityLength = static_cast<int>(std::strlen("Infinity"));
   const int whole = std::isinf(v) ? infinityLength : std::snprintf(buffer, sizeof buffer, "%.0f", std::fabs(v));
   // Print no more digits than the type has.
   if (whole >= digitsMax)
      picture.post = 0;
   else if (whole + picture.post > digitsMax)
      picture.post = digitsMax - whole;
   int length = std::snprintf(buffer, sizeof buffer, "%.*f", picture.post, v);
   std::string text(buffer, static_cast<size_t>(length));
   if (std::isnan(v)) text = "NaN";
   if (std::isinf(v)) text = v < 0 ? "-Infinity" : "Infinity";
   printDigits(out, t, picture, std::move(text));
}

} // namespace

void formatDecimal(std::string& out, std::string_view pattern, StringView v) {
   const NumberTemplate& t = cachedTemplate(pattern);
   Picture picture = t.picture;
   Arena arena;
   if (picture.isRoman) return printRoman(out, t, decimal::toInt4(decimal::round(v, 0, arena)));
   if (picture.isScientific) {
      out.append(scientific(v, picture));
      return;
   }
   if (picture.isMultiplied) {
      v = decimal::multiply(v, powerOfTen(picture.multiply, arena), arena);
      picture.pre += picture.multiply;
   }
   printDigits(out, t, picture, decimal::toString(decimal::round(v, picture.post, arena)));
}

void formatInteger(std::string& out, std::string_view pattern, int64_t v) {
   const NumberTemplate& t = cachedTemplate(pattern);
   Picture picture = t.picture;
   if (picture.isRoman) return printRoman(out, t, v);
   if (picture.isScientific) {
      out.append(scientific(decimal::fromInt64(v), picture));
      return;
   }
   Arena arena;
   std::string text = std::to_string(v);
   if (picture.isMultiplied) {
      text = std::to_string(
          decimal::toInt8(decimal::multiply(decimal::fromInt64(v), powerOfTen(picture.multiply, arena), arena)));
      picture.pre += picture.multiply;
   }
   if (picture.post != 0) text.append(1, '.').append(static_cast<size_t>(picture.post), '0');
   printDigits(out, t, picture, std::move(text));
}

void formatDouble(std::string& out, std::string_view pattern, double v) {
   printFloating(out, pattern, v, std::numeric_limits<double>::digits10);
}

void formatFloat(std::string& out, std::string_view pattern, float v) {
   printFloating(out, pattern, static_cast<double>(v), std::numeric_limits<float>::digits10);
}

namespace {

/// Reads a number from a text by a template.
class NumberReader {
public:
   NumberReader(std::string_view text, Picture& picture) : text_(text), picture_(picture) {}

   /// Returns the number in plain notation, with the sign in front.
   std::string run(const std::vector<Node>& nodes) {
      for (const Node& node : nodes) {
         if (atEnd()) break;
         if (node.kind != NodeKind::Action)
            skipCharacter();
         else if (action(node.keyword->id))
            ++p_;
      }
      if (!digits_.empty() && digits_.back() == '.') digits_.pop_back();
      picture_.post = readPost_;
      return (sign_ == ' ' ? std::string() : std::string(1, sign_)) + digits_;
   }

private:
   bool atEnd() const { return p_ >= text_.size(); }
   char peek(size_t ahead = 0) const { return p_ + ahead < text_.size() ? text_[p_ + ahead] : '\0'; }
   void skipCharacter() {
      ++p_;
      while (!atEnd() && (static_cast<unsigned char>(peek()) & 0xc0) == 0x80)
         ++p_;
   }
   /// Skip up to `count` characters that cannot belong to a number.
   void skipOther(int count) {
      while (count-- > 0 && !atEnd() && std::strchr("0123456789.,+-", peek()) == nullptr)
         skipCharacter();
   }

   /// Process a keyword. True if the character at p_ was consumed.
   bool action(int32_t id) {
      switch (id) {
      case NINE:
      case ZERO:
      case POINT:
      case DECIMAL: digitPlace(id); return true;
      case COMMA:
      case GROUP: return (inNumber_ || !picture_.isFillMode) && peek() == ',';
      case CURRENCY: skipOther(1); return false;
      case ordinal:
      case ORDINAL:
         if (picture_.isRoman || sign_ == '-' || picture_.hasPoint) return false;
         skipOther(2);
         return false;
      case MINUS: return takeSign("-");
      case PLUS: return takeSign("+");
      case SIGN: return takeSign("-+");
      case ROMAN:
      case roman: throw SqlError(sqlstate::featureNotSupported, "\"RN\" not supported for input");
      default: return false;
      }
   }

   bool takeSign(const char* signs) {
      if (peek() != '\0' && std::strchr(signs, peek()) != nullptr) {
         sign_ = peek();
         return true;
      }
      skipOther(1);
      return false;
   }

   /// Read a minus, a bracket or a plus in front of the number.
   void plainSign() {
      if (peek() == '-' || (picture_.hasBracket && peek() == '<')) {
         sign_ = '-';
         ++p_;
      } else if (peek() == '+') {
         sign_ = '+';
         ++p_;
      }
   }

   void digitPlace(int32_t id) {
      if (atEnd()) return;
      if (peek() == ' ') ++p_;
      if (atEnd()) return;
      if (sign_ == ' ' && (id == ZERO || id == NINE) && readPre_ + readPost_ == 0) {
         if (picture_.hasLocaleSign && picture_.localeSign == LocaleSign::Before) {
            if (peek() == '-' || peek() == '+') {
               sign_ = peek();
               ++p_;
            }
         } else {
            plainSign();
         }
      }
      if (atEnd()) return;
      bool isRead = false;
      if (isDigit(peek())) {
         if (readPoint_ && readPost_ == picture_.post) return;
         digits_.push_back(peek());
         ++(readPoint_ ? readPost_ : readPre_);
         isRead = true;
      } else if (picture_.hasPoint && !readPoint_ && peek() == '.') {
         digits_.push_back('.');
         readPoint_ = isRead = true;
      }
      if (sign_ != ' ' || readPre_ + readPost_ == 0) return;
      // A sign after the last digit.
      if (picture_.hasLocaleSign && isRead && p_ + 1 < text_.size() && !isDigit(peek(1))) {
         if (peek(1) == '-' || peek(1) == '+') {
            sign_ = peek(1);
            ++p_;
         }
      } else if (!isRead && !picture_.hasLocaleSign && (picture_.hasPlus || picture_.hasMinus)) {
         if (peek() == '-' || peek() == '+') sign_ = peek();
      }
   }

   std::string_view text_;
   Picture& picture_;
   size_t p_ = 0;
   std::string digits_;
   char sign_ = ' ';
   bool inNumber_ = false, readPoint_ = false;
   int32_t readPre_ = 0, readPost_ = 0;
};

} // namespace

StringView toNumber(std::string_view text, std::string_view pattern, Arena& arena) {
   const NumberTemplate& t = cachedTemplate(pattern);
   if (t.picture.isScientific) throw SqlError(sqlstate::featureNotSupported, "\"EEEE\" not supported for input");
   Picture picture = t.picture;
   const std::string number = NumberReader(text, picture).run(t.nodes);
   const int32_t precision = picture.pre + picture.multiply + picture.post;
   StringView result = decimal::parse(number.empty() ? std::string_view(" ") : std::string_view(number), arena);
   result = decimal::applyTypmod(result, numericTypmod(precision, picture.post), arena);
   if (picture.isMultiplied) {
      const StringView shift = decimal::power(decimal::fromInt64(10), decimal::fromInt64(-picture.multiply), arena);
      result = decimal::multiply(result, shift, arena);
   }
   return result;
}

} // namespace ouzel
