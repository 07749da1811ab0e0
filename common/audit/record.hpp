#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/log/session.hpp"

namespace ouzel {

/// A relation that a statement has used.
struct AuditObject {
   std::string name;                         ///< "schema.name", quoted where SQL needs it
   std::string_view kind;                    ///< "table"
   std::vector<std::string_view> privileges; ///< "SELECT"; "OWNER" for what only owners may do, "CREATE" for a new one
   std::string role;                         ///< in whose name, if not that of the current role: the owner of a view
};

/// What the audit tells of one statement, or of one step of a session. The views are valid during the call that takes
/// it. Texts that are empty are left out.
struct AuditRecord {
   std::string_view reason;    ///< why it is recorded: "class", "object", "refused", "setting", "commit", "session"
   std::string_view className; ///< "read", "connection"
   std::string_view command;   ///< "SELECT", "LOGIN"
   const LogSession* session = nullptr;          ///< null: it is the server's own
   std::string_view sessionUser = {}, role = {}; ///< who acts; empty: the user who has logged in
   const std::vector<AuditObject>* objects = nullptr;
   std::optional<uint64_t> rows = {};         ///< returned or changed
   std::string_view state = {}, message = {}; ///< SQLSTATE and text of the error; empty: it has succeeded
   std::optional<int64_t> durationMicros = {};
   std::string_view statement = {}; ///< without secrets; `prepared` and `parameters` too
   std::string_view prepared = {};  ///< the statement that EXECUTE runs
   std::string_view parameters = {};
   std::string_view detail = {}; ///< of the server's own records
};

/// The record's members as JSON, without braces and without time and number: `"pid":7,...`.
std::string auditJson(const AuditRecord& record);

} // namespace ouzel
