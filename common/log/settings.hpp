#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/log/level.hpp"

namespace ouzel {

struct LogZoneOffset {
   int32_t seconds = 0; ///< east of Greenwich
   std::string_view abbreviation = "UTC";
};
/// log_timezone: the offset at an instant, in microseconds since 2000-01-01 UTC. Thread-safe. Empty: UTC.
using LogZone = std::function<LogZoneOffset(int64_t micros)>;

/// The forms in which a line is written: log_destination's stderr, csvlog and jsonlog.
enum class LogFormat : uint8_t { Text, Csv, Json };
inline constexpr size_t logFormats = 3;

/// Files that take turns: where they lie, and when the next one begins.
struct LogFileSettings {
   LogZone zone; ///< for their names, and for what a day is
   std::string directory;
   std::string filename = "ouzel-%Y-%m-%d_%H%M%S.log"; ///< a pattern of strftime
   int64_t rotationSeconds = 24 * 3600;                ///< 0: time does not rotate
   int64_t rotationBytes = 10 << 20;                   ///< 0: size does not rotate
   bool truncates = false;                             ///< a file that exists is overwritten when time rotates to it
   uint32_t fileMode = 0600;
};

/// The log's settings for the whole process. Those of sessions are in LogSession.
struct LogSettings : LogFileSettings {
   bool writes[logFormats] = {true, false, false}; ///< by LogFormat
   std::string linePrefix = "%m [%p] ";
   /// For lines outside sessions.
   LogLevel minMessages = LogLevel::Warning;
   LogVerbosity verbosity = LogVerbosity::Default;
   bool checkpoints = true;  ///< log_checkpoints
   bool connections = false; ///< log_connections

   bool usesFiles = false; ///< files in `directory`; else all goes to stderr
};

} // namespace ouzel
