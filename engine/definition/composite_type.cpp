#include "engine/definition/alter_target.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/rewrite_rows.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TYPE ... AS (...), and what ALTER TYPE and DROP TYPE do with such types. A composite type is a relation
// without rows.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

catalog::QualifiedName nameOf(const ::Node* name) {
   const ::List* names = isNode(name, T_TypeName) ? as<::TypeName>(name)->names : as<::List>(name);
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(names))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

catalog::Column attributeOf(CommandContext& context, const ::ColumnDef& definition) {
   const catalog::SearchPath path = context.core.searchPath();
   catalog::Column column;
   column.name = definition.colname;
   column.type = sql::resolveColumnType(definition, context.core.bindContext(path, &context.source()));
   if (column.type.oid == oid::record)
      throw SqlError(sqlstate::invalidTableDefinition,
                     "column \"" + column.name + "\" has pseudo-type " + formatType(column.type));
   return column;
}

/// Whether values of a type contain values of the relation's row type.
bool contains(const catalog::Snapshot& snapshot, Oid type, const catalog::Relation& relation) {
   const Oid element = arrayElementType(type);
   const auto part = snapshot.relationOfType(element ? element : type);
   if (!part || part->isBuiltin()) return false;
   if (part->oid == relation.oid) return true;
   return std::any_of(part->columns.begin(), part->columns.end(), [&](const catalog::Column& column) {
      return !column.isDropped && contains(snapshot, column.type.oid, relation);
   });
}

void requireNoCycle(SessionCore& core, const catalog::Relation& relation, const catalog::Column& column) {
   if (contains(core.transaction.catalog(), column.type.oid, relation))
      throw SqlError(sqlstate::invalidTableDefinition,
                     "composite type " + relation.name + " cannot be made a member of itself");
}

/// Throws if a table has values of the type, which an attribute's new type would make unreadable.
void requireUnused(SessionCore& core, const catalog::Relation& type) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const catalog::RelationPtr& other : snapshot.relations()) {
      if (other->relationKind != catalog::RelationKind::Table) continue;
      for (const catalog::Column& column : other->columns)
         if (!column.isDropped && contains(snapshot, column.type.oid, type))
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type \"" + type.name + "\" because column \"" +
                                                              other->name + "." + column.name + "\" uses it");
   }
}

} // namespace

void refreshRowValues(SessionCore& core, Oid relation) {
   const auto changed = core.transaction.catalog().relation(relation);
   for (const catalog::RelationPtr& other : core.transaction.catalog().relations()) {
      if (other->relationKind != catalog::RelationKind::Table) continue;
      std::vector<NewValue> values;
      for (const catalog::Column& column : other->columns)
         if (!column.isDropped && contains(core.transaction.catalog(), column.type.oid, *changed))
            values.push_back({column.attribute, "ouzel_current_row(" + catalog::quoteIdentifier(column.name) + ")"});
      if (values.empty()) continue;
      core.transaction.lock(other->oid, LockMode::AccessExclusive);
      requireNotInUse(core, *other, "ALTER TYPE");
      core.transaction.storage().nextCommand();
      RowRewrite(core, *other, std::move(values)).run(*other);
   }
}

std::string createCompositeType(CommandContext& context, const ::CompositeTypeStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE TYPE");
   const NewRelation target = newRelation(context, *statement.typevar);
   if (const auto existing = core.transaction.catalog().findRelation(target.schema, target.name.name);
       existing && existing->rowType)
      throw SqlError(sqlstate::duplicateObject, "type \"" + target.name.name + "\" already exists");
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.relationKind = catalog::RelationKind::Composite;
   draft.persistence = target.persistence();
   for (const ::ColumnDef* definition : ListOf<::ColumnDef>(statement.coldeflist))
      draft.columns.push_back(attributeOf(context, *definition));
   core.transaction.editor().createRelation(std::move(draft));
   return "CREATE TYPE";
}

void alterCompositeType(CommandContext& context, Oid type, const ::AlterTableCmd& command) {
   SessionCore& core = context.core;
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto relation = editor.snapshot().relation(type);
   switch (command.subtype) {
   case AT_AddColumn: {
      catalog::Column added = attributeOf(context, *as<::ColumnDef>(command.def));
      requireNoCycle(core, *relation, added);
      editor.addColumn(type, std::move(added));
      return refreshRowValues(core, type);
   }
   case AT_DropColumn: {
      if (!relation->findColumn(command.name) && command.missing_ok) {
         core.notice("column \"" + std::string(command.name) + "\" of relation \"" + relation->name +
                     "\" does not exist, skipping");
         return;
      }
      const auto behavior =
          command.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
      announceCascade(core, editor.dropColumn(type, command.name, behavior));
      return refreshRowValues(core, type);
   }
   case AT_AlterColumnType: {
      catalog::Relation changed = *relation;
      const catalog::Column& column = catalog::requireColumn(*relation, command.name);
      auto definition = *as<::ColumnDef>(command.def);
      definition.colname = command.name;
      catalog::Column altered = attributeOf(context, definition);
      requireNoCycle(core, *relation, altered);
      requireUnused(core, *relation);
      changed.columns[static_cast<size_t>(column.attribute - 1)].type = altered.type;
      return editor.replaceRelation(std::move(changed));
   }
   case AT_ChangeOwner: return changeOwner(context, *relation, *command.newowner);
   default: throwNotSupported("this form of ALTER TYPE");
   }
}

catalog::RelationPtr findCompositeType(CommandContext& context, const ::Node* name) {
   SessionCore& core = context.core;
   if (isNode(name, T_TypeName) && as<::TypeName>(name)->arrayBounds) return nullptr;
   auto found = catalog::findRelation(core.transaction.catalog(), core.searchPath(), nameOf(name));
   return found && found->relationKind == catalog::RelationKind::Composite ? found : nullptr;
}

bool dropCompositeTypes(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   std::vector<Oid> types;
   for (const ::Node* object : ListOf<>(statement.objects)) {
      if (const auto relation = findCompositeType(context, object)) {
         core.transaction.lock(relation->oid, LockMode::AccessExclusive);
         types.push_back(relation->oid);
         continue;
      }
      const SystemObject other = findSystemObject(core, OBJECT_TYPE, object);
      if (!other.missing) return false;
      if (!statement.missing_ok) throw SqlError(*other.missing);
      core.notice(other.skipped + ", skipping");
   }
   if (types.empty()) return true;
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   announceAndFree(core, core.transaction.editor().dropRelations(types, behavior));
   return true;
}

} // namespace ouzel::engine
