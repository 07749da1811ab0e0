#include "common/audit/audit.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

#include "common/audit/files.hpp"
#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "common/log/time_text.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel {

namespace {

constexpr size_t queuedMax = 4 << 20; ///< bytes; then threads wait for the writer, and drop their records at last
constexpr auto patience = std::chrono::seconds(1);
constexpr int64_t warningPauseMicros = 60'000'000; ///< between two warnings that records are lost

int64_t countLines(std::string_view lines) {
   return std::count(lines.begin(), lines.end(), '\n');
}

/// "2026-03-01T12:34:56.789012Z": UTC whatever the time zone of the log is, for no hour comes twice in it.
std::string timestamp(int64_t micros) {
   const int64_t second = 1'000'000;
   const int64_t fraction = (micros % second + second) % second;
   return timeText(LogZone(), micros, std::string("%Y-%m-%dT%H:%M:%S")) + fmt::format(".{:06}Z", fraction);
}

/// See the top of audit.hpp.
class Audit {
public:
   static Audit& instance() {
      static Audit* const audit = new Audit(); // never destroyed: threads may record until the process ends
      return *audit;
   }

   /// Queue a record and see to its being written. `waits`: return when it is known whether it was. False: it was not.
   bool add(const AuditRecord& record, bool waits) EXCLUDES(mutex_);
   /// Try again to write what could not be written. False: it still cannot.
   bool retry() EXCLUDES(mutex_);
   void configure(const AuditSettings& settings) EXCLUDES(mutex_);
   void flush() EXCLUDES(mutex_);
   std::string path() EXCLUDES(mutex_);

private:
   /// Become the writer, and write until the queue is empty or the file takes no more.
   void writeQueue() REQUIRES(mutex_);
   /// `lines` could not be written: keep them, or count them as lost.
   void keepOrDrop(std::string_view lines) REQUIRES(mutex_);
   /// What the log is to be told of lost records; empty: nothing.
   std::string news() REQUIRES(mutex_);

