#include "common/type/time_zone.hpp"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <unordered_map>

#include "common/calendar/calendar.hpp"
#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"
#include "common/type/posix_zone.hpp"

namespace ouzel {

namespace {

constexpr int64_t microsToUnixEpoch = static_cast<int64_t>(julianOfPostgresEpoch - julianOfUnixEpoch) * microsPerDay;

/// A zone of the system's database.
class NamedZone final : public TimeZone {
public:
   NamedZone(std::string name, absl::TimeZone zone) : TimeZone(std::move(name)), zone_(zone) {}

   Offset offsetAt(int64_t timestamp) const override {
      const absl::TimeZone::CivilInfo info =
          zone_.At(absl::UnixEpoch() + absl::Microseconds(timestamp) + absl::Microseconds(microsToUnixEpoch));
      return {info.offset, info.is_dst, remember(info.zone_abbr)};
   }
   Offset offsetOfLocal(int64_t local) const override {
      const CivilTime t = civilFromTimestamp(local);
      const absl::CivilSecond civil(t.date.year, t.date.month, t.date.day, t.hour, t.minute, t.second);
      const absl::TimeZone::TimeInfo info = zone_.At(civil);
      const absl::Time instant = info.kind == absl::TimeZone::TimeInfo::REPEATED ? info.post : info.pre;
      if (info.kind == absl::TimeZone::TimeInfo::SKIPPED) {
         // The instant lies past the gap; what applies is the offset from before it.
         const absl::TimeZone::CivilInfo before = zone_.At(info.trans - absl::Seconds(1));
         return {before.offset, before.is_dst, remember(before.zone_abbr)};
      }
      const absl::TimeZone::CivilInfo at = zone_.At(instant);
      return {at.offset, at.is_dst, remember(at.zone_abbr)};
   }
   bool isFixed() const override {
      absl::TimeZone::CivilTransition first;
      return !zone_.NextTransition(absl::InfinitePast(), &first);
   }

private:
   /// absl's pointer lives as long as the zone's data, which it never frees.
   static std::string_view remember(const char* abbreviation) { return abbreviation; }

   absl::TimeZone zone_;
};

class UtcZone final : public TimeZone {
public:
   UtcZone() : TimeZone("UTC") {}
   Offset offsetAt(int64_t) const override { return {0, false, "UTC"}; }
   Offset offsetOfLocal(int64_t) const override { return {0, false, "UTC"}; }
   bool isFixed() const override { return true; }
};

/// Zones loaded so far, by lower-case name, and the spelling of all names of the system's database.
class ZoneRegistry {
public:
   static ZoneRegistry& instance() {
      static ZoneRegistry* registry = new ZoneRegistry; // zones outlive every static destructor
      return *registry;
   }

   /// Throws 53400 beyond `zonesMax`: zones are kept, and POSIX texts may spell any number of them.
   const TimeZone* find(std::string_view name) {
      const std::string key = lowerCase(name);
      const MutexLock guard(mutex_);
      if (const auto known = zones_.find(key); known != zones_.end()) return known->second.get();
      std::unique_ptr<TimeZone> zone = load(key, name);
      if (!zone) return nullptr;
      if (zones_.size() >= zonesMax)
         throw SqlError(sqlstate::configurationLimitExceeded, "too many different time zones");
      return zones_.emplace(key, std::move(zone)).first->second.get();
   }

private:
   static constexpr size_t zonesMax = 20'000;

   std::unique_ptr<TimeZone> load(const std::string& key, std::string_view name) REQUIRES(mutex_) {
      if (key == "utc") return std::make_unique<UtcZone>();
      if (const std::string* spelling = spellingOf(key)) {
         absl::TimeZone zone;
         if (absl::LoadTimeZone(*spelling, &zone)) return std::make_unique<NamedZone>(*spelling, zone);
      }
      return parsePosixZone(name);
   }

   const std::string* spellingOf(const std::string& key) REQUIRES(mutex_) {
      if (spellings_.empty()) listDatabase();
      const auto found = spellings_.find(key);
      return found == spellings_.end() ? nullptr : &found->second;
   }

