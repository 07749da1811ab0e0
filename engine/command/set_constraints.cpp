#include "engine/command/command.hpp"
#include "engine/constraint/deferred_constraints.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::ListOf;

namespace {

/// A constraint, or one of a constraint trigger.
struct Found {
   std::string name;
   Oid oid;
   bool isDeferrable;
};

/// The constraints of this name in the first schema of the search path that has one.
std::vector<Found> findConstraints(CommandContext& context, const ::RangeVar& name) {
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
   std::vector<Found> found;
   for (const Oid schema : schemas) {
      for (const auto& relation : snapshot.relations())
         if (relation->schema == schema) {
            if (const catalog::Constraint* constraint = relation->findConstraint(name.relname))
               found.push_back({constraint->name, constraint->oid, constraint->isDeferrable});
            if (const catalog::Trigger* trigger = relation->findTrigger(name.relname);
                trigger && trigger->isConstraint())
               found.push_back({trigger->name, trigger->constraint, trigger->isDeferrable});
         }
      if (!found.empty()) return found;
   }
   throw SqlError(sqlstate::undefinedObject, "constraint \"" + std::string(name.relname) + "\" does not exist");
}

} // namespace

std::string setConstraints(CommandContext& context, const ::ConstraintsSetStmt& statement) {
   TransactionContext& transaction = context.core.transaction;
   if (!transaction.inBlock())
      context.core.warn(sqlstate::noActiveSqlTransaction, "SET CONSTRAINTS can only be used in transaction blocks");
   std::vector<Oid> chosen;
   for (const ::RangeVar* name : ListOf<::RangeVar>(statement.constraints))
      for (const Found& constraint : findConstraints(context, *name)) {
         if (!constraint.isDeferrable)
            throw SqlError(sqlstate::wrongObjectType, "constraint \"" + constraint.name + "\" is not deferrable");
         chosen.push_back(constraint.oid);
      }
   if (chosen.empty()) transaction.setDeferred(invalidOid, statement.deferred);
   for (const Oid constraint : chosen)
      transaction.setDeferred(constraint, statement.deferred);
   if (statement.deferred || transaction.deferredChecks().empty()) return "SET CONSTRAINTS";
   transaction.startStatement();
   runDeferredChecks(context.core, chosen);
   return "SET CONSTRAINTS";
}

} // namespace ouzel::engine
