#include "common/log/crash_report.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "common/env/clock.hpp"
#include "common/log/files.hpp"
#include "common/log/secrets.hpp"
#include "common/log/session.hpp"

namespace ouzel {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool isSanitized = true;
#else
constexpr bool isSanitized = false;
#endif

constexpr size_t stackBytes = 64 << 10;
constexpr size_t statementBytesMax = 1024;

/// Text in a fixed buffer: a signal handler may not allocate.
class Line {
public:
   Line& text(std::string_view part) {
      const size_t count = std::min(part.size(), sizeof bytes_ - size_);
      std::memcpy(bytes_ + size_, part.data(), count);
      size_ += count;
      return *this;
   }
   Line& number(int64_t value, int digits = 1) {
      char reversed[20];
      int count = 0;
      for (; value > 0 || count < digits; value /= 10)
         reversed[count++] = static_cast<char>('0' + value % 10);
      while (count > 0)
         text({&reversed[--count], 1});
      return *this;
   }
   /// The present time in UTC, as the log's lines begin.
   Line& prefix(int32_t processId) {
      const int64_t micros = wallClockMicros() + 946'684'800'000'000;
      const int64_t days = micros / 86'400'000'000, ofDay = micros / 1000 % 86'400'000;
      // The civil date of a day since 1970, Howard Hinnant's days_from_civil turned round.
      const int64_t shifted = days + 719'468, era = shifted / 146'097, dayOfEra = shifted % 146'097;
      const int64_t yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36'524 - dayOfEra / 146'096) / 365;
      const int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
      const int64_t month = (5 * dayOfYear + 2) / 153;
      const int64_t day = dayOfYear - (153 * month + 2) / 5 + 1;
      const int64_t year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0);
      number(year, 4).text("-").number(month < 10 ? month + 3 : month - 9, 2).text("-").number(day, 2).text(" ");
      number(ofDay / 3'600'000, 2).text(":").number(ofDay / 60'000 % 60, 2).text(":").number(ofDay / 1000 % 60, 2);
      return text(".").number(ofDay % 1000, 3).text(" UTC [").number(processId).text("] ");
   }
   void write() {
      text("\n");
      static_cast<void>(writeFully(STDERR_FILENO, {bytes_, size_}));
      size_ = 0;
   }

private:
   char bytes_[statementBytesMax + 512];
   size_t size_ = 0;
};

std::string_view nameOf(int signal) {
   switch (signal) {
   case SIGSEGV: return "Segmentation fault";
   case SIGBUS: return "Bus error";
   case SIGILL: return "Illegal instruction";
   case SIGFPE: return "Floating point exception";
   default: return "Aborted";
   }
}

void report(int signal) {
   const LogSession* session = LogScope::current();
   const int32_t processId = session ? session->processId : static_cast<int32_t>(getpid());
   Line line;
   line.prefix(processId).text("PANIC:  the server process was terminated by signal ").number(signal).text(": ");
   line.text(nameOf(signal)).write();
   if (session && !session->statement.empty()) {
      const bool isShown = !mayHoldSecret(session->statement);
      line.prefix(processId).text("DETAIL:  The thread was running: ");
      // Line breaks would begin lines without a prefix.
      for (const char c : session->statement.substr(0, isShown ? statementBytesMax : 0))
         line.text(c == '\n' || c == '\r' ? " " : std::string_view(&c, 1));
      line.text(isShown ? "" : "(a statement that may hold a password)").write();
   }
   line.prefix(processId).text("LOG:  the thread's calls, the last one first:").write();
   void* calls[64];
   backtrace_symbols_fd(calls, backtrace(calls, 64), STDERR_FILENO);
}

void handle(int signal) {
   static volatile std::sig_atomic_t isReporting = 0;
   if (!isReporting) { // a crash within the report ends it
      isReporting = 1;
      report(signal);
   }
   std::signal(signal, SIG_DFL);
   raise(signal); // delivered when the handler returns, with the default action: a core dump
}

} // namespace

void installCrashReport() {
   if (isSanitized) return;
   void* call[1];
   static_cast<void>(backtrace(call, 1)); // loads what it needs now, since a handler must not allocate
   prepareThreadForCrash();
   struct sigaction action {};
   action.sa_handler = handle;
   action.sa_flags = SA_ONSTACK;
   sigemptyset(&action.sa_mask);
   for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
      sigaction(signal, &action, nullptr);
}

void prepareThreadForCrash() {
   if (isSanitized) return;
   struct Stack {
      const std::unique_ptr<char[]> memory{new char[stackBytes]};
      Stack() { use(memory.get(), 0); }
      ~Stack() { use(nullptr, SS_DISABLE); }
      static void use(char* begin, int flags) {
         stack_t stack{};
         stack.ss_sp = begin;
         stack.ss_flags = flags;
         stack.ss_size = stackBytes;
         sigaltstack(&stack, nullptr);
      }
   };
   thread_local const Stack stack;
   static_cast<void>(stack);
}

} // namespace ouzel
