#include "common/log/line_prefix.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "common/log/time_text.hpp"

namespace ouzel {

namespace {

int64_t startOf(const LogEntry& entry) {
   return entry.session ? entry.session->startMicros : entry.processStart;
}

std::string_view orUnknown(std::string_view text) {
   return text.empty() ? "[unknown]" : text;
}

/// What a client has chosen, without the bytes that would end the line or move the terminal's cursor.
std::string fromClient(std::string_view text) {
   std::string clean(orUnknown(text));
   for (char& c : clean)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
   return clean;
}

/// The text of one escape. nullopt-like: an empty text for escapes that mean nothing here.
std::string escaped(char escape, const LogEntry& entry, const LogSettings& settings) {
   const LogSession* session = entry.session;
   switch (escape) {
   case 'a': return session ? fromClient(session->application) : "";
   case 'u': return session ? fromClient(session->user) : "";
   case 'd': return session ? fromClient(session->database) : "";
   case 'r':
      if (!session) return "";
      return session->port.empty() ? session->host : session->host + "(" + session->port + ")";
   case 'h': return session ? session->host : "";
   case 'b': return std::string(entry.backendType);
   case 'p': return std::to_string(entry.processId);
   case 'P': return ""; // workers of a query are threads: they have no process of their own, so there is no leader
   case 't': return timeText(settings.zone, entry.micros, false);
   case 'm': return timeText(settings.zone, entry.micros, true);
   case 'n': {
      const int64_t seconds = unixSeconds(entry.micros);
      return fmt::format("{}.{:03}", seconds, (entry.micros + 946'684'800'000'000 - seconds * 1'000'000) / 1000);
   }
   case 'Q': return std::to_string(entry.queryId);
   case 'i': return session ? std::string(session->command) : "";
   case 'e': return std::string(stateOf(entry.record));
   case 'c': return sessionId(entry);
   case 'l': return std::to_string(entry.lines);
   case 's': return timeText(settings.zone, startOf(entry), false);
   case 'v': return virtualTransaction(entry);
   case 'x': return std::to_string(transactionId(entry));
   default: return "";
   }
}

} // namespace

std::string_view stateOf(const LogRecord& record) {
   if (!record.state.empty()) return record.state;
   if (record.level >= LogLevel::Error) return "XX000";
   return record.level == LogLevel::Warning ? "01000" : "00000";
}

std::string sessionId(const LogEntry& entry) {
   return fmt::format("{:x}.{:x}", unixSeconds(startOf(entry)), entry.processId);
}

std::string virtualTransaction(const LogEntry& entry) {
   const LogSession* session = entry.session;
   return session ? fmt::format("{}/{}", session->processId, session->localTransaction ? *session->localTransaction : 0)
                  : "";
}

uint64_t transactionId(const LogEntry& entry) {
   const LogSession* session = entry.session;
   return session && session->transactionId ? session->transactionId->load(std::memory_order_relaxed) : 0;
}

void appendPrefix(std::string& out, const LogEntry& entry, const LogSettings& settings) {
   ++entry.lines;
   const std::string& prefix = settings.linePrefix;
   for (size_t i = 0; i < prefix.size(); ++i) {
      if (prefix[i] != '%') {
         out += prefix[i];
         continue;
      }
      if (++i == prefix.size()) break;
      // %10p and %-10p: at least so many characters, aligned to the right or left.
      size_t digits = i;
      const bool isLeft = prefix[digits] == '-';
      if (isLeft) ++digits;
      size_t width = 0;
      for (; digits < prefix.size() && prefix[digits] >= '0' && prefix[digits] <= '9'; ++digits)
         width = std::min<size_t>(width * 10 + static_cast<size_t>(prefix[digits] - '0'), 1000);
      if (digits == prefix.size()) break;
      i = digits;
      if (prefix[i] == '%') {
         out += '%';
      } else if (prefix[i] == 'q') {
         if (!entry.session) return;
      } else {
         const std::string text = escaped(prefix[i], entry, settings);
         out += isLeft ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
      }
   }
}

} // namespace ouzel
