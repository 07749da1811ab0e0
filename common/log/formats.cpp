#include "common/log/formats.hpp"

#include <cstdlib>
#include <fmt/format.h>

#include "common/error/source_place.hpp"
#include "common/log/json_object.hpp"
#include "common/log/line_prefix.hpp"
#include "common/log/time_text.hpp"

namespace ouzel {

namespace {

bool hasPlace(const LogEntry& entry) {
   return entry.verbosity == LogVerbosity::Verbose && !entry.record.hidesPlace;
}

std::string placeOf(const LogRecord& record) {
   return fmt::format("{}, {}:{}", functionName(record.where.function_name()), baseName(record.where.file_name()),
                      record.where.line());
}

void appendWithTabs(std::string& out, std::string_view text) {
   for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
      out.append(text.substr(0, end + 1)) += '\t';
   out.append(text);
}

void appendTextLine(std::string& out, const LogEntry& entry, const LogSettings& settings, std::string_view kind,
                    std::string_view text) {
   if (text.empty()) return;
   appendPrefix(out, entry, settings);
   out.append(kind).append(":  ");
   appendWithTabs(out, text);
   out += '\n';
}

/// Columns of a CSV line.
class CsvLine {
public:
   explicit CsvLine(std::string& out) : out_(out) {}

   CsvLine& quoted(std::string_view text) {
      separate();
      if (text.empty()) return *this;
      out_ += '"';
      for (const char c : text) {
         if (c == '"') out_ += '"';
         out_ += c;
      }
      out_ += '"';
      return *this;
   }
   CsvLine& plain(std::string_view text) {
      separate();
      out_.append(text);
      return *this;
   }

private:
   void separate() {
      if (!isFirst_) out_ += ',';
      isFirst_ = false;
   }
   std::string& out_;
   bool isFirst_ = true;
};

} // namespace

void appendTextLines(std::string& out, const LogEntry& entry, const LogSettings& settings) {
   const LogRecord& record = entry.record;
   std::string message;
   if (entry.verbosity == LogVerbosity::Verbose) message.append(stateOf(record)).append(": ");
   message.append(record.message.empty() ? "missing error text" : record.message);
   if (const uint32_t position = record.position ? record.position : record.internalPosition; position != 0)
      message += fmt::format(" at character {}", position);
   appendTextLine(out, entry, settings, levelName(record.level), message);
   if (entry.verbosity >= LogVerbosity::Default) {
      appendTextLine(out, entry, settings, "DETAIL", record.detail);
      appendTextLine(out, entry, settings, "HINT", record.hint);
      appendTextLine(out, entry, settings, "QUERY", record.internalQuery);
      appendTextLine(out, entry, settings, "CONTEXT", record.context);
      if (hasPlace(entry)) appendTextLine(out, entry, settings, "LOCATION", placeOf(record));
   }
   appendTextLine(out, entry, settings, "STATEMENT", entry.statement);
}

void appendCsvLine(std::string& out, const LogEntry& entry, const LogSettings& settings) {
   const LogRecord& record = entry.record;
   const LogSession* session = entry.session;
   const bool isTerse = entry.verbosity == LogVerbosity::Terse;
   const auto unlessTerse = [&](std::string_view text) { return isTerse ? std::string_view() : text; };
   const bool showsPosition = !entry.statement.empty() && record.position != 0;
   CsvLine line(out);
   line.plain(timeText(settings.zone, entry.micros, true));
   line.quoted(session ? std::string_view(session->user) : "")
       .quoted(session ? std::string_view(session->database) : "");
   line.plain(std::to_string(entry.processId));
   line.quoted(session ? session->host + (session->port.empty() ? "" : ":" + session->port) : "");
   line.plain(sessionId(entry)).plain(std::to_string(++entry.lines));
   line.quoted(session ? session->command : "");
   line.plain(timeText(settings.zone, session ? session->startMicros : entry.processStart, false));
   line.plain(virtualTransaction(entry)).plain(std::to_string(transactionId(entry)));
   line.plain(levelName(record.level)).plain(stateOf(record)).quoted(record.message);
   line.quoted(unlessTerse(record.detail)).quoted(unlessTerse(record.hint));
   line.quoted(record.internalQuery);
   line.plain(record.internalPosition != 0 ? std::to_string(record.internalPosition) : "");
   line.quoted(unlessTerse(record.context)).quoted(entry.statement);
   line.plain(showsPosition ? std::to_string(record.position) : "");
   line.quoted(hasPlace(entry) ? placeOf(record) : "");
   line.quoted(session ? std::string_view(session->application) : "").quoted(entry.backendType);
   line.plain("").plain(std::to_string(entry.queryId)); // no leader's process: workers are threads
   out += '\n';
}

void appendJsonLine(std::string& out, const LogEntry& entry, const LogSettings& settings) {
   const LogRecord& record = entry.record;
   const LogSession* session = entry.session;
   const bool isTerse = entry.verbosity == LogVerbosity::Terse;
   JsonObject object(out);
   object.text("timestamp", timeText(settings.zone, entry.micros, true));
   if (session) {
      object.text("user", session->user);
      object.text("dbname", session->database);
   }
   object.number("pid", static_cast<uint64_t>(entry.processId));
   if (session) {
      object.text("remote_host", session->host);
      if (!session->port.empty()) object.number("remote_port", std::strtoull(session->port.c_str(), nullptr, 10));
   }
   object.text("session_id", sessionId(entry));
   object.number("line_num", ++entry.lines);
   if (session) object.text("ps", session->command);
   object.text("session_start", timeText(settings.zone, session ? session->startMicros : entry.processStart, false));
   object.text("vxid", virtualTransaction(entry));
   object.number("txid", transactionId(entry));
   object.text("error_severity", levelName(record.level));
   if (const std::string_view state = stateOf(record); state != "00000") object.text("state_code", state);
   object.text("message", record.message);
   if (!isTerse) {
      object.text("detail", record.detail);
      object.text("hint", record.hint);
      object.text("internal_query", record.internalQuery);
      if (record.internalPosition != 0) object.number("internal_position", record.internalPosition);
      object.text("context", record.context);
   }
   object.text("statement", entry.statement);
   if (!entry.statement.empty() && record.position != 0) object.number("cursor_position", record.position);
   if (hasPlace(entry)) {
      object.text("func_name", functionName(record.where.function_name()));
      object.text("file_name", baseName(record.where.file_name()));
      object.number("file_line_num", record.where.line());
   }
   if (session) object.text("application_name", session->application);
   object.text("backend_type", entry.backendType);
   object.number("query_id", entry.queryId);
   object.finish();
   out += '\n';
}

} // namespace ouzel