   Mutex mutex_;
   CondVar written_;
   AuditSettings settings_ GUARDED_BY(mutex_);
   std::string queue_ GUARDED_BY(mutex_);
   uint64_t number_ GUARDED_BY(mutex_) = 0;    ///< of the last record
   uint64_t settled_ GUARDED_BY(mutex_) = 0;   ///< of the last record that was written or lost
   std::string failure_ GUARDED_BY(mutex_);    ///< why the file takes no records; empty: it does
   int64_t lost_ GUARDED_BY(mutex_) = 0;       ///< records since the last warning
   int64_t warnedAt_ GUARDED_BY(mutex_) = 0;   ///< 0: not since the file took records
   bool isWriting_ GUARDED_BY(mutex_) = false; ///< a thread uses files_
   AuditFiles files_;                          ///< used by the thread that has set isWriting_
};

std::string Audit::news() {
   const int64_t now = wallClockMicros();
   std::string message;
   if (failure_.empty()) {
      if (lost_ > 0) message = fmt::format("{} records of the audit are lost; it is written again", lost_);
      warnedAt_ = lost_ = 0;
   } else if (warnedAt_ == 0 || now - warnedAt_ >= warningPauseMicros) {
      message = fmt::format("{}; ", failure_) + (settings_.isRequired ? "statements fail until the audit can be written"
                                                                      : "records of the audit are lost");
      if (lost_ > 0) message += fmt::format(", {} so far", lost_);
      warnedAt_ = now;
   }
   return message;
}

void Audit::keepOrDrop(std::string_view lines) {
   const auto first = parseAuditLine(lines.substr(0, lines.find('\n')));
   if (settings_.isRequired) {
      if (first) settled_ = first->number - 1;
      queue_.insert(0, lines);
      return;
   }
   lost_ += countLines(lines) + countLines(queue_);
   settled_ = number_;
   queue_.clear();
}

void Audit::writeQueue() {
   if (isWriting_) return; // the writer looks at the queue again before it ends
   isWriting_ = true;
   bool goesOn = true;
   while (goesOn && !queue_.empty()) {
      const std::string lines = std::exchange(queue_, std::string());
      const uint64_t upTo = number_;
      AuditFiles::Written written;
      {
         const MutexUnlock writing(mutex_);
         written = files_.write(lines, wallClockMicros());
      }
      failure_ = written.failure;
      goesOn = failure_.empty();
      if (goesOn)
         settled_ = upTo;
      else
         keepOrDrop(std::string_view(lines).substr(written.bytes));
      written_.notify_all();
   }
   isWriting_ = false;
   written_.notify_all();
   const std::string message = news();
   if (message.empty()) return;
   const MutexUnlock telling(mutex_);
   logRecord({.level = LogLevel::Warning, .message = message, .hidesStatement = true, .hidesPlace = true});
}

bool Audit::add(const AuditRecord& record, bool waits) {
   const std::string json = auditJson(record);
   UniqueLock lock(mutex_);
   if (!settings_.isOn) return true;
   const auto hasRoom = [&]() REQUIRES(mutex_) { return queue_.size() < queuedMax; };
   const bool isKept = hasRoom() || (failure_.empty() && written_.wait_for(lock, patience, hasRoom));
   const uint64_t number = ++number_;
   if (!isKept) {
      ++lost_;
      return false;
   }
   queue_ += fmt::format("{{\"number\":{},\"time\":\"{}\",{}}}\n", number, timestamp(wallClockMicros()), json);
   writeQueue();
   if (!waits) return true;
   written_.wait(lock, [&]() REQUIRES(mutex_) { return settled_ >= number || (!isWriting_ && !failure_.empty()); });
   return settled_ >= number;
}

bool Audit::retry() {
   UniqueLock lock(mutex_);
   if (failure_.empty()) return true;
   writeQueue();
   written_.wait(lock, [&]() REQUIRES(mutex_) { return !isWriting_; });
   return failure_.empty() || queue_.empty();
}

void Audit::configure(const AuditSettings& settings) {
   UniqueLock lock(mutex_);
   written_.wait(lock, [&]() REQUIRES(mutex_) { return !isWriting_; });
   isWriting_ = true;
   lock.unlock();
   const std::string failed = files_.configure(settings, wallClockMicros());
   lock.lock();
   isWriting_ = false;
   if (failed.empty()) {
      settings_ = settings;
      number_ = std::max(number_, files_.lastNumber());
      audit_detail::isRequired = settings.isOn && settings.isRequired;
      audit_detail::isOn = settings.isOn;
      if (settings.isOn)
         writeQueue();
      else
         queue_.clear();
   }
   written_.notify_all();
   lock.unlock();
   if (!failed.empty()) throw SqlError(sqlstate::ioError, failed);
}

void Audit::flush() {
   UniqueLock lock(mutex_);
   if (!settings_.isOn) return;
   writeQueue();
   written_.wait_for(lock, patience, [&]() REQUIRES(mutex_) { return !isWriting_; });
   lost_ += countLines(queue_);
   if (lost_ == 0) return;
   const std::string message = fmt::format("{} records of the audit are lost", lost_);
   lock.unlock();
   logLine(LogLevel::Warning, message);
}

std::string Audit::path() {
   UniqueLock lock(mutex_);
   written_.wait(lock, [&]() REQUIRES(mutex_) { return !isWriting_; });
   return files_.path();
}

bool isRequired() {
   return audit_detail::isRequired.load(std::memory_order_relaxed);
}

[[noreturn]] void throwUnwritten() {
   throw SqlError(sqlstate::ioError, "could not write the audit record of a statement")
       .detail("ouzel.audit_required is on, and the audit's file cannot be written.")
       .hint("The server's log has the reason.");
}

/// A record of the audit itself.
void auditServer(std::string_view command, const std::string& detail) {
   Audit::instance().add({.reason = "session", .className = "server", .command = command, .detail = detail}, false);
}

} // namespace

void audit(const AuditRecord& record) {
   if (isAuditOn()) Audit::instance().add(record, false);
}

void auditOrFail(const AuditRecord& record) {
   if (isAuditOn() && !Audit::instance().add(record, isRequired()) && isRequired()) throwUnwritten();
}

void requireAudit() {
   if (isRequired() && !Audit::instance().retry()) throwUnwritten();
}

void configureAudit(const AuditSettings& settings) {
   const bool wasOn = isAuditOn();
   if (wasOn && !settings.isOn) auditServer("AUDIT STOP", "");
   Audit::instance().configure(settings);
   if (!settings.isOn) return;
   const auto word = [](bool isOn) { return isOn ? "on" : "off"; };
   auditServer(wasOn ? "AUDIT RELOAD" : "AUDIT START", fmt::format("ouzel.audit_chain = {}, ouzel.audit_required = {}",
                                                                   word(settings.chains), word(settings.isRequired)));
}

void closeAudit() {
   if (!isAuditOn()) return;
   auditServer("AUDIT STOP", "");
   Audit::instance().flush();
}

std::string currentAuditFile() {
   return Audit::instance().path();
}

} // namespace ouzel
