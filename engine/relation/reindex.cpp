#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/relation/relation.hpp"
#include "sql/parse/node_access.hpp"

// REINDEX. Key indexes are in memory and made from the blocks when they are asked, so there is nothing to make anew;
// the statement checks what PostgreSQL checks.

namespace ouzel::engine {

namespace {

using sql::ListOf;
using sql::textOf;

bool hasRows(const catalog::Relation& relation) {
   if (relation.foreign) return false;
   return relation.relationKind == catalog::RelationKind::Table ||
          relation.relationKind == catalog::RelationKind::MaterializedView ||
          relation.relationKind == catalog::RelationKind::Virtual;
}

struct ReindexOptions {
   bool isConcurrent = false;
};

} // namespace

bool isSwitchedOn(const ::DefElem& option) {
   if (!option.arg) return true;
   if (sql::isNode(option.arg, T_Integer)) return sql::as<::Integer>(option.arg)->ival != 0;
   const std::string_view word =
       sql::isNode(option.arg, T_String) ? std::string_view(sql::as<::String>(option.arg)->sval) : std::string_view();
   if (word == "true" || word == "on") return true;
   if (word == "false" || word == "off") return false;
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value");
}

catalog::RelationPtr requireTableToOwn(CommandContext& context, const ::RangeVar& name) {
   const catalog::SearchPath path = context.core.searchPath();
   auto table = requireTarget(context, path, name);
   if (!hasRows(*table))
      throw SqlError(sqlstate::wrongObjectType, "\"" + table->name + "\" is not a table or materialized view");
   requireOwner(context.core, *table);
   return table;
}

namespace {

ReindexOptions optionsOf(CommandContext& context, const ::List* list) {
   ReindexOptions options;
   for (const ::DefElem* option : ListOf<::DefElem>(list)) {
      const std::string_view name = textOf(option->defname);
      if (name == "concurrently") {
         options.isConcurrent = isSwitchedOn(*option);
      } else if (name == "tablespace") {
         const SystemObject tablespace = findSystemObject(
             context.core, OBJECT_TABLESPACE, std::vector<std::string>{sql::as<::String>(option->arg)->sval});
         if (tablespace.missing) throw SqlError(*tablespace.missing);
      } else if (name == "verbose") {
         isSwitchedOn(*option);
      } else {
         throw SqlError(sqlstate::syntaxError, "unrecognized REINDEX option \"" + std::string(name) + "\"")
             .at(context.position(option->location));
      }
   }
   return options;
}

void refuseSystemCatalog(const ReindexOptions& options, const catalog::Relation& relation) {
   if (options.isConcurrent && relation.isBuiltin())
      throw SqlError(sqlstate::featureNotSupported, "cannot reindex system catalogs concurrently");
}

void reindexIndex(CommandContext& context, const ::RangeVar& name, const ReindexOptions& options) {
   const catalog::SearchPath path = context.core.searchPath();
   const auto index = requireTarget(context, path, name);
   if (!index->index && index->relkind() != 'i')
      throw SqlError(sqlstate::wrongObjectType, "\"" + index->name + "\" is not an index");
   requireOwner(context.core, *index);
   refuseSystemCatalog(options, *index);
   if (index->index) context.core.transaction.lock(index->index->table, LockMode::Share);
}

void reindexTable(CommandContext& context, const ::RangeVar& name, const ReindexOptions& options) {
   SessionCore& core = context.core;
   const auto table = requireTableToOwn(context, name);
   refuseSystemCatalog(options, *table);
   core.transaction.lock(table->oid, options.isConcurrent ? LockMode::ShareUpdateExclusive : LockMode::Share);
   if (!table->isBuiltin() && core.transaction.catalog().indexesOf(table->oid).empty())
      core.notice("table \"" + table->name + "\" has no indexes " +
                  (options.isConcurrent ? "that can be reindexed concurrently" : "to reindex"));
}

void reindexSchema(CommandContext& context, const std::string& name) {
   SessionCore& core = context.core;
   const Oid schema = catalog::requireSchema(core.transaction.catalog(), core.searchPath(), name);
   if (const auto found = core.transaction.catalog().schema(schema)) requireOwner(core, *found);
}

void reindexDatabase(CommandContext& context, std::string_view name) {
   SessionCore& core = context.core;
   if (!name.empty() && name != core.options.database)
      throw SqlError(sqlstate::featureNotSupported, "can only reindex the currently open database");
   const auto database = core.transaction.catalog().findDatabase(core.options.database);
   if (database && !actsFor(core, database->owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of database " + database->name);
}

} // namespace

std::string reindex(CommandContext& context, const ::ReindexStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "REINDEX");
   const ReindexOptions options = optionsOf(context, statement.params);
   if (options.isConcurrent) refuseInBlock(core, "REINDEX CONCURRENTLY");
   switch (statement.kind) {
   case REINDEX_OBJECT_INDEX: reindexIndex(context, *statement.relation, options); break;
   case REINDEX_OBJECT_TABLE: reindexTable(context, *statement.relation, options); break;
   case REINDEX_OBJECT_SCHEMA:
      refuseInBlock(core, "REINDEX SCHEMA");
      reindexSchema(context, statement.name);
      break;
   case REINDEX_OBJECT_SYSTEM:
      refuseInBlock(core, "REINDEX SYSTEM");
      if (options.isConcurrent)
         throw SqlError(sqlstate::featureNotSupported, "cannot reindex system catalogs concurrently");
      reindexDatabase(context, textOf(statement.name));
      break;
   case REINDEX_OBJECT_DATABASE:
      refuseInBlock(core, "REINDEX DATABASE");
      reindexDatabase(context, textOf(statement.name));
      break;
   }
   return "REINDEX";
}

} // namespace ouzel::engine
