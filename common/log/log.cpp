#include "common/log/log.hpp"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "common/env/clock.hpp"

namespace ouzel {

namespace {

std::atomic<LogLevel> threshold{LogLevel::Log};

std::string_view name(LogLevel level) {
   switch (level) {
   case LogLevel::Debug: return "DEBUG";
   case LogLevel::Log: return "LOG";
   case LogLevel::Warning: return "WARNING";
   case LogLevel::Error: return "ERROR";
   case LogLevel::Fatal: return "FATAL";
   }
   return "LOG";
}

std::string timestamp() {
   using namespace std::chrono;
   constexpr sys_days epoch = 2000y / January / 1;
   const sys_time<microseconds> now = epoch + microseconds(wallClockMicros());
   const auto day = floor<days>(now);
   const year_month_day date(day);
   const hh_mm_ss time(floor<milliseconds>(now - day));
   return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                      time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

} // namespace

void setLogLevel(LogLevel level) {
   threshold = level;
}

void logLine(LogLevel level, std::string_view message) {
   if (level < threshold.load(std::memory_order_relaxed)) return;
   std::string line = fmt::format("{} [{}] {}:  {}", timestamp(), getpid(), name(level), message);
   for (char& c : line)
      if (c == '\n' || c == '\r') c = ' ';
   line += '\n';
   // One write, so that lines of several threads do not mix.
   [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

} // namespace ouzel
