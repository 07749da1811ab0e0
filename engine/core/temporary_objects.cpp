#include "engine/core/temporary_objects.hpp"

#include <set>
#include <string>

#include "catalog/object/large_object.hpp"
#include "common/log/log.hpp"

namespace ouzel::engine {

namespace {

const catalog::Relation* relationOf(const catalog::ObjectPtr& object) {
   return object && object->kind == catalog::ObjectKind::Relation ? static_cast<const catalog::Relation*>(object.get())
                                                                  : nullptr;
}

void dropTables(storage::Database& storage, const std::vector<storage::StorageId>& tables) {
   if (tables.empty()) return;
   const auto transaction = storage.begin();
   for (const storage::StorageId table : tables)
      storage.dropTable(*transaction, table);
   storage::CommitRequest request;
   request.synchronous = false;
   storage.commit(*transaction, std::move(request));
}

} // namespace

void dropTemporaryObjects(Database::Internals& database, const std::vector<catalog::Change>& objects) noexcept {
   try {
      std::vector<storage::StorageId> tables;
      for (const catalog::Change& change : objects) {
         const catalog::Relation* relation = relationOf(change.after);
         if (!relation) continue;
         if (relation->storage != catalog::noStorage && database.storage->find(relation->storage))
            tables.push_back(relation->storage);
         if (relation->relationKind == catalog::RelationKind::Sequence) database.storage->forgetCounter(relation->oid);
      }
      dropTables(*database.storage, tables);
   } catch (const std::exception& error) {
      logLine(LogLevel::Warning, std::string("could not drop temporary tables: ") + error.what());
   }
}

void dropUnreferencedTables(Database::Internals& database) {
   std::set<storage::StorageId> referenced;
   for (const catalog::ObjectPtr& object : database.catalog->newest().allObjects())
      if (const catalog::Relation* relation = relationOf(object))
         referenced.insert(relation->storage);
      else if (object->kind == catalog::ObjectKind::LargeObjectPages)
         referenced.insert(static_cast<const catalog::LargeObjectPages&>(*object).storage);
   std::vector<storage::StorageId> unreferenced;
   for (const storage::StorageId table : database.storage->tables())
      if (!referenced.contains(table)) unreferenced.push_back(table);
   dropTables(*database.storage, unreferenced);
}

} // namespace ouzel::engine
