#include "protocol/error_response.hpp"

#include "protocol/message_writer.hpp"

namespace ouzel::protocol {

namespace {

/// Writes the fields of a message that are there.
class FieldWriter {
public:
   FieldWriter(std::string& out, char type, const ClientText& client) : message_(out, type), client_(client) {}
   void operator()(char code, std::string_view text) {
      if (text.empty()) return;
      message_.int8(static_cast<uint8_t>(code));
      client_.converts() ? message_.cstring(client_.toClientAnyway(text)) : message_.cstring(text);
   }
   void finish() { message_.int8(0).finish(); }

private:
   MessageWriter message_;
   const ClientText& client_;
};

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

void appendErrorResponse(std::string& out, const SqlError& error, ErrorSeverity severity, const ClientText& client) {
   const std::string_view severityName = severity == ErrorSeverity::Fatal ? "FATAL" : "ERROR";
   FieldWriter field(out, 'E', client);
   field('S', severityName);
   field('V', severityName);
   field('C', error.state().text());
   const std::string_view text = error.what();
   field('M', text.empty() ? std::string_view("missing error text") : text);
   field('D', error.detailText());
   field('H', error.hintText());
   if (error.position() != 0) field('P', std::to_string(error.position()));
   if (error.internalPosition() != 0) field('p', std::to_string(error.internalPosition()));
   field('q', error.internalQuery());
   field('W', error.contextText());
   field('s', error.schemaName());
   field('t', error.tableName());
   field('c', error.columnName());
   field('d', error.dataTypeName());
   field('n', error.constraintName());
   field('F', baseName(error.where().file_name()));
   field('L', std::to_string(error.where().line()));
   field('R', error.routineName());
   field.finish();
}

void appendNoticeResponse(std::string& out, const Notice& notice, const ClientText& client) {
   FieldWriter field(out, 'N', client);
   field('S', name(notice.severity));
   field('V', name(notice.severity));
   field('C', notice.state.text());
   field('M', notice.message);
   field('D', notice.detail);
   field('H', notice.hint);
   field('W', notice.context);
   field('s', notice.schemaName);
   field('t', notice.tableName);
   field('c', notice.columnName);
   field('d', notice.dataTypeName);
   field('n', notice.constraintName);
   field('F', baseName(notice.where.file_name()));
   field('L', std::to_string(notice.where.line()));
   field('R', *notice.routine ? std::string_view(notice.routine) : functionName(notice.where.function_name()));
   field.finish();
}

bool endsConnection(SqlState state) {
   return state == sqlstate::adminShutdown || state == sqlstate::crashShutdown || state == sqlstate::databaseDropped ||
          state == sqlstate::idleSessionTimeout;
}

} // namespace ouzel::protocol
