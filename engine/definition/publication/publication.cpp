#include "engine/definition/publication/publication.hpp"

#include <algorithm>
#include <functional>

#include "catalog/object/membership.hpp"
#include "catalog/object/published_tables.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/publication/publication_options.hpp"
#include "engine/definition/publication/published_objects.hpp"
#include "engine/role/actor.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

// The checks come in PostgreSQL's order.

namespace ouzel::engine {

using catalog::Publication;
using catalog::PublicationSchema;
using catalog::PublicationTable;
using sql::ListOf;
using sql::stringOf;

namespace {

/// Keeps others from changing publications until the transaction ends, and sees what they have changed before.
void lockPublications(SessionCore& core) {
   core.transaction.lockDatabase(core.transaction.catalog().database(), LockMode::ShareUpdateExclusive);
   core.transaction.startStatement();
}

/// Changes the list of publications. REQUIRES: it is locked.
void change(SessionCore& core, const std::function<void(std::vector<Publication>&)>& apply) {
   catalog::Database database = *core.transaction.catalog().database(core.transaction.catalog().database());
   apply(database.publications);
   core.transaction.editor().replaceDatabase(std::move(database));
}
void changeOne(SessionCore& core, Oid publication, const std::function<void(Publication&)>& apply) {
   change(core, [&](std::vector<Publication>& all) { apply(*std::ranges::find(all, publication, &Publication::oid)); });
}

[[noreturn]] void throwMissing(const std::string& name) {
   throw SqlError(sqlstate::undefinedObject, "publication \"" + name + "\" does not exist");
}

/// The publication of a name. Throws 42704, and 42501 unless the role may change it.
Publication require(SessionCore& core, const std::string& name) {
   const Publication* publication = catalog::findPublication(core.transaction.catalog(), name);
   if (!publication) throwMissing(name);
   requireRight(actsFor(core, publication->owner), "must be owner of publication " + name);
   return *publication;
}

void requireFreeName(SessionCore& core, const std::string& name) {
   if (catalog::findPublication(core.transaction.catalog(), name))
      throw SqlError(sqlstate::duplicateObject, "publication \"" + name + "\" already exists");
}

bool isSuperuser(SessionCore& core) {
   return actorOf(core).isSuperuser;
}

PublicationTable* entryOf(Publication& publication, Oid table) {
   const auto found = std::ranges::find(publication.tables, table, &PublicationTable::table);
   return found == publication.tables.end() ? nullptr : &*found;
}
PublicationSchema* schemaOf(Publication& publication, Oid schema) {
   const auto found = std::ranges::find(publication.schemas, schema, &PublicationSchema::schema);
   return found == publication.schemas.end() ? nullptr : &*found;
}

/// Adds the tables; those that it has stay as they are if `missingOnly`. Throws 42710 otherwise.
void addTables(SessionCore& core, Publication& publication, std::vector<PublicationTable> tables, bool missingOnly) {
   for (PublicationTable& table : tables) {
      if (entryOf(publication, table.table)) {
         if (missingOnly) continue;
         throw SqlError(sqlstate::duplicateObject,
                        "relation \"" + core.transaction.catalog().relation(table.table)->name +
                            "\" is already member of publication \"" + publication.name + "\"");
      }
      table.oid = core.transaction.editor().allocateOid();
      publication.tables.push_back(std::move(table));
   }
}

void addSchemas(SessionCore& core, Publication& publication, const std::vector<Oid>& schemas, bool missingOnly) {
   for (const Oid schema : schemas) {
      if (schemaOf(publication, schema)) {
         if (missingOnly) continue;
         throw SqlError(sqlstate::duplicateObject, "schema \"" + core.transaction.catalog().schema(schema)->name +
                                                       "\" is already member of publication \"" + publication.name +
                                                       "\"");
      }
      PublishedObjects::requirePublishable(core, schema);
      publication.schemas.push_back({core.transaction.editor().allocateOid(), schema});
   }
}

/// ADD, DROP and SET of one ALTER PUBLICATION.
class ObjectChange {
public:
   ObjectChange(CommandContext& context, const ::AlterPublicationStmt& statement, Publication& publication)
      : core_(context.core), statement_(statement), publication_(publication), objects_(context, statement.pubobjects) {
   }

