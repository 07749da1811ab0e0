#include "engine/definition/alter_target.hpp"

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/collation/collation.hpp"
#include "engine/definition/database/database.hpp"
#include "engine/definition/declared_attributes.hpp"
#include "engine/definition/event_trigger/event_trigger.hpp"
#include "engine/definition/foreign/foreign.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/language/language.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/partition/keys.hpp"
#include "engine/definition/persistence.hpp"
#include "engine/definition/publication/publication.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/role/actor.hpp"
#include "engine/role/large_object.hpp"

// What ALTER names besides tables: views, indexes, sequences; and who owns them.

namespace ouzel::engine {

using catalog::RelationKind;
using sql::as;
using sql::stringOf;

void requireAlterable(SessionCore& core, const catalog::Relation& relation, ::ObjectType type, bool isRename) {
   if (relation.relationKind == RelationKind::Composite && !actsFor(core, relation.owner)) // PostgreSQL's word
      throw SqlError(sqlstate::insufficientPrivilege, "must be owner of table " + relation.name);
   if (!relation.isBuiltin()) requireOwner(core, relation);
   const auto refuse = [&](const char* kind) {
      throw SqlError(sqlstate::wrongObjectType, "\"" + relation.name + "\" is not " + kind);
   };
   if (relation.isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied: \"" + relation.name + "\" is a system catalog");
   if (type == OBJECT_FOREIGN_TABLE && !relation.foreign) refuse("a foreign table");
   if (type == OBJECT_MATVIEW && relation.relationKind != RelationKind::MaterializedView) refuse("a materialized view");
   const bool isComposite = relation.relationKind == RelationKind::Composite;
   if (type == OBJECT_TYPE && !isComposite) refuse("a composite type");
   if (type != OBJECT_TYPE && isComposite)
      throw SqlError(sqlstate::wrongObjectType, "\"" + relation.name + "\" is a composite type")
          .hint("Use ALTER TYPE instead.");
   if (type == OBJECT_SEQUENCE && relation.relationKind != RelationKind::Sequence) refuse("a sequence");
   if (type == OBJECT_VIEW && relation.relationKind != RelationKind::View) refuse("a view");
   if (type == OBJECT_INDEX && relation.relationKind != RelationKind::Index && !isRename) refuse("an index");
}

std::string unsupportedFor(const catalog::Relation& relation) {
   if (relation.foreign) return "This operation is not supported for foreign tables.";
   switch (relation.relationKind) {
   case RelationKind::View: return "This operation is not supported for views.";
   case RelationKind::MaterializedView: return "This operation is not supported for materialized views.";
   case RelationKind::Index: return "This operation is not supported for indexes.";
   case RelationKind::Sequence: return "This operation is not supported for sequences.";
   case RelationKind::Composite: return "This operation is not supported for composite types.";
   default: return "This operation is not supported for tables.";
   }
}

namespace {

/// What messages call the sub-command.
const char* actionName(::AlterTableType type) {
   switch (type) {
   case AT_AddColumn: return "ADD COLUMN";
   case AT_DropColumn: return "DROP COLUMN";
   case AT_ColumnDefault: return "ALTER COLUMN ... SET DEFAULT";
   case AT_SetNotNull: return "ALTER COLUMN ... SET NOT NULL";
   case AT_DropNotNull: return "ALTER COLUMN ... DROP NOT NULL";
   case AT_AddIdentity: return "ALTER COLUMN ... ADD IDENTITY";
   case AT_SetIdentity: return "ALTER COLUMN ... SET";
   case AT_DropIdentity: return "ALTER COLUMN ... DROP IDENTITY";
   case AT_AddConstraint: return "ADD CONSTRAINT";
   case AT_ValidateConstraint: return "VALIDATE CONSTRAINT";
   case AT_DropConstraint: return "DROP CONSTRAINT";
   case AT_AlterColumnType: return "ALTER COLUMN ... SET DATA TYPE";
   case AT_EnableRowSecurity: return "ENABLE ROW SECURITY";
   case AT_DisableRowSecurity: return "DISABLE ROW SECURITY";
   case AT_ForceRowSecurity: return "FORCE ROW SECURITY";
   case AT_NoForceRowSecurity: return "NO FORCE ROW SECURITY";
   case AT_SetRelOptions: return "SET";
   case AT_ResetRelOptions: return "RESET";
   case AT_SetStatistics: return "ALTER COLUMN ... SET STATISTICS";
   case AT_SetOptions: return "ALTER COLUMN ... SET";
   case AT_ResetOptions: return "ALTER COLUMN ... RESET";
   case AT_SetStorage: return "ALTER COLUMN ... SET STORAGE";
   case AT_SetCompression: return "ALTER COLUMN ... SET COMPRESSION";
   case AT_DropExpression: return "ALTER COLUMN ... DROP EXPRESSION";
   case AT_AlterConstraint: return "ALTER CONSTRAINT";
   case AT_ClusterOn: return "CLUSTER ON";
   case AT_DropCluster: return "SET WITHOUT CLUSTER";
   case AT_SetLogged: return "SET LOGGED";
   case AT_SetUnLogged: return "SET UNLOGGED";
   case AT_DropOids: return "SET WITHOUT OIDS";
   case AT_SetTableSpace: return "SET TABLESPACE";
   case AT_EnableTrig: return "ENABLE TRIGGER";
   case AT_EnableTrigAll: return "ENABLE TRIGGER ALL";
   case AT_EnableTrigUser: return "ENABLE TRIGGER USER";
   case AT_DisableTrig: return "DISABLE TRIGGER";
   case AT_DisableTrigAll: return "DISABLE TRIGGER ALL";
   case AT_DisableTrigUser: return "DISABLE TRIGGER USER";
   case AT_AddInherit: return "INHERIT";
   case AT_DropInherit: return "NO INHERIT";
   case AT_AddOf: return "OF";
   case AT_DropOf: return "NOT OF";
   case AT_ReplicaIdentity: return "REPLICA IDENTITY";
   case AT_AttachPartition: return "ATTACH PARTITION";
   case AT_DetachPartition: return "DETACH PARTITION";
   case AT_GenericOptions: return "OPTIONS";
   case AT_AlterColumnGenericOptions: return "ALTER COLUMN ... OPTIONS";
   case AT_EnableRule: return "ENABLE RULE";
   case AT_EnableAlwaysRule: return "ENABLE ALWAYS RULE";
   case AT_EnableReplicaRule: return "ENABLE REPLICA RULE";
   case AT_DisableRule: return "DISABLE RULE";
   default: return nullptr;
   }
}

} // namespace

void setOwner(catalog::CatalogEditor& editor, const catalog::Relation& relation, Oid owner) {
   catalog::Relation changed = relation;
   changed.owner = owner;
   changed.acl = catalog::handedOver(changed.acl, relation.owner, owner);
   for (catalog::Column& column : changed.columns)
      column.acl = catalog::handedOver(column.acl, relation.owner, owner);
   editor.replaceRelation(std::move(changed));
}

void setOwner(catalog::CatalogEditor& editor, const catalog::Schema& schema, Oid owner) {
   catalog::Schema changed = schema;
   changed.owner = owner;
   changed.acl = catalog::handedOver(changed.acl, schema.owner, owner);
   editor.replaceSchema(std::move(changed));
}

void requireNewOwner(SessionCore& core, Oid owner, Oid schema) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (catalog::isSuperuser(snapshot, core.role())) return;
   if (!catalog::isMemberOf(snapshot, core.role(), owner))
      throw SqlError(sqlstate::insufficientPrivilege, "must be member of role \"" + snapshot.role(owner)->name + "\"");
   const auto found = snapshot.schema(schema);
   if (found && !catalog::mayUse(snapshot, owner, *found, catalog::privilege::create))
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied for schema " + found->name);
}

