#pragma once
#include <string>

#include "common/log/entry.hpp"
#include "common/log/settings.hpp"

namespace ouzel {

/// The SQLSTATE of the record, or that of its level.
std::string_view stateOf(const LogRecord& record);
/// "5f5e100.1a": when the session, or the server, began, and its process id, in hexadecimal.
std::string sessionId(const LogEntry& entry);
/// "3/25": session and number of its transaction; empty outside sessions.
std::string virtualTransaction(const LogEntry& entry);
/// Of a transaction that has written; else 0.
uint64_t transactionId(const LogEntry& entry);

/// Append log_line_prefix with its escapes filled in. Unknown escapes are left out.
void appendPrefix(std::string& out, const LogEntry& entry, const LogSettings& settings);

} // namespace ouzel