   void run() {
      requireAllowed();
      if (statement_.action == AP_SetObjects || objects_.hasTables()) changeTables();
      if (statement_.action == AP_SetObjects || !objects_.schemas().empty()) changeSchemas();
   }

private:
   void requireAllowed() const {
      const bool hasSchemas = !objects_.schemas().empty();
      if (statement_.action != AP_DropObjects && hasSchemas && !isSuperuser(core_))
         throw SqlError(sqlstate::insufficientPrivilege, "must be superuser to add or set schemas");
      const char* why = hasSchemas ? "Schemas cannot be added to or dropped from FOR ALL TABLES publications."
                        : objects_.hasTables()
                            ? "Tables cannot be added to or dropped from FOR ALL TABLES publications."
                            : nullptr;
      if (publication_.hasAllTables && why)
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "publication \"" + publication_.name + "\" is defined as FOR ALL TABLES")
             .detail(why);
   }

   void changeTables() {
      const std::vector<NamedTable> named = objects_.openTables();
      if (statement_.action == AP_DropObjects) return dropTables(named);
      const bool keepsSchemas = statement_.action == AP_AddObjects && !publication_.schemas.empty();
      std::vector<PublicationTable> tables =
          objects_.read(named, publication_.name, keepsSchemas || !objects_.schemas().empty(), publication_.viaRoot);
      if (statement_.action == AP_AddObjects) return addTables(core_, publication_, std::move(tables), false);
      std::erase_if(publication_.tables, [&](const PublicationTable& old) {
         const auto now = std::ranges::find(tables, old.table, &PublicationTable::table);
         return now == tables.end() || now->columns != old.columns || now->filter != old.filter;
      });
      addTables(core_, publication_, std::move(tables), true);
   }

   void dropTables(const std::vector<NamedTable>& named) {
      for (const NamedTable& one : named) {
         if (one.columnList)
            throw SqlError(sqlstate::syntaxError, "column list must not be specified in ALTER PUBLICATION ... DROP");
         if (!entryOf(publication_, one.table->oid))
            throw SqlError(sqlstate::undefinedObject,
                           "relation \"" + one.table->name + "\" is not part of the publication");
         if (one.where)
            throw SqlError(sqlstate::syntaxError, "cannot use a WHERE clause when removing a table from a publication");
         std::erase_if(publication_.tables,
                       [&](const PublicationTable& entry) { return entry.table == one.table->oid; });
      }
   }

   void changeSchemas() {
      const std::vector<Oid>& schemas = objects_.schemas();
      switch (statement_.action) {
      case AP_AddObjects:
         if (std::ranges::any_of(publication_.tables,
                                 [](const PublicationTable& entry) { return !entry.columns.empty(); }))
            throw SqlError(sqlstate::invalidParameterValue,
                           "cannot add schema to publication \"" + publication_.name + "\"")
                .detail("Schemas cannot be added if any tables that specify a column list are already part of the "
                        "publication.");
         return addSchemas(core_, publication_, schemas, false);
      case AP_DropObjects:
         for (const Oid schema : schemas)
            if (std::erase_if(publication_.schemas,
                              [&](const PublicationSchema& entry) { return entry.schema == schema; }) == 0)
               throw SqlError(sqlstate::undefinedObject, "tables from schema \"" +
                                                             core_.transaction.catalog().schema(schema)->name +
                                                             "\" are not part of the publication");
         return;
      case AP_SetObjects:
         std::erase_if(publication_.schemas, [&](const PublicationSchema& entry) {
            return std::ranges::find(schemas, entry.schema) == schemas.end();
         });
         return addSchemas(core_, publication_, schemas, true);
      }
   }

