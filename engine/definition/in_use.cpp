#include <algorithm>

#include "engine/core/session_services.hpp"
#include "engine/definition/definition.hpp"

namespace ouzel::engine {

namespace {

/// Whether a foreign key has rows of the table to check when the transaction ends.
bool hasDeferredChecks(SessionCore& core, const catalog::Relation& table) {
   const auto& checks = core.transaction.deferredChecks();
   return std::any_of(table.constraints.begin(), table.constraints.end(), [&](const catalog::Constraint& constraint) {
      return constraint.kind == catalog::ConstraintKind::ForeignKey &&
             std::any_of(checks.begin(), checks.end(), [&](const TransactionContext::DeferredCheck& check) {
                return check.constraint == constraint.oid;
             });
   });
}

} // namespace

void requireNotInUse(SessionCore& core, const catalog::Relation& table, std::string_view command) {
   const std::string subject = "cannot " + std::string(command) + " \"" + table.name + "\" because it ";
   if (core.services.isReading(table.oid))
      throw SqlError(sqlstate::objectInUse, subject + "is being used by active queries in this session");
   if (hasDeferredChecks(core, table)) throw SqlError(sqlstate::objectInUse, subject + "has pending trigger events");
}

} // namespace ouzel::engine
