#include "engine/definition/foreign/foreign_table.hpp"

#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/foreign/options.hpp"
#include "engine/definition/make_table.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::Relation;
using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

/// Throws for what CREATE TABLE may have and CREATE FOREIGN TABLE may not.
void requireForeignElements(CommandContext& context, const ::CreateStmt& statement) {
   for (const ::Node* element : ListOf<>(statement.tableElts)) {
      if (isNode(element, T_ColumnDef))
         for (const ::Constraint* constraint : ListOf<::Constraint>(as<::ColumnDef>(element)->constraints))
            requireForeignConstraint(context, *constraint);
      if (isNode(element, T_Constraint)) requireForeignConstraint(context, *as<::Constraint>(element));
      if (isNode(element, T_TableLikeClause))
         throw SqlError(sqlstate::featureNotSupported, "LIKE is not supported for creating foreign tables")
             .at(context.position(as<::TableLikeClause>(element)->relation->location));
   }
}

/// A partitioned table keeps its keys unique in all partitions, which a foreign one cannot promise.
void requireNoUniqueIndexes(SessionCore& core, const Relation& partition) {
   if (!partition.isPartition()) return;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const catalog::RelationPtr parent = snapshot.relation(partition.parents.at(0));
   for (const catalog::RelationPtr& index : snapshot.indexesOf(parent->oid))
      if (index->index->isUnique)
         throw SqlError(sqlstate::wrongObjectType,
                        "cannot create foreign partition of partitioned table \"" + parent->name + "\"")
             .detail("Table \"" + parent->name + "\" contains indexes that are unique.");
}

const char* refusedConstraint(const ::Constraint& constraint) {
   switch (constraint.contype) {
   case CONSTR_PRIMARY: return "primary key";
   case CONSTR_UNIQUE: return "unique";
   case CONSTR_FOREIGN: return "foreign key";
   case CONSTR_EXCLUSION: return "exclusion";
   default: return nullptr;
   }
}

/// Whether foreign tables have a sub-command of ALTER TABLE.
bool isForForeignTables(::AlterTableType type) {
   switch (type) {
   case AT_AddColumn:
   case AT_DropColumn:
   case AT_ColumnDefault:
   case AT_SetNotNull:
   case AT_DropNotNull:
   case AT_DropExpression:
   case AT_SetStatistics:
   case AT_SetOptions:
   case AT_ResetOptions:
   case AT_SetStorage:
   case AT_AddIdentity:
   case AT_SetIdentity:
   case AT_DropIdentity:
   case AT_AlterColumnType:
   case AT_AddConstraint:
   case AT_ValidateConstraint:
   case AT_DropConstraint:
   case AT_ChangeOwner:
   case AT_DropOids:
   case AT_EnableTrig:
   case AT_EnableAlwaysTrig:
   case AT_EnableReplicaTrig:
   case AT_EnableTrigAll:
   case AT_EnableTrigUser:
   case AT_DisableTrig:
   case AT_DisableTrigAll:
   case AT_DisableTrigUser:
   case AT_AddInherit:
   case AT_DropInherit:
   case AT_GenericOptions:
   case AT_AlterColumnGenericOptions: return true;
   default: return false;
   }
}

} // namespace

void requireForeignConstraint(CommandContext& context, const ::Constraint& constraint) {
   if (const char* refused = refusedConstraint(constraint))
      throw SqlError(sqlstate::featureNotSupported,
                     std::string(refused) + " constraints are not supported on foreign tables")
          .at(context.position(constraint.location));
}

void requireForeignAction(CommandContext& context, const Relation& table, const ::AlterTableCmd& command) {
   const bool isOnlyForeign = command.subtype == AT_GenericOptions || command.subtype == AT_AlterColumnGenericOptions;
   if (table.foreign ? !isForForeignTables(command.subtype) : isOnlyForeign) refuseAction(table, command);
   if (!table.foreign) return;
   if (command.subtype == AT_AddConstraint) requireForeignConstraint(context, *as<::Constraint>(command.def));
   if (command.subtype == AT_AddColumn)
      for (const ::Constraint* constraint : ListOf<::Constraint>(as<::ColumnDef>(command.def)->constraints))
         requireForeignConstraint(context, *constraint);
   if (command.subtype == AT_AlterColumnType && as<::ColumnDef>(command.def)->raw_default)
      throw SqlError(sqlstate::wrongObjectType, "\"" + table.name + "\" is not a table");
}

std::string createForeignTable(CommandContext& context, const ::CreateForeignTableStmt& statement) {
   SessionCore& core = context.core;
   constexpr const char* tag = "CREATE FOREIGN TABLE";
   requireWritable(core, tag);
   const ::CreateStmt& base = statement.base;
   const auto oid = makeTable(
       context, base, [&] { requireForeignElements(context, base); },
       [&](Relation& draft) {
          requireNoUniqueIndexes(core, draft);
          const auto server = catalog::requireServer(core.transaction.catalog(), statement.servername);
          requireUsage(core, *server);
          draft.foreign = catalog::ForeignTable{
              server->oid, validatedOptions(core, *core.transaction.catalog().wrapper(server->wrapper),
                                            catalog::class_oid::pgForeignTable, {}, statement.options)};
       });
   if (!oid) return tag;
   for (const ::Node* element : ListOf<>(base.tableElts))
      if (isNode(element, T_ColumnDef))
         if (const auto& column = *as<::ColumnDef>(element); column.fdwoptions)
            changeColumnOptions(core, *oid, column.colname, column.fdwoptions);
   return tag;
}

void changeTableOptions(SessionCore& core, const Relation& table, const ::AlterTableCmd& command) {
   const auto wrapper = catalog::wrapperOf(core.transaction.editor().snapshot(), *table.foreign);
   Relation changed = table;
   changed.foreign->options = validatedOptions(core, *wrapper, catalog::class_oid::pgForeignTable,
                                               std::move(changed.foreign->options), as<::List>(command.def));
   core.transaction.editor().replaceRelation(std::move(changed));
}

void changeColumnOptions(SessionCore& core, Oid table, const std::string& column, const ::List* options) {
   Relation changed = *core.transaction.editor().snapshot().relation(table);
   const auto wrapper = catalog::wrapperOf(core.transaction.editor().snapshot(), *changed.foreign);
   const int16_t attribute = catalog::requireColumn(changed, column).attribute;
   catalog::ForeignOptions& own = changed.columns[static_cast<size_t>(attribute - 1)].foreignOptions;
   own = validatedOptions(core, *wrapper, catalog::class_oid::pgAttribute, std::move(own), options);
   core.transaction.editor().replaceRelation(std::move(changed));
}

} // namespace ouzel::engine
