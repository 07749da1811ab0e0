#include "common/log/log.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <unistd.h>
#include <utility>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/files.hpp"
#include "common/log/formats.hpp"
#include "common/log/secrets.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel {

namespace {

constexpr size_t queuedMax = 4 << 20; ///< bytes; then threads that log wait for the writer, a second at most
constexpr auto patience = std::chrono::seconds(10); ///< with a reader of stderr that does not read

/// The process's log: see the top of log.hpp.
class Log {
public:
   static Log& instance() {
      static Log* const log = new Log(); // never destroyed: threads log until the process ends
      return *log;
   }

   void add(const LogRecord& record) EXCLUDES(mutex_);
   void configure(const LogSettings& settings) EXCLUDES(mutex_);
   bool reopen() EXCLUDES(mutex_);
   void flush() EXCLUDES(mutex_);
   std::string path(LogFormat format) EXCLUDES(mutex_);

   // Copies of the settings that are asked without the mutex.
   std::atomic<LogLevel> minMessages{LogLevel::Warning};
   std::atomic<bool> checkpoints{true}, connections{false};
   std::atomic<bool> isConfigured{false};

private:
   Log() : processStart_(wallClockMicros()) {}
   void format(const LogRecord& record, LogSession* session, std::string_view statement, uint64_t queryId)
       REQUIRES(mutex_);
   /// Lines that tell how many were dropped, before the next ones.
   void reportDropped(std::string (&lines)[logFormats]) REQUIRES(mutex_);
   /// Become the writer, and write until the queue is empty.
   void writeQueue() REQUIRES(mutex_);
   /// Become the only user of files_, until release().
   void claim(UniqueLock& lock) REQUIRES(mutex_);
   void release() REQUIRES(mutex_);

