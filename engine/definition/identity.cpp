#include "engine/definition/definition.hpp"
#include "engine/definition/sequence.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE ... ALTER COLUMN ... ADD, SET and DROP IDENTITY: a flag of the column and the sequence behind it.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

std::string nameOf(const catalog::Relation& table, const catalog::Column& column) {
   return "column \"" + column.name + "\" of relation \"" + table.name + "\"";
}

[[noreturn]] void refuse(const std::string& message) {
   throw SqlError(sqlstate::objectNotInPrerequisiteState, message);
}

} // namespace

void addIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const catalog::Column& old = catalog::requireColumn(table, command.name);
   const auto& constraint = *as<::Constraint>(command.def);
   if (old.type.oid != oid::int2 && old.type.oid != oid::int4 && old.type.oid != oid::int8)
      throw SqlError(sqlstate::invalidParameterValue, "identity column type must be smallint, integer, or bigint");
   if (!old.notNull) refuse(nameOf(table, old) + " must be declared NOT NULL before identity can be added");
   if (old.identity) refuse(nameOf(table, old) + " is already an identity column");
   if (old.hasDefault() || old.defaultSequence != invalidOid || old.generated)
      refuse(nameOf(table, old) + " already has a default value");
   catalog::Relation changed = table;
   catalog::Column& column = changed.columns[static_cast<size_t>(old.attribute - 1)];
   column.identity = constraint.generated_when;
   attachSequence(context, table, column, column.type.oid, constraint.options);
   context.core.transaction.editor().replaceRelation(std::move(changed));
}

void setIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const catalog::Column& old = catalog::requireColumn(table, command.name);
   char identity = '\0';
   std::vector<const ::DefElem*> options;
   for (const ::DefElem* option : ListOf<::DefElem>(as<::List>(command.def))) {
      if (textOf(option->defname) != "generated") {
         options.push_back(option);
         continue;
      }
      if (identity) throw SqlError(sqlstate::syntaxError, "conflicting or redundant options");
      identity = static_cast<char>(as<::Integer>(option->arg)->ival);
   }
   if (!old.identity) refuse(nameOf(table, old) + " is not an identity column");
   const auto sequence = context.core.transaction.catalog().relation(old.defaultSequence);
   if (!options.empty() && sequence) changeSequence(context, *sequence, options);
   if (!identity) return;
   catalog::Relation changed = table;
   changed.columns[static_cast<size_t>(old.attribute - 1)].identity = identity;
   context.core.transaction.editor().replaceRelation(std::move(changed));
}

void dropIdentity(CommandContext& context, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const catalog::Column& old = catalog::requireColumn(table, command.name);
   if (!old.identity) {
      if (!command.missing_ok) refuse(nameOf(table, old) + " is not an identity column");
      context.core.notice(nameOf(table, old) + " is not an identity column, skipping");
      return;
   }
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const Oid sequence = old.defaultSequence;
   catalog::Relation changed = table;
   catalog::Column& column = changed.columns[static_cast<size_t>(old.attribute - 1)];
   column.identity = '\0';
   column.defaultSequence = invalidOid;
   editor.replaceRelation(std::move(changed));
   // The column no longer owns the sequence, so that the sequence can be dropped alone.
   if (const auto found = editor.snapshot().relation(sequence)) {
      catalog::Relation loose = *found;
      loose.sequence->ownerRelation = invalidOid;
      loose.sequence->ownerAttribute = 0;
      loose.sequence->isIdentity = false;
      editor.replaceRelation(std::move(loose));
      editor.dropRelation(sequence, catalog::DropBehavior::Restrict);
   }
}

} // namespace ouzel::engine