void changeOwner(CommandContext& context, const catalog::Relation& relation, const ::RoleSpec& role) {
   SessionCore& core = context.core;
   const Oid owner = existingRole(core, role)->oid;
   requireOwner(core, relation);
   if (relation.owner == owner) return;
   requireNewOwner(core, owner, relation.schema);
   if (relation.index) {
      core.notices.notice({Notice::Severity::Warning,
                           sqlstate::wrongObjectType,
                           "cannot change owner of index \"" + relation.name + "\"",
                           {},
                           "Change the ownership of the index's table, instead."});
      return;
   }
   if (relation.sequence && relation.sequence->ownerRelation != invalidOid)
      throw SqlError(sqlstate::featureNotSupported, "cannot change owner of sequence \"" + relation.name + "\"")
          .detail("Sequence \"" + relation.name + "\" is linked to table \"" +
                  core.transaction.catalog().relation(relation.sequence->ownerRelation)->name + "\".");
   catalog::CatalogEditor& editor = core.transaction.editor();
   const std::vector<catalog::RelationPtr> all = editor.snapshot().relations();
   for (const catalog::RelationPtr& other : all)
      if ((other->index && other->index->table == relation.oid) ||
          (other->sequence && other->sequence->ownerRelation == relation.oid))
         setOwner(editor, *other, owner);
   setOwner(editor, relation, owner);
   if (relation.relationKind == RelationKind::Range)
      setOwner(editor, *editor.snapshot().relationOfType(relation.range->partner), owner);
}

