#pragma once
#include "common/client/result_sink.hpp"
#include "common/log/level.hpp"

namespace ouzel {

/// The level of a notice in the log.
constexpr LogLevel levelOf(Notice::Severity severity) {
   switch (severity) {
   case Notice::Severity::Debug: return LogLevel::Debug1;
   case Notice::Severity::Log: return LogLevel::Log;
   case Notice::Severity::Info: return LogLevel::Info;
   case Notice::Severity::Notice: return LogLevel::Notice;
   case Notice::Severity::Warning: return LogLevel::Warning;
   }
   return LogLevel::Notice;
}

} // namespace ouzel
