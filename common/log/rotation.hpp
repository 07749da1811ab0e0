#pragma once
#include <cstdint>
#include <string>

#include "common/log/settings.hpp"

// What files that take turns by age and size have in common: those of the log, and those of the audit.

namespace ouzel {

/// Where the file that begins at `time` lies.
std::string filePathAt(const LogFileSettings& settings, int64_t time);
/// When age ends the file of `now`: the next multiple of it in local time, midnight for a day. INT64_MAX: never.
int64_t nextRotation(const LogFileSettings& settings, int64_t now);
/// Open for lines at the end, in spite of the umask. -1: see errno.
int openAppending(const std::string& path, const LogFileSettings& settings, bool truncates);
/// The directory and those above it that are missing, for the server alone. False: see errno.
bool makeDirectories(const std::string& path);
/// "could not open log file "x": No space left on device", by errno.
std::string fileProblem(const char* what, const std::string& path);

} // namespace ouzel
