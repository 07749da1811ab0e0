#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/parse/parser.hpp"

namespace ouzel::engine {

/// What log_statement calls a statement.
enum class StatementClass : uint8_t {
   Other,      ///< "all" logs it
   Modifies,   ///< "mod" too
   Definition, ///< "ddl" too
};

/// A statement's class. That of EXECUTE is the prepared statement's, which the caller knows: Other.
StatementClass classOf(const ::Node* statement);
/// What the audit has to know of a statement before it runs.
struct AuditTraits {
   uint32_t classes = 0;      ///< audit_class: one of them. That of EXECUTE is the prepared statement's: misc
   bool isControl = false;    ///< BEGIN, COMMIT and their like
   bool changesAudit = false; ///< ALTER ROLE or DATABASE ... SET of a setting of the audit
};
AuditTraits auditTraits(const ::Node* statement);
/// The name of the statement's kind, for the log: "SELECT", "CREATE TABLE". Static.
std::string_view commandTag(const ::Node* statement);

} // namespace ouzel::engine
