#include "common/type/posix_zone.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/calendar/calendar.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

namespace {

/// The day and time of a year at which the offset changes.
struct ChangeRule {
   enum class Kind : uint8_t {
      JulianDay, ///< day 1..365; February 29 has no number
      DayOfYear, ///< day 0..365
      WeekDay,   ///< day 0..6 of week 1..5 (the last one) of a month
   };
   Kind kind = Kind::WeekDay;
   int32_t month = 1, week = 1, day = 0;
   int32_t seconds = 2 * 3600; ///< local time, since midnight

   /// Days since 2000-01-01.
   int64_t dayIn(int64_t year) const {
      const int64_t first = daysFromCivil(year, 1, 1);
      switch (kind) {
      case Kind::JulianDay: return first + day - 1 + (isLeapYear(year) && day >= 60 ? 1 : 0);
      case Kind::DayOfYear: return first + day;
      case Kind::WeekDay: break;
      }
      const int64_t firstOfMonth = daysFromCivil(year, month, 1);
      int32_t dayOfMonth = (day - dayOfWeek(firstOfMonth) + 7) % 7;
      for (int32_t i = 1; i < week && dayOfMonth + 7 < daysInMonth(year, month); ++i)
         dayOfMonth += 7;
      return firstOfMonth + dayOfMonth;
   }
   /// Seconds since 2000-01-01 UTC. `offset` holds until then.
   int64_t instantIn(int64_t year, int32_t offset) const { return dayIn(year) * secondsPerDay + seconds - offset; }
};

/// How the United States change their clocks since 2007: a zone without rules of its own follows them.
constexpr ChangeRule defaultBegin{ChangeRule::Kind::WeekDay, 3, 2, 0}, defaultEnd{ChangeRule::Kind::WeekDay, 11, 1, 0};

class FixedZone final : public TimeZone {
public:
   FixedZone(std::string name, std::string abbreviation, int32_t seconds)
      : TimeZone(std::move(name)), abbreviation_(std::move(abbreviation)), seconds_(seconds) {}
   Offset offsetAt(int64_t) const override { return {seconds_, false, abbreviation_}; }
   Offset offsetOfLocal(int64_t) const override { return {seconds_, false, abbreviation_}; }
   bool isFixed() const override { return true; }

private:
   std::string abbreviation_;
   int32_t seconds_;
};

class RuleZone final : public TimeZone {
public:
   struct Half {
      std::string abbreviation;
      int32_t seconds = 0; ///< east
   };
   RuleZone(std::string name, Half standard, Half saving, const ChangeRule& begin, const ChangeRule& end)
      : TimeZone(std::move(name)), standard_(std::move(standard)), saving_(std::move(saving)), begin_(begin),
        end_(end) {}

   Offset offsetAt(int64_t timestamp) const override {
      return offsetOf(isSavingAt(floorDivide(timestamp, microsPerSecond)));
   }

   Offset offsetOfLocal(int64_t local) const override {
      const int64_t seconds = floorDivide(local, microsPerSecond), dayBefore = seconds - secondsPerDay;
      const bool isSavingBefore = isSavingAt(dayBefore);
      const Offset before = offsetOf(isSavingBefore);
      const std::optional<int64_t> change = nextChange(dayBefore);
      if (!change) return before;
      const Offset after = offsetOf(!isSavingBefore);
      const int64_t asBefore = seconds - before.seconds, asAfter = seconds - after.seconds;
      if (asBefore < *change && asAfter < *change) return before;
      if (asBefore > *change && asAfter >= *change) return after;
      return asBefore > asAfter ? before : after;
   }

   bool isFixed() const override { return false; }

private:
   struct Change {
      int64_t instant; ///< seconds since 2000-01-01 UTC
      bool toSaving;
   };
   static constexpr int64_t yearsAround = 2; // offsets and rules reach at most a week beyond a year

   /// The changes in and around the year of an instant, in order. A year may have none: saving time lasts all year.
   template <typename Visit>
   void forEachChange(int64_t seconds, Visit&& visit) const {
      const int64_t year = civilFromDays(floorDivide(seconds, secondsPerDay)).year;
      for (int64_t y = year - yearsAround; y <= year + yearsAround; ++y) {
         const int64_t begin = begin_.instantIn(y, standard_.seconds), end = end_.instantIn(y, saving_.seconds);
         if (begin == end) continue;
         if (end < begin) {
            visit(Change{end, false});
            visit(Change{begin, true});
            continue;
         }
         const int64_t yearSeconds = int64_t{isLeapYear(y) ? 366 : 365} * secondsPerDay;
         if (end - begin >= yearSeconds + saving_.seconds - standard_.seconds) continue;
         visit(Change{begin, true});
         visit(Change{end, false});
      }
   }
   bool isSavingAt(int64_t seconds) const {
      bool isSaving = true;
      forEachChange(seconds, [&](const Change& change) {
         if (change.instant <= seconds) isSaving = change.toSaving;
      });
      return isSaving;
   }
   std::optional<int64_t> nextChange(int64_t seconds) const {
      std::optional<int64_t> next;
      forEachChange(seconds, [&](const Change& change) {
         if (!next && change.instant > seconds) next = change.instant;
      });
      return next;
   }
   Offset offsetOf(bool isSaving) const {
      const Half& half = isSaving ? saving_ : standard_;
      return {half.seconds, isSaving, half.abbreviation};
   }

