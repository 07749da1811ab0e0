#pragma once
#include <string>

#include "common/client/result_sink.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/client_text.hpp"

namespace ouzel::protocol {

enum class ErrorSeverity : uint8_t { Error, Fatal };

/// Append ErrorResponse with every field the error carries: S V C M D H P W s t c n.
/// A character that the client's encoding does not have becomes "?".
void appendErrorResponse(std::string& out, const SqlError& error, ErrorSeverity severity, const ClientText& client);
/// Append NoticeResponse, in the same way.
void appendNoticeResponse(std::string& out, const Notice& notice, const ClientText& client);

/// True for errors that end the connection: administrator shutdown and others of class 57P, except 57P03 before
/// start-up.
bool endsConnection(SqlState state);

} // namespace ouzel::protocol