   void listDatabase() REQUIRES(mutex_) {
      namespace fs = std::filesystem;
      const fs::path root = "/usr/share/zoneinfo";
      std::error_code ignored;
      spellings_.emplace("utc", "UTC");
      for (auto it = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, ignored);
           it != fs::recursive_directory_iterator(); it.increment(ignored)) {
         const std::string relative = it->path().lexically_relative(root).string();
         if (relative == "posix" || relative == "right") {
            it.disable_recursion_pending();
            continue;
         }
         if (it->is_directory(ignored) || relative.find('.') != std::string::npos) continue;
         spellings_.emplace(lowerCase(relative), relative);
      }
   }

public:
   std::vector<std::string> names() {
      const MutexLock guard(mutex_);
      if (spellings_.empty()) listDatabase();
      std::vector<std::string> result;
      for (const auto& [key, spelling] : spellings_)
         result.push_back(spelling);
      std::sort(result.begin(), result.end());
      return result;
   }

private:
   Mutex mutex_;
   std::unordered_map<std::string, std::unique_ptr<TimeZone>> zones_ GUARDED_BY(mutex_);
   std::map<std::string, std::string> spellings_ GUARDED_BY(mutex_);
};

struct AbbreviationEntry {
   std::string_view name;
   int32_t seconds;
   bool isDst;
   const char* zone;
};
constexpr AbbreviationEntry abbreviations[] = {
#define ZONE_ABBREVIATION(name, seconds, isDst, zone) {name, seconds, isDst, zone},
#include "common/type/zone_abbreviations.def"
#undef ZONE_ABBREVIATION
};

[[noreturn, gnu::cold]] void throwTimestampOutOfRange() {
   throw SqlError(sqlstate::datetimeValueOutOfRange, "timestamp out of range");
}

} // namespace

const TimeZone* findTimeZone(std::string_view name) {
   if (name.empty() || name.size() > 255) return nullptr;
   return ZoneRegistry::instance().find(name);
}

const TimeZone* fixedTimeZone(int32_t secondsEast) {
   // The abbreviation counts east, the POSIX offset west.
   const auto spell = [](int32_t seconds) {
      const uint32_t magnitude = static_cast<uint32_t>(seconds < 0 ? -seconds : seconds);
      std::string text(1, seconds < 0 ? '-' : '+');
      char buffer[8];
      text.append(buffer, static_cast<size_t>(writeTwoDigits(buffer, magnitude / 3600) - buffer));
      if (magnitude % 3600 != 0) {
         text.push_back(':');
         text.append(buffer, static_cast<size_t>(writeTwoDigits(buffer, magnitude / 60 % 60) - buffer));
      }
      if (magnitude % 60 != 0) {
         text.push_back(':');
         text.append(buffer, static_cast<size_t>(writeTwoDigits(buffer, magnitude % 60) - buffer));
      }
      return text;
   };
   return findTimeZone("<" + spell(secondsEast) + ">" + spell(-secondsEast));
}

std::optional<ZoneAbbreviation> findZoneAbbreviation(std::string_view name) {
   const std::string key = lowerCase(name);
   const auto* found = std::lower_bound(std::begin(abbreviations), std::end(abbreviations), key,
                                        [](const AbbreviationEntry& e, const std::string& k) { return e.name < k; });
   if (found == std::end(abbreviations) || found->name != key) return std::nullopt;
   if (found->zone) {
      const TimeZone* zone = findTimeZone(found->zone);
      if (!zone) return std::nullopt;
      return ZoneAbbreviation{0, false, zone};
   }
   return ZoneAbbreviation{found->seconds, found->isDst, nullptr};
}

std::vector<std::string_view> zoneAbbreviations() {
   std::vector<std::string_view> names;
   for (const AbbreviationEntry& entry : abbreviations)
      names.push_back(entry.name);
   return names;
}

std::vector<std::string> timeZoneNames() {
   return ZoneRegistry::instance().names();
}

int64_t clockTimeOf(const TimeZone* zone, int64_t timestamp) {
   if (!zone || isInfiniteTimestamp(timestamp)) return timestamp;
   return timestamp + static_cast<int64_t>(zone->offsetAt(timestamp).seconds) * microsPerSecond;
}

int64_t timestampToLocal(const TimeZone* zone, int64_t timestamp) {
   const int64_t local = clockTimeOf(zone, timestamp);
   if (!isInfiniteTimestamp(timestamp) && !isValidTimestamp(local)) throwTimestampOutOfRange();
   return local;
}

int64_t localToTimestamp(const TimeZone* zone, int64_t local) {
   if (!zone || isInfiniteTimestamp(local)) return local;
   const int64_t timestamp = local - static_cast<int64_t>(zone->offsetOfLocal(local).seconds) * microsPerSecond;
   if (!isValidTimestamp(timestamp)) throwTimestampOutOfRange();
   return timestamp;
}

} // namespace ouzel