   SessionCore& core_;
   const ::AlterPublicationStmt& statement_;
   Publication& publication_;
   const PublishedObjects objects_;
};

void warnOfWalLevel(SessionCore& core) {
   core.report({Notice::Severity::Warning,
                sqlstate::objectNotInPrerequisiteState,
                "wal_level is insufficient to publish logical changes",
                {},
                "Set wal_level to \"logical\" before creating subscriptions."});
}

void remove(SessionCore& core, Oid publication) {
   core.transaction.editor().setComment(catalog::class_oid::pgPublication, publication, 0, "");
   change(core, [&](std::vector<Publication>& all) {
      std::erase_if(all, [&](const Publication& one) { return one.oid == publication; });
   });
}

std::vector<Oid> ownedBy(SessionCore& core, Oid owner) {
   std::vector<Oid> owned;
   for (const Publication& publication : catalog::publicationsOf(core.transaction.catalog()))
      if (publication.owner == owner) owned.push_back(publication.oid);
   return owned;
}

} // namespace

std::string createPublication(CommandContext& context, const ::CreatePublicationStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE PUBLICATION");
   requireDatabasePrivilege(core, catalog::privilege::create);
   if (statement.for_all_tables && !isSuperuser(core))
      throw SqlError(sqlstate::insufficientPrivilege, "must be superuser to create FOR ALL TABLES publication");
   lockPublications(core);
   Publication draft;
   draft.name = statement.pubname;
   requireFreeName(core, draft.name);
   applyPublicationOptions(context, statement.options, draft);
   draft.owner = core.role();
   draft.hasAllTables = statement.for_all_tables;
   draft.oid = core.transaction.editor().allocateOid();
   const PublishedObjects objects(context, statement.pubobjects);
   const bool hasSchemas = !objects.schemas().empty();
   if (hasSchemas && !isSuperuser(core))
      throw SqlError(sqlstate::insufficientPrivilege, "must be superuser to create FOR TABLES IN SCHEMA publication");
   addTables(core, draft, objects.read(objects.openTables(), draft.name, hasSchemas, draft.viaRoot), true);
   addSchemas(core, draft, objects.schemas(), true);
   change(core, [&](std::vector<Publication>& all) { all.push_back(std::move(draft)); });
   warnOfWalLevel(core);
   return "CREATE PUBLICATION";
}

std::string alterPublication(CommandContext& context, const ::AlterPublicationStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER PUBLICATION");
   lockPublications(core);
   Publication changed = require(core, statement.pubname);
   if (statement.options) {
      const bool wasViaRoot = changed.viaRoot;
      applyPublicationOptions(context, statement.options, changed);
      if (wasViaRoot && !changed.viaRoot) requireNoPartitionedParts(core, changed);
   } else {
      ObjectChange(context, statement, changed).run();
   }
   changeOne(core, changed.oid, [&](Publication& now) { now = std::move(changed); });
   return "ALTER PUBLICATION";
}

std::string dropPublications(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP PUBLICATION");
   lockPublications(core);
   std::vector<Oid> dropped;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      if (!statement.missing_ok || catalog::findPublication(core.transaction.catalog(), name))
         dropped.push_back(require(core, name).oid);
      else
         core.notice("publication \"" + name + "\" does not exist, skipping");
   }
   for (const Oid publication : dropped)
      remove(core, publication);
   return "DROP PUBLICATION";
}

std::string renamePublication(CommandContext& context, const ::RenameStmt& statement) {
   SessionCore& core = context.core;
   const std::string newName = statement.newname;
   lockPublications(core);
   const Oid publication = require(core, std::string(stringOf(statement.object))).oid;
   requireFreeName(core, newName);
   changeOne(core, publication, [&](Publication& now) { now.name = newName; });
   return "ALTER PUBLICATION";
}

void changePublicationOwner(SessionCore& core, const std::string& name, Oid owner) {
   lockPublications(core);
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const Publication* found = catalog::findPublication(snapshot, name);
   if (!found) throwMissing(name);
   if (found->owner == owner) return;
   const Publication publication = require(core, name);
   if (!isSuperuser(core)) {
      requireNewOwner(core, owner, invalidOid);
      const auto database = snapshot.database(snapshot.database());
      if (!catalog::mayUse(snapshot, owner, *database, catalog::privilege::create))
         throw SqlError(sqlstate::insufficientPrivilege, "permission denied for database " + database->name);
      const char* what = publication.hasAllTables       ? "FOR ALL TABLES"
                         : !publication.schemas.empty() ? "FOR TABLES IN SCHEMA"
                                                        : nullptr;
      if (what && !catalog::isSuperuser(snapshot, owner))
         throw SqlError(sqlstate::insufficientPrivilege,
                        "permission denied to change owner of publication \"" + name + "\"")
             .hint("The owner of a " + std::string(what) + " publication must be a superuser.");
   }
   changeOne(core, publication.oid, [&](Publication& now) { now.owner = owner; });
}

