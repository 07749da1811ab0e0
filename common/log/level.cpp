#include "common/log/level.hpp"

#include <utility>

namespace ouzel {

namespace {
constexpr std::pair<std::string_view, LogLevel> settingNames[] = {
    {"debug5", LogLevel::Debug5}, {"debug4", LogLevel::Debug4},   {"debug3", LogLevel::Debug3},
    {"debug2", LogLevel::Debug2}, {"debug1", LogLevel::Debug1},   {"info", LogLevel::Info},
    {"notice", LogLevel::Notice}, {"warning", LogLevel::Warning}, {"error", LogLevel::Error},
    {"log", LogLevel::Log},       {"fatal", LogLevel::Fatal},     {"panic", LogLevel::Panic}};
} // namespace

std::string_view levelName(LogLevel level) {
   switch (level) {
   case LogLevel::Debug5:
   case LogLevel::Debug4:
   case LogLevel::Debug3:
   case LogLevel::Debug2:
   case LogLevel::Debug1: return "DEBUG";
   case LogLevel::Log: return "LOG";
   case LogLevel::Info: return "INFO";
   case LogLevel::Notice: return "NOTICE";
   case LogLevel::Warning: return "WARNING";
   case LogLevel::Error: return "ERROR";
   case LogLevel::Fatal: return "FATAL";
   case LogLevel::Panic: return "PANIC";
   }
   return "LOG";
}

LogLevel levelNamed(std::string_view name) {
   for (const auto& [known, level] : settingNames)
      if (known == name) return level;
   return LogLevel::Warning;
}

bool passes(LogLevel level, LogLevel threshold) {
   if (level == LogLevel::Log) return threshold <= LogLevel::Error; // Log itself is below Error
   if (threshold == LogLevel::Log) return level >= LogLevel::Fatal;
   return level >= threshold;
}

} // namespace ouzel
