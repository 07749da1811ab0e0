#include "engine/constraint/deferred_constraints.hpp"

#include <algorithm>

#include "engine/constraint/foreign_keys.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::ListOf;
using sql::textOf;

namespace {

void run(SessionCore& core, const TransactionContext::DeferredCheck& check) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   const auto table = snapshot.relation(check.relation);
   const catalog::Constraint* constraint = snapshot.constraint(check.constraint).second;
   if (!table || !constraint) return; // dropped meanwhile
   if (constraint->kind == catalog::ConstraintKind::ForeignKey)
      checkDeferredForeignKey(core, table, *constraint, check.sinceCommand);
   else
      checkDeferredUniqueKey(core, table, *constraint, check.sinceCommand);
}

/// The constraint a name means: the first one along the search path.
std::vector<const catalog::Constraint*> findConstraints(CommandContext& context, const ::RangeVar& name) {
   SessionCore& core = context.core;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   std::vector<Oid> schemas;
   if (name.schemaname) {
      const auto schema = snapshot.findSchema(name.schemaname);
      if (!schema)
         throw SqlError(sqlstate::invalidSchemaName, "schema \"" + std::string(name.schemaname) + "\" does not exist");
      schemas.push_back(schema->oid);
   } else {
      schemas = core.searchPath().schemas;
   }
   std::vector<const catalog::Constraint*> found;
   for (const Oid schema : schemas) {
      for (const auto& relation : snapshot.relations())
         if (relation->schema == schema)
            if (const catalog::Constraint* constraint = relation->findConstraint(name.relname))
               found.push_back(constraint);
      if (!found.empty()) return found;
   }
   throw SqlError(sqlstate::undefinedObject, "constraint \"" + std::string(name.relname) + "\" does not exist");
}

} // namespace

void runDeferredChecks(SessionCore& core) {
   core.transaction.storage().nextCommand();
   auto& checks = core.transaction.deferredChecks();
   // What a check does may defer others.
   while (!checks.empty()) {
      const TransactionContext::DeferredCheck check = checks.back();
      checks.pop_back();
      run(core, check);
   }
}

std::string setConstraints(CommandContext& context, const ::ConstraintsSetStmt& statement) {
   TransactionContext& transaction = context.core.transaction;
   if (!transaction.inBlock())
      context.core.warn(sqlstate::noActiveSqlTransaction, "SET CONSTRAINTS can only be used in transaction blocks");
   std::vector<Oid> chosen;
   for (const ::RangeVar* name : ListOf<::RangeVar>(statement.constraints))
      for (const catalog::Constraint* constraint : findConstraints(context, *name)) {
         if (!constraint->isDeferrable)
            throw SqlError(sqlstate::wrongObjectType, "constraint \"" + constraint->name + "\" is not deferrable");
         chosen.push_back(constraint->oid);
      }
   const bool isAll = chosen.empty();
   if (isAll) transaction.setDeferred(invalidOid, statement.deferred);
   for (const Oid constraint : chosen)
      transaction.setDeferred(constraint, statement.deferred);
   if (statement.deferred) return "SET CONSTRAINTS";
   transaction.storage().nextCommand();
   auto& checks = transaction.deferredChecks();
   std::vector<TransactionContext::DeferredCheck> due;
   std::erase_if(checks, [&](const auto& check) {
      if (!isAll && std::find(chosen.begin(), chosen.end(), check.constraint) == chosen.end()) return false;
      due.push_back(check);
      return true;
   });
   for (size_t i = 0; i < due.size(); ++i)
      try {
         run(context.core, due[i]);
      } catch (...) {
         checks.insert(checks.end(), due.begin() + static_cast<ptrdiff_t>(i), due.end());
         throw;
      }
   return "SET CONSTRAINTS";
}

} // namespace ouzel::engine
