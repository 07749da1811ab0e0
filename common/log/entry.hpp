#pragma once
#include <cstdint>
#include <source_location>
#include <string_view>

#include "common/log/level.hpp"
#include "common/log/session.hpp"

namespace ouzel {

/// One message for the log. The views are valid during the call that takes it.
struct LogRecord {
   LogLevel level = LogLevel::Log;
   std::string_view message;
   std::string_view state = {}; ///< SQLSTATE; empty: that of the level
   std::string_view detail = {}, hint = {}, context = {};
   uint32_t position = 0;       ///< of an error in the statement's text, in characters from 1; 0: unknown
   bool hidesStatement = false; ///< the message has the statement itself
   std::source_location where = std::source_location::current();
   bool hidesPlace = false;             ///< `where` says nothing: the error was found elsewhere
   std::string_view internalQuery = {}; ///< the text of a function's query that the error is in
   uint32_t internalPosition = 0;       ///< in that text, as `position`
};

/// A record and the circumstances in which it is written.
struct LogEntry {
   const LogRecord& record;
   const LogSession* session; ///< null: it is not of a session
   std::string_view backendType;
   std::string_view statement; ///< empty: it is not shown
   int64_t micros;             ///< since 2000-01-01 UTC
   int64_t processStart;       ///< of the server
   int32_t processId;          ///< of the session or the server
   uint64_t& lines;            ///< the session's or the process's count of lines; each prefix counts one
   uint64_t queryId;           ///< 0: none
   LogVerbosity verbosity;
};

} // namespace ouzel
