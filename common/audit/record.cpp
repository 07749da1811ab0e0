#include "common/audit/record.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

#include "common/log/json_object.hpp"
#include "common/log/time_text.hpp"

namespace ouzel {

namespace {

std::string objectsJson(const std::vector<AuditObject>& objects) {
   std::string out = "[";
   for (const AuditObject& object : objects) {
      if (out.size() > 1) out += ',';
      JsonObject json(out);
      json.text("name", object.name);
      json.text("kind", object.kind);
      std::string privileges = "[";
      for (const std::string_view privilege : object.privileges)
         privileges.append(privileges.size() > 1 ? "," : "").append(1, '"').append(privilege).append(1, '"');
      json.raw("privileges", privileges + "]");
      json.text("as", object.role);
      json.finish();
   }
   return out + "]";
}

void appendSession(JsonObject& json, const AuditRecord& record) {
   const LogSession& session = *record.session;
   json.number("pid", static_cast<uint64_t>(session.processId));
   json.text("session_id", fmt::format("{:x}.{:x}", unixSeconds(session.startMicros), session.processId));
   json.text("user", session.user);
   json.text("session_user", record.sessionUser.empty() ? session.user : record.sessionUser);
   json.text("role", record.role.empty() ? session.user : record.role);
   json.text("host", session.host);
   if (!session.port.empty()) json.number("port", std::strtoull(session.port.c_str(), nullptr, 10));
   json.text("database", session.database);
   json.text("application", session.application);
}

} // namespace

std::string auditJson(const AuditRecord& record) {
   std::string out;
   JsonObject json(out);
   if (record.session)
      appendSession(json, record);
   else
      json.number("pid", static_cast<uint64_t>(getpid()));
   json.text("reason", record.reason);
   json.text("class", record.className);
   json.text("command", record.command);
   if (record.objects && !record.objects->empty()) json.raw("objects", objectsJson(*record.objects));
   if (record.rows) json.number("rows", *record.rows);
   json.text("result", record.state.empty() ? "ok" : "error");
   json.text("state", record.state);
   json.text("message", record.message);
   if (record.durationMicros)
      json.raw("duration_ms", fmt::format("{}.{:03}", *record.durationMicros / 1000, *record.durationMicros % 1000));
   json.text("statement", record.statement);
   json.text("prepared", record.prepared);
   json.text("parameters", record.parameters);
   json.text("detail", record.detail);
   return out.substr(1); // begins with the brace, and finish() would end it
}

} // namespace ouzel
