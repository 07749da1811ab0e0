#include "catalog/editor/database_copy.hpp"
#include "catalog/editor/editor.hpp"
#include "catalog/object/comments.hpp"
#include "catalog/object/database_of.hpp"
#include "common/error/sql_error.hpp"

// Databases. A change of the catalog may concern any of them; all others concern the one that the editor sees.

namespace ouzel::catalog {

namespace {

void requireFreeName(const Snapshot& snapshot, const Database& database) {
   const DatabasePtr holder = snapshot.findDatabase(database.name);
   if (holder && holder->oid != database.oid)
      throw SqlError(sqlstate::duplicateDatabase, "database \"" + database.name + "\" already exists");
}

} // namespace

Oid CatalogEditor::createDatabase(Database draft, Oid source, const CompleteCopy& complete) {
   requireFreeName(working_, draft);
   while (draft.oid == invalidOid || working_.database(draft.oid))
      draft.oid = oids_(); // an earlier statement may have chosen an OID that now comes
   const Oid oid = draft.oid;
   // What is only this session's, temporary schemas and their relations, is not in the base.
   std::optional<DatabaseCopy> copy;
   if (source != invalidOid) copy.emplace(base_.inDatabase(source), oid, oids_);
   if (const DatabasePtr original = copy ? base_.database(source) : nullptr) {
      draft.eventTriggers = original->eventTriggers; // whose functions have the same OIDs in the copy
      draft.languages = original->languages;         // the same
      draft.publications = copy->copied(original->publications);
   }
   put(std::make_shared<const Database>(std::move(draft)));
   if (!copy) {
      for (const SchemaPtr& schema : initialSchemas(oid))
         put(schema);
      return oid;
   }
   for (ObjectPtr& object : copy->make(complete))
      put(std::move(object));
   return oid;
}

void CatalogEditor::dropDatabase(std::string_view name, bool missingOk, Dropped* dropped) {
   const DatabasePtr database = working_.findDatabase(name);
   if (!database) {
      if (missingOk) return;
      throw SqlError(sqlstate::undefinedDatabase, "database \"" + std::string(name) + "\" does not exist");
   }
   if (database->isTemplate) throw SqlError(sqlstate::wrongObjectType, "cannot drop a template database");
   if (database->oid == working_.database())
      throw SqlError(sqlstate::objectInUse, "cannot drop the currently open database");
   for (const ObjectPtr& object : working_.allObjects()) {
      if (databaseOf(*object) != database->oid) continue;
      if (dropped != nullptr && object->kind == ObjectKind::Relation)
         dropped->items.push_back({std::static_pointer_cast<const Relation>(object), std::string(), false, true});
      remove(keyOf(*object));
   }
   remove({ObjectKind::Comment, invalidOid, class_oid::pgDatabase, database->oid, 0});
   remove(keyOf(*database));
}

void CatalogEditor::replaceDatabase(Database changed) {
   requireFreeName(working_, changed);
   put(std::make_shared<const Database>(std::move(changed)));
}

} // namespace ouzel::catalog