void commentOnPublication(SessionCore& core, const std::string& name, const std::string& text) {
   lockPublications(core);
   core.transaction.editor().setComment(catalog::class_oid::pgPublication, require(core, name).oid, 0, text);
}

void reassignPublications(SessionCore& core, Oid from, Oid to) {
   if (ownedBy(core, from).empty()) return;
   lockPublications(core);
   for (const Oid publication : ownedBy(core, from))
      changeOne(core, publication, [&](Publication& now) { now.owner = to; });
}

void dropPublicationsOf(SessionCore& core, Oid owner) {
   if (ownedBy(core, owner).empty()) return;
   lockPublications(core);
   for (const Oid publication : ownedBy(core, owner))
      remove(core, publication);
}

// ---- what tables have to do with publications ----

RenamedFilters::RenamedFilters(SessionCore& core, const catalog::Relation& table, int16_t attribute,
                               const std::string& name) {
   const auto isConcerned = [&](const PublicationTable& entry) {
      return entry.table == table.oid && std::ranges::binary_search(entry.filterReads, attribute);
   };
   const auto hasConcerned = [&](const Publication& publication) {
      return std::ranges::any_of(publication.tables, isConcerned);
   };
   if (std::ranges::none_of(catalog::publicationsOf(core.transaction.catalog()), hasConcerned)) return;
   lockPublications(core);
   const catalog::SearchPath path = core.searchPath();
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const Publication& publication : catalog::publicationsOf(snapshot))
      for (const PublicationTable& entry : publication.tables)
         if (isConcerned(entry))
            changed_[entry.oid] =
                sql::renameInExpression(entry.filter, table, attribute, name, core.bindContext(path, nullptr));
}

void RenamedFilters::put(SessionCore& core) const {
   if (changed_.empty()) return;
   change(core, [&](std::vector<Publication>& all) {
      for (Publication& publication : all)
         for (PublicationTable& entry : publication.tables)
            if (const auto found = changed_.find(entry.oid); found != changed_.end()) entry.filter = found->second;
   });
}

void lockIfPublished(SessionCore& core, const std::vector<Oid>& objects) {
   const auto falls = [&](Oid oid) { return std::ranges::find(objects, oid) != objects.end(); };
   const catalog::Snapshot snapshot = core.transaction.catalog();
   for (const Publication& publication : catalog::publicationsOf(snapshot))
      if (std::ranges::any_of(publication.tables, falls, &PublicationTable::table) ||
          std::ranges::any_of(publication.schemas, falls, &PublicationSchema::schema))
         return lockPublications(core);
}

void requireNotPublished(SessionCore& core, const catalog::Relation& table, int16_t attribute) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const Publication& publication : catalog::publicationsOf(snapshot))
      for (const PublicationTable& entry : publication.tables)
         if (entry.table == table.oid && entry.needs(attribute))
            throw SqlError(sqlstate::featureNotSupported,
                           "cannot alter type of a column used by a publication WHERE clause")
                .detail("publication of table " + catalog::displayName(snapshot, core.searchPath(), table) +
                        " in publication " + publication.name + " depends on column \"" +
                        table.column(attribute)->name + "\"");
}

void requireInNoPublication(SessionCore& core, const catalog::Relation& table) {
   for (const Publication& publication : catalog::publicationsOf(core.transaction.catalog()))
      for (const PublicationTable& entry : publication.tables)
         if (entry.table == table.oid)
            throw SqlError(sqlstate::objectNotInPrerequisiteState,
                           "cannot change table \"" + table.name + "\" to unlogged because it is part of a publication")
                .detail("Unlogged relations cannot be replicated.");
}

} // namespace ouzel::engine