void setOptions(catalog::CatalogEditor& editor, Oid relation, RelationOptions options) {
   catalog::Relation changed = *editor.snapshot().relation(relation);
   changed.options = std::move(options);
   editor.replaceRelation(std::move(changed));
}

void requireUpdatable(const std::string& reason) {
   if (reason.empty()) return;
   throw SqlError(sqlstate::featureNotSupported, "WITH CHECK OPTION is supported only on automatically updatable views")
       .hint("Views " + reason + " are not automatically updatable.");
}

void changeOptions(CommandContext& context, const catalog::Relation& relation, const ::AlterTableCmd& command) {
   const OptionOwner owner = relation.index                                ? indexOptionOwner(relation.index->method)
                             : relation.relationKind == RelationKind::View ? OptionOwner::View
                                                                           : OptionOwner::Table;
   const auto* list = as<::List>(command.def);
   RelationOptions options = command.subtype == AT_SetRelOptions ? withOptions(owner, relation.options, list)
                                                                 : withoutOptions(owner, relation.options, list);
   if (command.subtype == AT_SetRelOptions && owner == OptionOwner::View && hasCheckOption(options)) {
      const catalog::SearchPath path = context.core.searchPath();
      requireUpdatable(sql::whyNotUpdatable(relation, context.core.bindContext(path, nullptr)));
   }
   setOptions(context.core.transaction.editor(), relation.oid, std::move(options));
}

namespace {

/// Statistics are set for the expressions of an index only.
void setIndexStatistics(SessionCore& core, const catalog::Relation& index, const ::AlterTableCmd& command) {
   const catalog::Column* column =
       command.name ? &catalog::requireColumn(index, command.name) : index.column(command.num);
   if (!column)
      throw SqlError(sqlstate::undefinedColumn, "column number " + std::to_string(command.num) + " of relation \"" +
                                                    index.name + "\" does not exist");
   const auto number = static_cast<size_t>(column->attribute - 1);
   if (number >= index.index->columns.size())
      throw SqlError(sqlstate::featureNotSupported, "cannot alter statistics on included column \"" + column->name +
                                                        "\" of index \"" + index.name + "\"");
   if (index.index->columns[number] == 0) {
      const int32_t target = checkStatisticsTarget(core, command);
      catalog::Relation changed = index;
      changed.columns[number].statisticsTarget = target;
      core.transaction.editor().replaceRelation(std::move(changed));
      return;
   }
   throw SqlError(sqlstate::featureNotSupported, "cannot alter statistics on non-expression column \"" + column->name +
                                                     "\" of index \"" + index.name + "\"")
       .hint("Alter statistics on table column instead.");
}

} // namespace

namespace {

/// What may be declared of a materialized view as of a table. False: it is something else.
bool declareForView(SessionCore& core, const catalog::Relation& view, const ::AlterTableCmd& command) {
   switch (command.subtype) {
   case AT_SetStatistics: setStatistics(core, view, command); return true;
   case AT_SetOptions:
   case AT_ResetOptions: setColumnOptions(core, view, command); return true;
   case AT_SetStorage: setStorage(core, view, command); return true;
   case AT_SetCompression: setCompression(core, view, command); return true;
   case AT_ClusterOn:
   case AT_DropCluster:
   case AT_ReplicaIdentity:
   case AT_SetTableSpace: declareForTable(core, view, command); return true;
   default: return false;
   }
}

} // namespace

