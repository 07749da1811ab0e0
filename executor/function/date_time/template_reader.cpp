#include "executor/function/date_time/template_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel::formatting {

namespace {

constexpr std::string_view fullMonths[] = {"january", "february", "march",     "april",   "may",      "june",
                                           "july",    "august",   "september", "october", "november", "december"};
constexpr std::string_view shortMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                            "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view fullDays[] = {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};
constexpr std::string_view shortDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
// December first, so that "xii" is tried before "xi" and "x".
constexpr std::string_view romanMonths[] = {"xii", "xi", "x", "ix", "viii", "vii", "vi", "v", "iv", "iii", "ii", "i"};
constexpr std::string_view meridians[] = {"am", "pm"}, longMeridians[] = {"a.m.", "p.m."};
constexpr std::string_view eras[] = {"ad", "bc"}, longEras[] = {"a.d.", "b.c."};

class TemplateReader {
public:
   TemplateReader(std::string_view text, const std::vector<Node>& nodes, ReadMode mode)
      : text_(text), nodes_(nodes), isStandard_(mode == ReadMode::Standard), isExact_(isStandard_) {}

   Fields run() {
      size_t i = 0;
      for (; i < nodes_.size() && !atEnd(); ++i) {
         const Node& node = nodes_[i];
         const bool isAction = node.kind == NodeKind::Action;
         if (!isExact_ && (!isAction || node.keyword->id != FX) && (isAction || i == 0)) skipBlanks();
         if (node.kind == NodeKind::Space || node.kind == NodeKind::Separator) {
            separator(node);
            continue;
         }
         if (!isAction) {
            // A character of the template consumes one of the text, unless a blank was skipped in its place before.
            if (!isExact_ && extraSkip_ > 0)
               --extraSkip_;
            else
               character(node);
            continue;
         }
         setCalendar(node);
         action(i);
         if (!isExact_) {
            extraSkip_ = 0;
            skipBlanks();
         }
      }
      if (isStandard_) checkWhole(i);
      return out_;
   }

private:
   bool atEnd() const { return p_ >= text_.size(); }
   char peek() const { return p_ < text_.size() ? text_[p_] : '\0'; }
   size_t characterBytes() const {
      size_t length = 1;
      while (p_ + length < text_.size() && (static_cast<unsigned char>(text_[p_ + length]) & 0xc0) == 0x80)
         ++length;
      return length;
   }
   void skipBlanks() {
      while (!atEnd() && isBlank(peek())) {
         ++p_;
         ++extraSkip_;
      }
   }
   void character(const Node& node) {
      const size_t size = characterBytes();
      if (isStandard_ && text_.substr(p_, size) != node.text)
         throw badText("unmatched format character \"" + node.text + '"');
      p_ += size;
   }
   void separator(const Node& node) {
      if (isStandard_) {
         if (peek() != node.text[0]) throw badText("unmatched format separator \"" + node.text + '"');
         ++p_;
         return;
      }
      if (isExact_) {
         p_ += characterBytes();
         return;
      }
      --extraSkip_;
      if (isBlank(peek()) || isSeparator(peek())) {
         ++p_;
         ++extraSkip_;
      }
   }

   /// That text and template ended together; `used` is the number of nodes that were.
   void checkWhole(size_t used) {
      if (used < nodes_.size()) throw badText("input string is too short for datetime format");
      skipBlanks();
      if (!atEnd()) throw badText("trailing characters remain in input string after datetime format");
   }

   void setCalendar(const Node& node) {
      if (node.keyword->calendar == Keyword::Calendar::Any) return;
      if (out_.calendar == Keyword::Calendar::Any)
         out_.calendar = node.keyword->calendar;
      else if (out_.calendar != node.keyword->calendar)
         throw badText("invalid combination of date conventions")
             .hint("Do not mix Gregorian and ISO week date conventions in a formatting template.");
   }

   static std::string nameOf(const Node& node) { return '"' + std::string(node.keyword->name) + '"'; }

   void set(int32_t& field, int32_t value, const Node& node) {
      if (field != 0 && field != value)
         throw badText("conflicting values for " + nameOf(node) + " field in formatting string")
             .detail("This value contradicts a previous setting for the same field type.");
      field = value;
   }

   /// Whether the template has no digits right after node i, so that node i may take as many digits as there are.
   bool endsAtSeparator(size_t i) const {
      if (nodes_[i].ordinal != Node::Ordinal::None) return true;
      if (i + 1 == nodes_.size()) return true;
      const Node& next = nodes_[i + 1];
      if (next.kind == NodeKind::Action) return !next.keyword->isDigit;
      return !(next.text.size() == 1 && isDigit(next.text[0]));
   }