   const int64_t processStart_;
   Mutex mutex_;
   CondVar written_;
   LogSettings settings_ GUARDED_BY(mutex_);
   std::string queue_[logFormats] GUARDED_BY(mutex_);
   size_t queued_ GUARDED_BY(mutex_) = 0; ///< bytes in queue_
   uint64_t lines_ GUARDED_BY(mutex_) = 0;
   uint64_t dropped_ GUARDED_BY(mutex_) = 0;   ///< lines that found no reader in time, since the last report of them
   bool isWriting_ GUARDED_BY(mutex_) = false; ///< a thread uses files_
   LogFiles files_;                            ///< used by the thread that has set isWriting_
};

void Log::format(const LogRecord& record, LogSession* session, std::string_view statement, uint64_t queryId) {
   LogEntry entry{record,
                  session,
                  session ? session->backendType : std::string_view(LogRole::current()),
                  statement,
                  wallClockMicros(),
                  processStart_,
                  session ? session->processId : static_cast<int32_t>(getpid()),
                  session ? session->lines : lines_,
                  queryId,
                  session ? session->verbosity : settings_.verbosity};
   constexpr void (*forms[logFormats])(std::string&, const LogEntry&,
                                       const LogSettings&) = {appendTextLines, appendCsvLine, appendJsonLine};
   for (size_t i = 0; i < logFormats; ++i) {
      if (!settings_.writes[i]) continue;
      const size_t before = queue_[i].size();
      forms[i](queue_[i], entry, settings_);
      queued_ += queue_[i].size() - before;
   }
}

void Log::reportDropped(std::string (&lines)[logFormats]) {
   const std::string message =
       std::to_string(std::exchange(dropped_, 0)) + " lines of the log were dropped because nobody read them in time";
   format({.level = LogLevel::Warning, .message = message, .hidesPlace = true}, nullptr, "", 0);
   for (size_t i = 0; i < logFormats; ++i)
      lines[i].insert(0, std::exchange(queue_[i], std::string()));
}

void Log::claim(UniqueLock& lock) {
   written_.wait(lock, [&]() REQUIRES(mutex_) { return !isWriting_; });
   isWriting_ = true;
}

void Log::release() {
   isWriting_ = false;
   written_.notify_all();
   if (queued_ > 0) writeQueue();
}

void Log::writeQueue() {
   if (isWriting_) return; // the writer looks at the queue again before it ends
   isWriting_ = true;
   while (queued_ > 0) {
      std::string lines[logFormats];
      for (size_t i = 0; i < logFormats; ++i)
         lines[i].swap(queue_[i]);
      if (dropped_ > 0 && !files_.isStalled()) reportDropped(lines);
      queued_ = 0;
      uint64_t dropped = 0;
      {
         const MutexUnlock writing(mutex_);
         const int64_t now = wallClockMicros();
         for (size_t i = 0; i < logFormats; ++i)
            if (!lines[i].empty()) dropped += files_.write(static_cast<LogFormat>(i), lines[i], now);
      }
      dropped_ += dropped;
      written_.notify_all();
   }
   isWriting_ = false;
   written_.notify_all();
}

void Log::add(const LogRecord& record) {
   const LogSession* session = LogScope::current();
   MaskedStatement masked;
   std::string_view statement;
   LogRecord shown = record;
   std::string message, detail, context, internalQuery;
   const auto hide = [&](const MaskedStatement& secrets) {
      shown.message = message = secrets.hideIn(shown.message);
      shown.detail = detail = secrets.hideIn(shown.detail);
      shown.context = context = secrets.hideIn(shown.context);
   };
   if (!record.internalQuery.empty()) {
      MaskedStatement query = maskSecrets(record.internalQuery);
      if (query.isMasked()) {
         hide(query);
         shown.internalQuery = internalQuery = std::move(query.text);
      }
   }
   uint64_t queryId = 0;
   if (session && !session->statement.empty()) {
      if (session->fingerprint) queryId = session->fingerprint(session->statement);
      masked = maskSecrets(session->statement);
      if (masked.isMasked()) {
         hide(masked);
         shown.internalQuery = internalQuery = masked.hideIn(shown.internalQuery);
      }
      if (!record.hidesStatement && passes(record.level, session->minErrorStatement))
         statement = masked.isMasked() ? std::string_view(masked.text) : session->statement;
   }
   UniqueLock lock(mutex_);
   if (!written_.wait_for(lock, std::chrono::milliseconds(logPatienceMs),
                          [&]() REQUIRES(mutex_) { return queued_ < queuedMax; })) {
      ++dropped_;
      return;
   }
   format(shown, LogScope::current(), statement, queryId);
   writeQueue();
}

void Log::configure(const LogSettings& settings) {
   UniqueLock lock(mutex_);
   claim(lock);
   lock.unlock();
   const std::string failed = files_.configure(settings, wallClockMicros());
   lock.lock();
   if (failed.empty()) {
      settings_ = settings;
      minMessages = settings.minMessages;
      isConfigured = true;
      checkpoints = settings.checkpoints;
      connections = settings.connections;
   }
   release();
   if (!failed.empty()) throw SqlError(sqlstate::ioError, failed);
}

bool Log::reopen() {
   UniqueLock lock(mutex_);
   if (!settings_.usesFiles) return false;
   claim(lock);
   lock.unlock();
   const std::string failed = files_.reopen(wallClockMicros());
   lock.lock();
   release();
   lock.unlock();
   if (!failed.empty()) logLine(LogLevel::Error, failed);
   return true;
}

void Log::flush() {
   UniqueLock lock(mutex_);
   written_.wait_for(lock, patience, [&]() REQUIRES(mutex_) { return !isWriting_ && queued_ == 0; });
}

std::string Log::path(LogFormat format) {
   UniqueLock lock(mutex_);
   claim(lock);
   std::string path = settings_.usesFiles ? files_.path(format) : "";
   release();
   return path;
}

} // namespace

bool isLogged(LogLevel level) {
   const Log& log = Log::instance();
   if (level == LogLevel::Log && !log.isConfigured.load(std::memory_order_relaxed)) return false;
   const LogSession* session = LogScope::current();
   return passes(level, session ? session->minMessages : log.minMessages.load(std::memory_order_relaxed));
}

void logRecord(const LogRecord& record) {
   if (isLogged(record.level)) Log::instance().add(record);
}

void logLine(LogLevel level, std::string_view message, std::source_location where) {
   logRecord({.level = level, .message = message, .where = where});
}

void logPanic(std::string_view message, std::string_view detail, std::string_view hint, std::source_location where) {
   Log::instance().add({.level = LogLevel::Panic, .message = message, .detail = detail, .hint = hint, .where = where});
   flushLog();
   std::abort();
}

void configureLog(const LogSettings& settings) {
   Log::instance().configure(settings);
}

bool reopenLog() {
   return Log::instance().reopen();
}

void flushLog() {
   Log::instance().flush();
}

std::string currentLogFile(LogFormat format) {
   return Log::instance().path(format);
}

bool logsCheckpoints() {
   return Log::instance().checkpoints.load(std::memory_order_relaxed);
}

bool logsConnections() {
   return Log::instance().connections.load(std::memory_order_relaxed);
}

} // namespace ouzel