void alterOther(CommandContext& context, Oid oid, const ::AlterTableCmd& command) {
   const catalog::RelationPtr relation = context.core.transaction.catalog().relation(oid);
   if (command.subtype == AT_ChangeOwner) return changeOwner(context, *relation, *command.newowner);
   if ((command.subtype == AT_SetRelOptions || command.subtype == AT_ResetRelOptions) && !relation->sequence)
      return changeOptions(context, *relation, command);
   if (relation->relationKind == RelationKind::MaterializedView && declareForView(context.core, *relation, command))
      return;
   if ((command.subtype == AT_SetLogged || command.subtype == AT_SetUnLogged) && relation->sequence)
      return setLogged(context.core, *relation, command.subtype == AT_SetLogged);
   if (command.subtype == AT_SetStatistics && relation->index)
      return setIndexStatistics(context.core, *relation, command);
   if (command.subtype == AT_AttachPartition && relation->index && relation->index->isPartitioned)
      return attachIndex(context, *relation, command);
   refuseAction(*relation, command);
}

void refuseAction(const catalog::Relation& relation, const ::AlterTableCmd& command) {
   const char* action = actionName(command.subtype);
   if (!action) throwNotSupported("this form of " + std::string(tagOf(Verb::Alter, OBJECT_TABLE)));
   throw SqlError(sqlstate::wrongObjectType,
                  "ALTER action " + std::string(action) + " cannot be performed on relation \"" + relation.name + "\"")
       .detail(unsupportedFor(relation));
}

std::string alterOwner(CommandContext& context, const ::AlterOwnerStmt& statement) {
   SessionCore& core = context.core;
   std::string tag(tagOf(Verb::Alter, statement.objectType));
   requireWritable(core, tag);
   const Oid owner = existingRole(core, *statement.newowner)->oid;
   if (statement.objectType == OBJECT_DATABASE) {
      changeDatabaseOwner(core, std::string(stringOf(statement.object)), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_LARGEOBJECT) {
      changeLargeObjectOwner(core, statement.object, owner);
      return tag;
   }
   if (statement.objectType == OBJECT_FOREIGN_SERVER) {
      changeServerOwner(core, stringOf(statement.object), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_FDW) {
      changeWrapperOwner(core, stringOf(statement.object), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_EVENT_TRIGGER) {
      changeEventTriggerOwner(core, std::string(stringOf(statement.object)), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_LANGUAGE)
      if (changeLanguageOwner(core, std::string(stringOf(statement.object)), owner)) return tag;
   if (statement.objectType == OBJECT_PUBLICATION) {
      changePublicationOwner(core, std::string(stringOf(statement.object)), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_STATISTIC_EXT) {
      changeStatisticsOwner(core, as<::List>(statement.object), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_FUNCTION || statement.objectType == OBJECT_PROCEDURE ||
       statement.objectType == OBJECT_ROUTINE || statement.objectType == OBJECT_AGGREGATE)
      if (const auto function =
              findUserFunction(context, statement.objectType, *as<::ObjectWithArgs>(statement.object))) {
         changeFunctionOwner(core, *function, owner);
         return tag;
      }
   if (statement.objectType == OBJECT_OPERATOR)
      if (const auto op = findUserOperator(context, *as<::ObjectWithArgs>(statement.object))) {
         changeOperatorOwner(core, *op, owner);
         return tag;
      }
   if (statement.objectType == OBJECT_COLLATION)
      if (const auto collation = findUserCollation(core, as<::List>(statement.object))) {
         changeCollationOwner(core, *collation, owner);
         return tag;
      }
   if (textSearchKind(statement.objectType)) {
      changeTextSearchOwner(core, statement.objectType, as<::List>(statement.object), owner);
      return tag;
   }
   if (statement.objectType == OBJECT_TYPE || statement.objectType == OBJECT_DOMAIN)
      if (const auto type = findUserType(context, statement.object)) {
         changeOwner(context, *type, *statement.newowner);
         return tag;
      }
   if (statement.objectType != OBJECT_SCHEMA)
      refuseToAlter(statement.objectType, findSystemObject(core, statement.objectType, statement.object));
   const std::string name(stringOf(statement.object));
   const auto schema = core.transaction.catalog().findSchema(name);
   if (!schema) throw SqlError(sqlstate::invalidSchemaName, "schema \"" + name + "\" does not exist");
   requireOwner(core, *schema);
   if (schema->owner != owner) {
      requireNewOwner(core, owner, invalidOid);
      requireDatabasePrivilege(core, catalog::privilege::create);
   }
   setOwner(core.transaction.editor(), *schema, owner);
   return tag;
}

} // namespace ouzel::engine
