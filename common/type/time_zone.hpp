#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Time zones: IANA names, fixed offsets, abbreviations. The rules come from the system's zoneinfo through absl, which
// no header shows. Zones are loaded once and live as long as the process. Thread-safe.

namespace ouzel {

class TimeZone {
public:
   virtual ~TimeZone() = default;
   struct Offset {
      int32_t seconds; ///< east of Greenwich
      bool isDst;
      std::string_view abbreviation; ///< valid as long as the zone
   };
   virtual Offset offsetAt(int64_t timestamp) const = 0; ///< of an instant, microseconds since 2000-01-01 UTC
   /// Of a local time, as PostgreSQL chooses: a time that does not exist has the offset before the gap, a time that
   /// exists twice has the later offset.
   virtual Offset offsetOfLocal(int64_t local) const = 0;
   /// True when the zone has had one offset at all times.
   virtual bool isFixed() const = 0;
   const std::string& name() const { return name_; }

protected:
   explicit TimeZone(std::string name) : name_(std::move(name)) {}

private:
   std::string name_;
};

/// By IANA name in any case, or a POSIX form such as "EST5" or "<+03>-3"; null if there is none.
const TimeZone* findTimeZone(std::string_view name);
/// The zone of a fixed offset, with a POSIX name: SET TIME ZONE 3 makes "<+03>-03".
const TimeZone* fixedTimeZone(int32_t secondsEast);

/// An entry of PostgreSQL's default abbreviation set: "EST" is an offset, "MSK" follows a zone's rules.
struct ZoneAbbreviation {
   int32_t seconds = 0;
   bool isDst = false;
   const TimeZone* zone = nullptr; ///< not null: the zone's rules give the offset
};
std::optional<ZoneAbbreviation> findZoneAbbreviation(std::string_view name);
/// The names of the set, in lower case and in order.
std::vector<std::string_view> zoneAbbreviations();
/// The names of the system's zones, in order.
std::vector<std::string> timeZoneNames();

/// Offset of a null zone (UTC) or a zone.
inline int32_t zoneOffsetAt(const TimeZone* zone, int64_t timestamp) {
   return zone ? zone->offsetAt(timestamp).seconds : 0;
}
inline int32_t zoneOffsetOfLocal(const TimeZone* zone, int64_t local) {
   return zone ? zone->offsetOfLocal(local).seconds : 0;
}
/// An instant as the clock and the calendar of the zone show it, which may lie a day beyond the range of timestamps.
/// Infinities stay.
int64_t clockTimeOf(const TimeZone* zone, int64_t timestamp);
/// An instant as local time, and back. Infinities stay; results outside the range throw 22008.
int64_t timestampToLocal(const TimeZone* zone, int64_t timestamp);
int64_t localToTimestamp(const TimeZone* zone, int64_t local);

} // namespace ouzel