   /// Read the digits of node i into `field` (may be null). Returns the number of characters consumed.
   int32_t integer(size_t i, int32_t* field, size_t length) {
      const Node& node = nodes_[i];
      const size_t start = p_;
      while (isBlank(peek()))
         ++p_;
      const std::string copy(text_.substr(p_, length));
      long result;
      errno = 0;
      if (node.isFillMode || endsAtSeparator(i)) {
         const std::string rest(text_.substr(start));
         char* end = nullptr;
         result = std::strtol(rest.c_str(), &end, 10);
         p_ = start + static_cast<size_t>(end - rest.c_str());
      } else {
         constexpr const char* hint = "If your source string is not fixed-width, try using the \"FM\" modifier.";
         if (copy.size() < length)
            throw badText("source string too short for " + nameOf(node) + " formatting field")
                .detail("Field requires " + std::to_string(length) + " characters, but only " +
                        std::to_string(copy.size()) + " remain.")
                .hint(hint);
         char* end = nullptr;
         result = std::strtol(copy.c_str(), &end, 10);
         const size_t used = static_cast<size_t>(end - copy.c_str());
         if (used > 0 && used < length)
            throw badText("invalid value \"" + copy + "\" for " + nameOf(node))
                .detail("Field requires " + std::to_string(length) + " characters, but only " + std::to_string(used) +
                        " could be parsed.")
                .hint(hint);
         p_ += used;
         if (used == 0) p_ = start;
      }
      if (p_ == start)
         throw badText("invalid value \"" + copy + "\" for " + nameOf(node)).detail("Value must be an integer.");
      if (errno == ERANGE || result < INT32_MIN || result > INT32_MAX)
         throw SqlError(sqlstate::datetimeFieldOverflow,
                        "value for " + nameOf(node) + " in source string is out of range")
             .detail("Value must be in the range -2147483648 to 2147483647.");
      if (field) set(*field, static_cast<int32_t>(result), node);
      return static_cast<int32_t>(p_ - start);
   }
   int32_t integer(size_t i, int32_t* field) { return integer(i, field, nodes_[i].keyword->name.size()); }

