#pragma once
#include <string_view>

namespace ouzel {

enum class LogLevel : unsigned char { Debug, Log, Warning, Error, Fatal };

/// One line to stderr: time in UTC, process id, level, message; line breaks inside become blanks. Thread-safe, one
/// write per line.
void logLine(LogLevel level, std::string_view message);
/// Lines below this level are dropped; Log at start.
void setLogLevel(LogLevel level);

} // namespace ouzel
