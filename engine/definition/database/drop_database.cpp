#include <algorithm>

#include "catalog/object/prepared_transaction.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/database/database.hpp"
#include "engine/definition/database/database_users.hpp"
#include "sql/parse/node_access.hpp"

// DROP DATABASE: all objects of the database, and the rows of its tables, go with one commit.

namespace ouzel::engine {

namespace {

bool isForced(CommandContext& context, const ::List* options) {
   bool force = false;
   for (const ::DefElem* option : sql::ListOf<::DefElem>(options)) {
      if (std::string_view(option->defname) != "force")
         throw SqlError(sqlstate::syntaxError,
                        "unrecognized DROP DATABASE option \"" + std::string(option->defname) + "\"")
             .at(context.position(option->location));
      force = true;
   }
   return force;
}

} // namespace

std::string dropDatabase(CommandContext& context, const ::DropdbStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP DATABASE");
   refuseInBlock(context, "DROP DATABASE");
   const bool force = isForced(context, statement.options);
   const std::string name = statement.dbname;
   if (statement.missing_ok && !core.transaction.catalog().findDatabase(name)) {
      core.notice("database \"" + name + "\" does not exist, skipping");
      return "DROP DATABASE";
   }
   const catalog::DatabasePtr database = requireDatabase(core, name, LockMode::AccessExclusive);
   requireOwner(core, *database);
   if (database->oid == core.options.databaseOid)
      throw SqlError(sqlstate::objectInUse, "cannot drop the currently open database");
   if (database->isTemplate) throw SqlError(sqlstate::wrongObjectType, "cannot drop a template database");
   const auto prepared = core.database.catalog->newest().preparedTransactions();
   const auto count = std::count_if(prepared.begin(), prepared.end(), [&](const catalog::PreparedTransactionPtr& one) {
      return one->database == database->oid;
   });
   if (count > 0)
      throw SqlError(sqlstate::objectInUse, "database \"" + name + "\" is being " +
                                                (force ? "used by prepared transactions" : "accessed by other users"))
          .detail(count == 1 ? "There is 1 prepared transaction using the database."
                             : "There are " + std::to_string(count) + " prepared transactions using the database.");
   if (force) endSessions(core, database->oid);
   requireUnused(core, database->oid, "database \"" + name + "\" is being accessed by other users");
   const auto largeObjects = core.transaction.catalog().inDatabase(database->oid).largeObjectPages();
   catalog::Dropped dropped;
   core.transaction.editor().dropDatabase(name, false, &dropped);
   for (const catalog::Dropped::Item& item : dropped.items)
      if (item.relation->storage != catalog::noStorage)
         core.database.storage->dropTable(core.transaction.storage(), item.relation->storage);
   if (largeObjects != catalog::noStorage) core.database.storage->dropTable(core.transaction.storage(), largeObjects);
   return "DROP DATABASE";
}

} // namespace ouzel::engine
