#pragma once
#include <source_location>
#include <string>
#include <string_view>

#include "common/log/entry.hpp"
#include "common/log/session.hpp"
#include "common/log/settings.hpp"

// The server's log, for all rooms: background failures as well as what a session's statements do. A thread that runs a
// session (LogScope) writes lines of the session, with its settings and the statement at hand.
//
// Order: records are written in the order of their times. A thread that logs formats its record under a mutex and
// appends it to a queue; the first one to find no writer writes for all of them, without the mutex. Other threads do
// not wait for its writes unless the queue has grown large. Lines that nobody takes (stderr is a pipe whose reader has
// stopped) are dropped after a second and counted; a later line tells the count. All functions are thread-safe.

namespace ouzel {

/// Whether a record of this level would be written by the calling thread: ask before texts are made.
bool isLogged(LogLevel level);
/// Write a record if its level passes the threshold. Passwords in the session's statement, and in what the record
/// quotes of it, are not shown.
void logRecord(const LogRecord& record);
void logLine(LogLevel level, std::string_view message, std::source_location where = std::source_location::current());
/// Write a PANIC record, wait until it is written, and abort: the next start recovers.
[[noreturn]] void logPanic(std::string_view message, std::string_view detail, std::string_view hint,
                           std::source_location where = std::source_location::current());

/// Go over to these settings. Before the first call, as in programs that only use the engine, records of level Log are
/// dropped. Throws 58030 when files are wanted and cannot be opened; the log goes on as it was.
void configureLog(const LogSettings& settings);
/// Open the files anew, by the pattern of their names: for pg_rotate_logfile() and programs that rename files. Returns
/// false when there are no files.
bool reopenLog();
/// Wait until all records have been written, or ten seconds.
void flushLog();
/// The path of the file that records of this format go to; empty: there is none.
std::string currentLogFile(LogFormat format);
bool logsCheckpoints(); ///< log_checkpoints
bool logsConnections(); ///< log_connections

} // namespace ouzel