   /// Read one of `words`. Returns its index.
   template <size_t count>
   int32_t word(const Node& node, const std::string_view (&words)[count]) {
      for (size_t w = 0; w < count; ++w) {
         const std::string_view candidate = words[w];
         if (text_.size() - p_ < candidate.size()) continue;
         const bool matches = std::equal(candidate.begin(), candidate.end(), text_.begin() + static_cast<ptrdiff_t>(p_),
                                         [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
         if (!matches) continue;
         p_ += candidate.size();
         return static_cast<int32_t>(w);
      }
      size_t end = p_;
      while (end < text_.size() && !isBlank(text_[end]))
         ++end;
      throw badText("invalid value \"" + std::string(text_.substr(p_, end - p_)) + "\" for " + nameOf(node))
          .detail("The given value did not match any of the allowed values for this field.");
   }

   void skipOrdinal(const Node& node) {
      if (node.ordinal == Node::Ordinal::None) return;
      for (int i = 0; i < 2 && !atEnd(); ++i)
         p_ += characterBytes();
   }

   /// A fraction read with fewer digits than its field has: 25 read for three digits is 250.
   static int32_t scaled(int32_t value, int32_t length, int32_t digits) {
      for (; length < digits; ++length)
         value *= 10;
      return value;
   }

   static int32_t nearest2020(int32_t year) {
      if (year < 70) return year + 2000;
      if (year < 100) return year + 1900;
      if (year < 520) return year + 2000;
      return year < 1000 ? year + 1000 : year;
   }

   void partialYear(size_t i, int32_t size) {
      int32_t year = 0;
      const int32_t length = integer(i, &year);
      set(out_.year, length < 4 && size < 4 ? nearest2020(year) : year, nodes_[i]);
      out_.yearSize = size;
      skipOrdinal(nodes_[i]);
   }

   void action(size_t i) {
      const Node& node = nodes_[i];
      const int32_t id = node.keyword->id;
      const auto plain = [&](int32_t& field) {
         integer(i, &field);
         skipOrdinal(node);
      };
      switch (id) {
      case FX: isExact_ = true; break;
      case A_M:
      case a_m:
         set(out_.pm, word(node, longMeridians), node);
         out_.is12Hour = true;
         break;
      case AM:
      case am:
         set(out_.pm, word(node, meridians), node);
         out_.is12Hour = true;
         break;
      case HH:
      case HH12:
         integer(i, &out_.hour, 2);
         out_.is12Hour = true;
         skipOrdinal(node);
         break;
      case HH24:
         integer(i, &out_.hour, 2);
         skipOrdinal(node);
         break;
      case MI: plain(out_.minute); break;
      case SS: plain(out_.second); break;
      case MS: {
         const int32_t length = integer(i, &out_.millis, 3);
         out_.millis = scaled(out_.millis, length, 3);
         skipOrdinal(node);
         break;
      }
      case FF1:
      case FF2:
      case FF3:
      case FF4:
      case FF5:
      case FF6:
      case US: {
         if (id != US) out_.fractionDigits = id - FF1 + 1;
         const int32_t length = integer(i, &out_.micros, static_cast<size_t>(id == US ? 6 : out_.fractionDigits));
         out_.micros = scaled(out_.micros, length, 6);
         skipOrdinal(node);
         break;
      }
      case SSSS: plain(out_.secondOfDay); break;
      case tz:
      case TZ:
      case OF:
         throw SqlError(sqlstate::featureNotSupported,
                        "formatting field " + nameOf(node) + " is only supported in to_char");
      case TZH:
         // The sign may have been skipped as a separator.
         if (peek() == '+' || peek() == '-' || peek() == ' ') {
            out_.zoneSign = peek() == '-' ? -1 : 1;
            ++p_;
         } else {
            out_.zoneSign = extraSkip_ > 0 && p_ > 0 && text_[p_ - 1] == '-' ? -1 : 1;
         }
         integer(i, &out_.zoneHour, 2);
         break;
      case TZM:
         if (out_.zoneSign == 0) out_.zoneSign = 1;
         integer(i, &out_.zoneMinute, 2);
         break;
      case A_D:
      case a_d: set(out_.bc, word(node, longEras), node); break;
      case AD:
      case ad: set(out_.bc, word(node, eras), node); break;
      case MONTH:
      case Month:
      case month: set(out_.month, word(node, fullMonths) + 1, node); break;
      case MON:
      case Mon:
      case mon: set(out_.month, word(node, shortMonths) + 1, node); break;
      case MM: plain(out_.month); break;
      case DAY:
      case Day:
      case day: set(out_.dayOfWeek, word(node, fullDays) + 1, node); break;
      case DY:
      case Dy:
      case dy: set(out_.dayOfWeek, word(node, shortDays) + 1, node); break;
      case DDD: plain(out_.dayOfYear); break;
      case IDDD:
         integer(i, &out_.dayOfYear, 3);
         skipOrdinal(node);
         break;
      case DD: plain(out_.day); break;
      case D: plain(out_.dayOfWeek); break;
      case ID:
         integer(i, &out_.dayOfWeek, 1);
         // For ID Monday is 1; all other fields count from Sunday.
         out_.dayOfWeek = out_.dayOfWeek + 1 > 7 ? 1 : out_.dayOfWeek + 1;
         skipOrdinal(node);
         break;
      case WW:
      case IW: plain(out_.week); break;
      case Q: // the quarter is read and ignored
         integer(i, nullptr);
         skipOrdinal(node);
         break;
      case CC: plain(out_.century); break;
      case Y_YYY: commaYear(node); break;
      case YYYY:
      case IYYY: partialYear(i, 4); break;
      case YYY:
      case IYY: partialYear(i, 3); break;
      case YY:
      case IY: partialYear(i, 2); break;
      case Y:
      case I: partialYear(i, 1); break;
      case RM:
      case rm: set(out_.month, 12 - word(node, romanMonths), node); break;
      case W: plain(out_.weekOfMonth); break;
      case J: plain(out_.julian); break;
      default: break;
      }
   }

   void commaYear(const Node& node) {
      int millennia = 0, years = 0, taken = 0;
      const std::string rest(text_.substr(p_));
      if (std::sscanf(rest.c_str(), "%d,%03d%n", &millennia, &years, &taken) < 2)
         throw badText("invalid input string for \"Y,YYY\"");
      set(out_.year, years + millennia * 1000, node);
      out_.yearSize = 4;
      p_ += static_cast<size_t>(taken);
      skipOrdinal(node);
   }

   std::string_view text_;
   const std::vector<Node>& nodes_;
   size_t p_ = 0;
   int32_t extraSkip_ = 0;
   const bool isStandard_;
   bool isExact_; ///< FX was read
   Fields out_;
};

} // namespace

SqlError badText(const std::string& message) {
   return SqlError(sqlstate::invalidDatetimeFormat, message);
}

Fields readFields(std::string_view text, const std::vector<Node>& nodes, ReadMode mode) {
   return TemplateReader(text, nodes, mode).run();
}

} // namespace ouzel::formatting
