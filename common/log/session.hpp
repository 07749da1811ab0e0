#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/log/level.hpp"

namespace ouzel {

/// What the log tells about the client's session for which a line is written. Owned by the connection; the engine keeps
/// the parts that it knows up to date. Used by the thread that runs the session.
struct LogSession {
   // Of the connection.
   int32_t processId = 0;
   std::string host, port;     ///< of the client, numeric
   int64_t startMicros = 0;    ///< since 2000-01-01 UTC
   std::string user, database; ///< empty until the startup packet has told
   std::string_view backendType = "client backend";

   // Of the moment.
   std::string application;
   std::string_view command;   ///< "SELECT", "idle", "authentication"; static
   std::string_view statement; ///< the text that the client sent; valid while the session handles it, see `owner`
   std::shared_ptr<const void> owner;          ///< keeps `statement`, if that is needed
   const uint64_t* localTransaction = nullptr; ///< the number of the open transaction in its session, 0 for none
   const std::atomic<uint64_t>* transactionId = nullptr;          ///< of a transaction that has written, else 0
   uint64_t (*fingerprint)(std::string_view statement) = nullptr; ///< the query id; null: it is not computed
   uint64_t lines = 0;                                            ///< written so far

   // Settings.
   LogLevel minMessages = LogLevel::Warning, minErrorStatement = LogLevel::Error;
   LogVerbosity verbosity = LogVerbosity::Default;
   bool logsEnd = false; ///< log_disconnections
};

/// While it lives, the calling thread's lines are the session's.
class [[nodiscard]] LogScope {
public:
   explicit LogScope(LogSession& session);
   ~LogScope();
   LogScope(const LogScope&) = delete;
   LogScope& operator=(const LogScope&) = delete;

   /// The session of the calling thread; null: it runs none.
   static LogSession* current();

private:
   LogSession* const outer_;
};

/// While it lives, lines of the calling thread outside sessions are those of this part of the server ("checkpointer").
class [[nodiscard]] LogRole {
public:
   explicit LogRole(const char* name);
   ~LogRole();
   LogRole(const LogRole&) = delete;
   LogRole& operator=(const LogRole&) = delete;

   static const char* current(); ///< "postmaster" unless told otherwise, as PostgreSQL calls its first process

private:
   const char* const outer_;
};

} // namespace ouzel
