#include "engine/definition/declared_attributes.hpp"

#include <algorithm>

#include "common/text/ascii.hpp"
#include "engine/definition/index/clustered.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE: what a table or column is declared to have and the engine need not follow.

namespace ouzel::engine {

using sql::as;
using sql::stringOf;

namespace {

constexpr int32_t statisticsTargetMax = 10000;

std::string nameOf(const catalog::Relation& table, const catalog::Column& column) {
   return "column \"" + column.name + "\" of relation \"" + table.name + "\"";
}

constexpr std::string_view systemColumns[] = {"tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"};

/// The column that the sub-command names.
const catalog::Column& alteredColumn(const catalog::Relation& table, std::string_view name) {
   if (std::find(std::begin(systemColumns), std::end(systemColumns), name) != std::end(systemColumns))
      throw SqlError(sqlstate::featureNotSupported, "cannot alter system column \"" + std::string(name) + "\"");
   return catalog::requireColumn(table, name);
}

/// Whether values of the type may be long, and so stored elsewhere or compressed in PostgreSQL.
bool isToastable(const SqlType& type) {
   const catalog::TypeInfo* info = catalog::builtins().type(type.oid);
   return !info || info->storage != 'p';
}

char storageNamed(const std::string& name) {
   const std::string word = lowerCase(name);
   if (word == "plain") return 'p';
   if (word == "external") return 'e';
   if (word == "extended") return 'x';
   if (word == "main") return 'm';
   throw SqlError(sqlstate::invalidParameterValue, "invalid storage type \"" + name + "\"");
}

template <typename Change>
void changeColumn(SessionCore& core, const catalog::Relation& table, int16_t attribute, Change&& change) {
   catalog::Relation changed = table;
   change(changed.columns[static_cast<size_t>(attribute - 1)]);
   core.transaction.editor().replaceRelation(std::move(changed));
}

} // namespace

char compressionNamed(const SqlType& type, std::string_view name) {
   if (name.empty() || name == "default") return '\0';
   if (!isToastable(type))
      throw SqlError(sqlstate::featureNotSupported,
                     "column data type " + formatType({type.oid, -1, invalidOid}) + " does not support compression");
   if (name != "pglz" && name != "lz4")
      throw SqlError(sqlstate::invalidParameterValue, "invalid compression method \"" + std::string(name) + "\"");
   return name[0];
}

void setStatistics(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   if (!command.name) throw SqlError(sqlstate::featureNotSupported, "cannot refer to non-index column by number");
   const int32_t target = checkStatisticsTarget(core, command);
   changeColumn(core, table, alteredColumn(table, command.name).attribute,
                [&](catalog::Column& column) { column.statisticsTarget = target; });
}

int32_t checkStatisticsTarget(SessionCore& core, const ::AlterTableCmd& command) {
   const int32_t target = as<::Integer>(command.def)->ival;
   if (target < -1)
      throw SqlError(sqlstate::invalidParameterValue, "statistics target " + std::to_string(target) + " is too low");
   if (target > statisticsTargetMax)
      core.warn(sqlstate::invalidParameterValue,
                "lowering statistics target to " + std::to_string(statisticsTargetMax));
   return std::min(target, statisticsTargetMax);
}

void setColumnOptions(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const auto* list = as<::List>(command.def);
   changeColumn(core, table, alteredColumn(table, command.name).attribute, [&](catalog::Column& column) {
      column.options = command.subtype == AT_SetOptions ? withOptions(OptionOwner::Column, column.options, list)
                                                        : withoutOptions(OptionOwner::Column, column.options, list);
   });
}

void setStorage(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const char storage = storageNamed(std::string(stringOf(command.def)));
   const catalog::Column& column = alteredColumn(table, command.name);
   if (storage != 'p' && !isToastable(column.type))
      throw SqlError(sqlstate::featureNotSupported, "column data type " +
                                                        formatType({column.type.oid, -1, invalidOid}) +
                                                        " can only have storage PLAIN");
   changeColumn(core, table, column.attribute, [&](catalog::Column& changed) { changed.storage = storage; });
}

void setCompression(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const catalog::Column& column = alteredColumn(table, command.name);
   const char compression = compressionNamed(column.type, stringOf(command.def));
   changeColumn(core, table, column.attribute, [&](catalog::Column& changed) { changed.compression = compression; });
}

void dropExpression(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const catalog::Column& old = alteredColumn(table, command.name);
   if (!old.generated) {
      const std::string message = nameOf(table, old) + " is not a stored generated column";
      if (!command.missing_ok) throw SqlError(sqlstate::objectNotInPrerequisiteState, message);
      return core.notice(message + ", skipping");
   }
   catalog::Relation changed = table;
   catalog::Column& column = changed.columns[static_cast<size_t>(old.attribute - 1)];
   column.generated = '\0';
   column.dropDefault();
   core.transaction.editor().replaceRelation(std::move(changed));
}

namespace {

/// CLUSTER ON; `name` is null: SET WITHOUT CLUSTER.
void setClustered(SessionCore& core, const catalog::Relation& table, const char* name) {
   if (table.partitionKey)
      throw SqlError(sqlstate::featureNotSupported, "cannot mark index clustered in partitioned table");
   markClustered(core, table.oid, name ? requireClusterable(core, table, name)->oid : invalidOid);
}

/// The index of a name, by which rows can be identified. Throws 42704, 42809, 42P10 and 0A000.
catalog::RelationPtr requireIdentifying(SessionCore& core, const catalog::Relation& table, const std::string& name) {
   auto index = core.transaction.catalog().findRelation(table.schema, name);
   if (!index)
      throw SqlError(sqlstate::undefinedObject,
                     "index \"" + name + "\" for table \"" + table.name + "\" does not exist");
   if (!index->index) throw SqlError(sqlstate::wrongObjectType, "\"" + name + "\" is not an index");
   if (index->index->table != table.oid)
      throw SqlError(sqlstate::wrongObjectType, "\"" + name + "\" is not an index for table \"" + table.name + "\"");
   const auto refuse = [&](SqlState state, const char* kind) {
      throw SqlError(state, "cannot use " + std::string(kind) + " index \"" + name + "\" as replica identity");
   };
   const catalog::Constraint* owner = table.constraintOf(index->oid);
   if (!index->index->isUnique) refuse(sqlstate::wrongObjectType, "non-unique");
   if (owner && owner->isDeferrable) refuse(sqlstate::featureNotSupported, "non-immediate");
   if (!index->index->expressions.empty()) refuse(sqlstate::featureNotSupported, "expression");
   if (!index->index->predicate.empty()) refuse(sqlstate::featureNotSupported, "partial");
   for (const int16_t attribute : index->index->columns)
      if (!table.column(attribute)->notNull)
         throw SqlError(sqlstate::wrongObjectType, "index \"" + name +
                                                       "\" cannot be used as replica identity because column \"" +
                                                       table.column(attribute)->name + "\" is nullable");
   return index;
}

void setReplicaIdentity(SessionCore& core, const catalog::Relation& table, const ::ReplicaIdentityStmt& statement) {
   const catalog::RelationPtr index = statement.name ? requireIdentifying(core, table, statement.name) : nullptr;
   catalog::Relation changed = table;
   changed.replicaIdentity = statement.identity_type;
   changed.identityIndex = index ? index->oid : invalidOid;
   core.transaction.editor().replaceRelation(std::move(changed));
}

void requireTablespace(SessionCore& core, const std::string& name) {
   const SystemObject space = findSystemObject(core, OBJECT_TABLESPACE, std::vector<std::string>{name});
   if (space.missing) throw SqlError(*space.missing);
   if (name == "pg_global")
      throw SqlError(sqlstate::invalidParameterValue, "only shared relations can be placed in pg_global tablespace");
}

} // namespace

void declareForTable(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   switch (command.subtype) {
   case AT_ClusterOn: return setClustered(core, table, command.name);
   case AT_DropCluster: return setClustered(core, table, nullptr);
   case AT_SetTableSpace: return requireTablespace(core, command.name);
   case AT_ReplicaIdentity: return setReplicaIdentity(core, table, *as<::ReplicaIdentityStmt>(command.def));
   case AT_DropOids: return;
   default: throwNotSupported("this form of ALTER TABLE");
   }
}

} // namespace ouzel::engine
