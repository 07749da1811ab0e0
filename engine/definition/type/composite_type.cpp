#include "engine/definition/alter_target.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/type/typed_table.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TYPE ... AS (...), and what ALTER TYPE and DROP TYPE do with such types. A composite type is a relation
// without rows.

namespace ouzel::engine {

using sql::as;
using sql::ListOf;

namespace {

/// `hasPosition`: errors say where the type's name is.
catalog::Column attributeOf(CommandContext& context, const ::ColumnDef& definition, bool hasPosition) {
   const catalog::SearchPath path = context.core.searchPath();
   catalog::Column column;
   column.name = definition.colname;
   column.type =
       sql::resolveColumnType(definition, context.core.bindContext(path, hasPosition ? &context.source() : nullptr));
   if (column.type.oid == oid::record)
      throw SqlError(sqlstate::invalidTableDefinition,
                     "column \"" + column.name + "\" has pseudo-type " + formatType(column.type));
   column.dimensions = declaredDimensions(definition);
   requireTypeUsage(context.core, column.type);
   return column;
}

/// Throws if a table has values of the type, which an attribute's new type would make unreadable.
void requireUnused(SessionCore& core, const catalog::Relation& type) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& other : snapshot.relations()) {
      if (other->storage == catalog::noStorage) continue;
      for (const catalog::Column& column : other->columns)
         if (!column.isDropped && isMadeOf(snapshot, column.type, type))
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type \"" + type.name + "\" because column \"" +
                                                              other->name + "." + column.name + "\" uses it");
   }
}

} // namespace

std::string createCompositeType(CommandContext& context, const ::CompositeTypeStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE TYPE");
   const NewRelation target = newRelation(context, *statement.typevar);
   requireNewType(core, target.schema, target.name.name);
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.relationKind = catalog::RelationKind::Composite;
   draft.persistence = target.persistence();
   for (const ::ColumnDef* definition : ListOf<::ColumnDef>(statement.coldeflist))
      draft.columns.push_back(attributeOf(context, *definition, false));
   core.transaction.editor().createRelation(std::move(draft));
   return "CREATE TYPE";
}

void alterCompositeType(CommandContext& context, Oid type, const ::AlterTableCmd& command) {
   SessionCore& core = context.core;
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto relation = editor.snapshot().relation(type);
   std::vector<catalog::RelationPtr> tables;
   if (command.subtype != AT_ChangeOwner) tables = typedTables(core, *relation, command.behavior == DROP_CASCADE);
   switch (command.subtype) {
   case AT_AddColumn: {
      catalog::Column added = attributeOf(context, *as<::ColumnDef>(command.def), true);
      requireNoCycle(core, *relation, added.type);
      editor.addColumn(type, std::move(added));
      refreshRowValues(core, type);
      return alterTypedTables(context, tables, command);
   }
   case AT_DropColumn: {
      if (!relation->findColumn(command.name) && command.missing_ok) {
         core.notice("column \"" + std::string(command.name) + "\" of relation \"" + relation->name +
                     "\" does not exist, skipping");
         return;
      }
      requireNotInTexts(core, command.name, true, "dropping an attribute");
      const auto behavior =
          command.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
      announceCascade(core, editor.dropColumn(type, command.name, behavior));
      refreshRowValues(core, type);
      return alterTypedTables(context, tables, command);
   }
   case AT_AlterColumnType: {
      catalog::Relation changed = *relation;
      const catalog::Column& column = catalog::requireColumn(*relation, command.name);
      auto definition = *as<::ColumnDef>(command.def);
      definition.colname = command.name;
      catalog::Column altered = attributeOf(context, definition, true);
      requireNoCycle(core, *relation, altered.type);
      requireUnused(core, *relation);
      catalog::Column& attribute = changed.columns[static_cast<size_t>(column.attribute - 1)];
      attribute.type = altered.type;
      attribute.dimensions = altered.dimensions;
      editor.replaceRelation(std::move(changed));
      return alterTypedTables(context, tables, command);
   }
   case AT_ChangeOwner: return changeOwner(context, *relation, *command.newowner);
   default: throwNotSupported("this form of ALTER TYPE");
   }
}

} // namespace ouzel::engine