   Half standard_, saving_;
   ChangeRule begin_, end_;
};

/// Reads a zone's text. Each part is empty where the text has something else.
class Reader {
public:
   explicit Reader(std::string_view text) : text_(text) {}

   bool atEnd() const { return text_.empty(); }
   bool take(char c) {
      if (text_.empty() || text_[0] != c) return false;
      text_.remove_prefix(1);
      return true;
   }
   bool isNext(char c) const { return !text_.empty() && text_[0] == c; }

   std::optional<std::string> abbreviation() {
      const bool isQuoted = take('<');
      const size_t end = isQuoted ? text_.find('>') : std::min(text_.find_first_of("0123456789,-+"), text_.size());
      if (end == std::string_view::npos) return std::nullopt;
      std::string name(text_.substr(0, end));
      text_.remove_prefix(end + (isQuoted ? 1 : 0));
      return name;
   }

   std::optional<int32_t> number(int32_t min, int32_t max) {
      if (text_.empty() || !isDigit(text_[0])) return std::nullopt;
      int32_t value = 0;
      while (!text_.empty() && isDigit(text_[0])) {
         value = value * 10 + (text_[0] - '0');
         if (value > max) return std::nullopt;
         text_.remove_prefix(1);
      }
      return value < min ? std::nullopt : std::optional(value);
   }

   /// [+-]hh[:mm[:ss]] as seconds.
   std::optional<int32_t> offset() {
      const bool isNegative = take('-');
      if (!isNegative) take('+');
      const auto hours = number(0, 167);
      if (!hours) return std::nullopt;
      int32_t seconds = *hours * 3600;
      if (take(':')) {
         const auto minutes = number(0, 59);
         if (!minutes) return std::nullopt;
         seconds += *minutes * 60;
         if (take(':')) {
            const auto rest = number(0, 60);
            if (!rest) return std::nullopt;
            seconds += *rest;
         }
      }
      return isNegative ? -seconds : seconds;
   }

   std::optional<ChangeRule> rule() {
      std::optional<ChangeRule> rule = day();
      if (!rule || !take('/')) return rule;
      const auto seconds = offset();
      if (!seconds) return std::nullopt;
      rule->seconds = *seconds;
      return rule;
   }

private:
   std::optional<ChangeRule> day() {
      ChangeRule rule;
      std::optional<int32_t> day;
      if (take('J')) {
         rule.kind = ChangeRule::Kind::JulianDay;
         day = number(1, 365);
      } else if (take('M')) {
         const auto month = number(1, 12);
         if (!month || !take('.')) return std::nullopt;
         const auto week = number(1, 5);
         if (!week || !take('.')) return std::nullopt;
         rule.month = *month;
         rule.week = *week;
         day = number(0, 6);
      } else {
         rule.kind = ChangeRule::Kind::DayOfYear;
         day = number(0, 365);
      }
      if (!day) return std::nullopt;
      rule.day = *day;
      return rule;
   }

   std::string_view text_;
};

} // namespace

std::unique_ptr<TimeZone> parsePosixZone(std::string_view text) {
   std::string name(text);
   for (char& c : name)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
   Reader reader(name);
   auto abbreviation = reader.abbreviation();
   if (!abbreviation || reader.atEnd()) return nullptr;
   const auto west = reader.offset();
   if (!west) return nullptr;
   if (reader.atEnd()) return std::make_unique<FixedZone>(name, std::move(*abbreviation), -*west);

   auto savingAbbreviation = reader.abbreviation();
   if (!savingAbbreviation || savingAbbreviation->empty()) return nullptr;
   int32_t savingWest = *west - 3600;
   if (!reader.atEnd() && !reader.isNext(',')) {
      const auto given = reader.offset();
      if (!given) return nullptr;
      savingWest = *given;
   }
   std::optional<ChangeRule> begin = defaultBegin, end = defaultEnd;
   if (!reader.atEnd()) {
      if (!reader.take(',') || !(begin = reader.rule()) || !reader.take(',') || !(end = reader.rule())) return nullptr;
      if (!reader.atEnd()) return nullptr;
   }
   return std::make_unique<RuleZone>(name, RuleZone::Half{std::move(*abbreviation), -*west},
                                     RuleZone::Half{std::move(*savingAbbreviation), -savingWest}, *begin, *end);
}

} // namespace ouzel
