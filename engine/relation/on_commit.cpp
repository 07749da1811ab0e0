#include <algorithm>

#include "engine/constraint/foreign_keys.hpp"
#include "engine/definition/definition.hpp"
#include "engine/relation/relation.hpp"

// CREATE TEMPORARY TABLE ... ON COMMIT { DELETE ROWS | DROP }: what the end of a transaction does.

namespace ouzel::engine {

namespace {

std::vector<catalog::RelationPtr> tablesWith(SessionCore& core, char action) {
   std::vector<catalog::RelationPtr> tables;
   for (const catalog::Change& change : core.transaction.editor().temporaryChanges()) {
      if (change.after->kind != catalog::ObjectKind::Relation) continue;
      auto table = std::static_pointer_cast<const catalog::Relation>(change.after);
      if (table->onCommit == action) tables.push_back(std::move(table));
   }
   return tables;
}

/// A table that keeps its rows must not reference one that loses them.
void requireSameEnd(SessionCore& core, const std::vector<catalog::RelationPtr>& emptied) {
   for (const catalog::RelationPtr& parent : emptied)
      for (const auto& [childOid, constraint] : referencesTo(core, parent->oid)) {
         const auto isChild = [oid = childOid](const catalog::RelationPtr& table) { return table->oid == oid; };
         if (std::any_of(emptied.begin(), emptied.end(), isChild)) continue;
         const auto child = core.transaction.catalog().relation(childOid);
         throw SqlError(sqlstate::featureNotSupported, "unsupported ON COMMIT and foreign key combination")
             .detail("Table \"" + child->name + "\" references \"" + parent->name +
                     "\", but they do not have the same ON COMMIT setting.");
      }
}

void dropTables(SessionCore& core, const std::vector<catalog::RelationPtr>& tables) {
   std::vector<Oid> oids;
   for (const catalog::RelationPtr& table : tables) {
      core.transaction.lock(table->oid, LockMode::AccessExclusive);
      oids.push_back(table->oid);
   }
   const catalog::Dropped dropped = core.transaction.editor().dropRelations(oids, catalog::DropBehavior::Cascade);
   for (const catalog::Dropped::Item& item : dropped.items)
      if (item.relation && item.relation->storage != catalog::noStorage)
         core.database.storage->dropTable(core.transaction.storage(), item.relation->storage);
}

} // namespace

void endTemporaryRows(SessionCore& core) {
   if (const auto dropped = tablesWith(core, 'D'); !dropped.empty()) dropTables(core, dropped);
   const auto emptied = tablesWith(core, 'd');
   requireSameEnd(core, emptied);
   const storage::Snapshot newest = core.transaction.storage().snapshot();
   for (const catalog::RelationPtr& table : emptied) {
      if (table->storage == catalog::noStorage) continue; // its partitions say what becomes of their rows
      if (core.database.storage->find(table->storage)->estimatedRows(newest) == 0) continue;
      core.transaction.lock(table->oid, LockMode::AccessExclusive);
      emptyTable(core, table->oid);
   }
}

} // namespace ouzel::engine
