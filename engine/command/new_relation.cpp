#include "engine/command/new_relation.hpp"

#include "common/sync/mutex.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::textOf;

NewRelation newRelation(CommandContext& context, const ::RangeVar& name) {
   SessionCore& core = context.core;
   NewRelation target;
   const bool temporary = name.relpersistence == 't' || textOf(name.schemaname) == "pg_temp";
   if (temporary && !core.temporaryBackend) {
      const MutexLock lock(core.database.activityMutex);
      core.temporaryBackend = core.database.nextTemporarySchema++;
   }
   const catalog::SearchPath path = core.searchPath();
   target.name = sql::qualifiedName(name, core.bindContext(path, &context.source()));
   target.isTemporary = temporary;
   target.schema = temporary ? core.transaction.editor().temporarySchema(core.temporaryBackend)
                             : catalog::creationSchema(core.transaction.catalog(), path, target.name);
   target.exists = core.transaction.catalog().findRelation(target.schema, target.name.name) != nullptr;
   return target;
}

bool skipsExisting(CommandContext& context, const NewRelation& target, bool ifNotExists) {
   if (!target.exists || !ifNotExists) return false;
   context.core.notice("relation \"" + target.name.name + "\" already exists, skipping", {}, sqlstate::duplicateTable);
   return true;
}

} // namespace ouzel::engine
