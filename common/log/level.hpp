#pragma once
#include <cstdint>
#include <string_view>

namespace ouzel {

/// How grave a message is, in PostgreSQL's order.
enum class LogLevel : uint8_t {
   Debug5,
   Debug4,
   Debug3,
   Debug2,
   Debug1,
   Log, ///< for operators: ranks between Error and Fatal where the log's threshold is compared
   Info,
   Notice,
   Warning,
   Error, ///< ends a statement
   Fatal, ///< ends a session
   Panic, ///< ends the process
};

/// "LOG"; "DEBUG" for all five levels of it.
std::string_view levelName(LogLevel level);
/// The level that log_min_messages and its kin call so ("debug1", "log"); Warning for other names.
LogLevel levelNamed(std::string_view name);
/// Whether a message of this level passes a threshold, which is a value of log_min_messages.
bool passes(LogLevel level, LogLevel threshold);

/// log_error_verbosity.
enum class LogVerbosity : uint8_t { Terse, Default, Verbose };

} // namespace ouzel
