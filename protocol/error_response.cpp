#include "protocol/error_response.hpp"

#include "protocol/message_writer.hpp"

namespace ouzel::protocol {

namespace {

void field(MessageWriter& message, char code, std::string_view text) {
   if (!text.empty()) message.int8(static_cast<uint8_t>(code)).cstring(text);
}

std::string_view name(Notice::Severity severity) {
   switch (severity) {
   case Notice::Severity::Debug: return "DEBUG";
   case Notice::Severity::Log: return "LOG";
   case Notice::Severity::Info: return "INFO";
   case Notice::Severity::Notice: return "NOTICE";
   case Notice::Severity::Warning: return "WARNING";
   }
   return "NOTICE";
}

} // namespace

void appendErrorResponse(std::string& out, const SqlError& error, ErrorSeverity severity) {
   const std::string_view severityName = severity == ErrorSeverity::Fatal ? "FATAL" : "ERROR";
   MessageWriter message(out, 'E');
   field(message, 'S', severityName);
   field(message, 'V', severityName);
   field(message, 'C', error.state().text());
   const std::string_view text = error.what();
   field(message, 'M', text.empty() ? std::string_view("missing error text") : text);
   field(message, 'D', error.detailText());
   field(message, 'H', error.hintText());
   if (error.position() != 0) field(message, 'P', std::to_string(error.position()));
   if (error.internalPosition() != 0) field(message, 'p', std::to_string(error.internalPosition()));
   field(message, 'q', error.internalQuery());
   field(message, 'W', error.contextText());
   field(message, 's', error.schemaName());
   field(message, 't', error.tableName());
   field(message, 'c', error.columnName());
   field(message, 'd', error.dataTypeName());
   field(message, 'n', error.constraintName());
   field(message, 'F', baseName(error.where().file_name()));
   field(message, 'L', std::to_string(error.where().line()));
   field(message, 'R', error.routineName());
   message.int8(0).finish();
}

void appendNoticeResponse(std::string& out, const Notice& notice) {
   MessageWriter message(out, 'N');
   field(message, 'S', name(notice.severity));
   field(message, 'V', name(notice.severity));
   field(message, 'C', notice.state.text());
   field(message, 'M', notice.message);
   field(message, 'D', notice.detail);
   field(message, 'H', notice.hint);
   field(message, 'W', notice.context);
   field(message, 's', notice.schemaName);
   field(message, 't', notice.tableName);
   field(message, 'c', notice.columnName);
   field(message, 'd', notice.dataTypeName);
   field(message, 'n', notice.constraintName);
   message.int8(0).finish();
}

bool endsConnection(SqlState state) {
   return state == sqlstate::adminShutdown || state == sqlstate::crashShutdown || state == sqlstate::databaseDropped ||
          state == sqlstate::idleSessionTimeout;
}

} // namespace ouzel::protocol
