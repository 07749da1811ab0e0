#include "catalog/object/acl.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/database/database.hpp"
#include "engine/definition/database/database_clauses.hpp"
#include "engine/definition/database/database_users.hpp"
#include "executor/function/text/collation_version.hpp"
#include "sql/parse/node_access.hpp"

// ALTER DATABASE: options, name, owner.

namespace ouzel::engine {

namespace {

/// There is one tablespace for databases, so that nothing moves.
void setTablespace(SessionCore& core, CommandContext& context, const std::string& name, const std::string& tablespace) {
   refuseInBlock(context, "ALTER DATABASE SET TABLESPACE");
   const catalog::DatabasePtr database = requireDatabase(core, name, LockMode::AccessExclusive);
   requireOwner(core, *database);
   if (database->oid == core.options.databaseOid)
      throw SqlError(sqlstate::objectInUse, "cannot change the tablespace of the currently open database");
   requireDefaultTablespace(core, tablespace);
}

} // namespace

std::string alterDatabase(CommandContext& context, const ::AlterDatabaseStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER DATABASE");
   const DatabaseClauses options(context, statement.options,
                                 {"is_template", "allow_connections", "connection_limit", "tablespace"});
   const std::string name = statement.dbname;
   if (const auto tablespace = options.text("tablespace")) {
      if (options.count() > 1)
         throw SqlError(sqlstate::featureNotSupported, "option \"tablespace\" cannot be specified with other options")
             .at(options.position("tablespace"));
      setTablespace(core, context, name, *tablespace);
      return "ALTER DATABASE";
   }
   const auto isTemplate = options.boolean("is_template"), allows = options.boolean("allow_connections");
   const auto limit = options.connectionLimit();
   const catalog::DatabasePtr database = requireDatabase(core, name, LockMode::RowExclusive);
   requireOwner(core, *database);
   if (!allows.value_or(true) && database->oid == core.options.databaseOid)
      throw SqlError(sqlstate::invalidParameterValue, "cannot disallow connections for current database");
   catalog::Database changed = *database;
   changed.isTemplate = isTemplate.value_or(changed.isTemplate);
   changed.allowsConnections = allows.value_or(changed.allowsConnections);
   changed.connectionLimit = limit.value_or(changed.connectionLimit);
   core.transaction.editor().replaceDatabase(std::move(changed));
   return "ALTER DATABASE";
}

std::string refreshDatabaseCollation(CommandContext& context, const ::AlterDatabaseRefreshCollStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER DATABASE");
   const catalog::DatabasePtr database = requireDatabase(core, statement.dbname, LockMode::RowExclusive);
   requireOwner(core, *database);
   const std::string actual = // the order of bytes has none
       database->localeProvider == 'i' ? executor::collationVersion(database->icuLocale) : std::string();
   if (actual == database->collationVersion) {
      core.notice("version has not changed");
      return "ALTER DATABASE";
   }
   core.notice("changing version from " + database->collationVersion + " to " + actual);
   catalog::Database changed = *database;
   changed.collationVersion = actual;
   core.transaction.editor().replaceDatabase(std::move(changed));
   return "ALTER DATABASE";
}

void renameDatabase(SessionCore& core, const std::string& name, const std::string& newName) {
   const catalog::DatabasePtr database = requireDatabase(core, name, LockMode::AccessExclusive);
   requireOwner(core, *database);
   requireCreatesDatabases(core, "permission denied to rename database");
   if (core.transaction.catalog().findDatabase(newName))
      throw SqlError(sqlstate::duplicateDatabase, "database \"" + newName + "\" already exists");
   if (database->oid == core.options.databaseOid)
      throw SqlError(sqlstate::featureNotSupported, "current database cannot be renamed");
   requireUnused(core, database->oid, "database \"" + name + "\" is being accessed by other users");
   catalog::Database changed = *core.transaction.catalog().database(database->oid);
   changed.name = newName;
   core.transaction.editor().replaceDatabase(std::move(changed));
}

void changeDatabaseOwner(SessionCore& core, const std::string& name, Oid owner) {
   const catalog::DatabasePtr database = requireDatabase(core, name, LockMode::RowExclusive);
   if (database->owner == owner) return;
   requireOwner(core, *database);
   requireMayBecomeOwner(core, owner);
   requireCreatesDatabases(core, "permission denied to change owner of database");
   catalog::Database changed = *database;
   changed.acl = catalog::handedOver(changed.acl, changed.owner, owner);
   changed.owner = owner;
   core.transaction.editor().replaceDatabase(std::move(changed));
}

} // namespace ouzel::engine
