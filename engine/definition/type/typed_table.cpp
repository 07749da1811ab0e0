#include "engine/definition/type/typed_table.hpp"

#include "catalog/pg_catalog/functions.hpp"
#include "engine/definition/alter_table.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/partition/alter_heirs.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

// Typed tables: their columns are the attributes of a composite type, and change with it only.

namespace ouzel::engine {

catalog::RelationPtr requireTableType(CommandContext& context, const ::TypeName& name) {
   SessionCore& core = context.core;
   const catalog::SearchPath path = core.searchPath();
   const SqlType type = sql::resolveTypeName(name, core.bindContext(path, nullptr)); // errors have no position
   requireTypeUsage(core, type);
   auto found = isRowValue(type.named()) ? core.transaction.catalog().relationOfType(type.named()) : nullptr;
   if (!found || found->relationKind != catalog::RelationKind::Composite)
      throw SqlError(sqlstate::wrongObjectType, "type " +
                                                    catalog::formatType({core.transaction.catalog(), path, core.role()},
                                                                        type.named(), std::nullopt) +
                                                    " is not a composite type");
   return found;
}

void attachType(CommandContext& context, const catalog::Relation& table, const ::TypeName& name) {
   const auto type = requireTableType(context, name);
   if (!table.parents.empty()) throw SqlError(sqlstate::wrongObjectType, "typed tables cannot inherit");
   const auto refuse = [](const std::string& message) { throw SqlError(sqlstate::datatypeMismatch, message); };
   size_t next = 0;
   const auto nextColumn = [&]() -> const catalog::Column* {
      while (next < table.columns.size() && table.columns[next].isDropped)
         ++next;
      return next < table.columns.size() ? &table.columns[next++] : nullptr;
   };
   for (const catalog::Column& wanted : type->columns) {
      if (wanted.isDropped) continue;
      const catalog::Column* column = nextColumn();
      if (!column) refuse("table is missing column \"" + wanted.name + "\"");
      if (column->name != wanted.name)
         refuse("table has column \"" + column->name + "\" where type requires \"" + wanted.name + "\"");
      if (column->type != wanted.type || column->type.domain != wanted.type.domain)
         refuse("table \"" + table.name + "\" has different type for column \"" + column->name + "\"");
   }
   if (const catalog::Column* extra = nextColumn()) refuse("table has extra column \"" + extra->name + "\"");
   catalog::Relation changed = table;
   changed.ofType = type->rowType;
   context.core.transaction.editor().replaceRelation(std::move(changed));
}

void detachType(SessionCore& core, const catalog::Relation& table) {
   if (table.ofType == invalidOid)
      throw SqlError(sqlstate::wrongObjectType, "\"" + table.name + "\" is not a typed table");
   catalog::Relation changed = table;
   changed.ofType = invalidOid;
   core.transaction.editor().replaceRelation(std::move(changed));
}

void requireNotTyped(const catalog::Relation& table, const ::AlterTableCmd& command) {
   if (table.ofType == invalidOid) return;
   const char* problem = nullptr;
   switch (command.subtype) {
   case AT_AddColumn: problem = "cannot add column to typed table"; break;
   case AT_DropColumn: problem = "cannot drop column from typed table"; break;
   case AT_AlterColumnType: problem = "cannot alter column type of typed table"; break;
   case AT_AddInherit:
   case AT_DropInherit: problem = "cannot change inheritance of typed table"; break;
   default: return;
   }
   throw SqlError(sqlstate::wrongObjectType, problem);
}

std::vector<catalog::RelationPtr> typedTables(SessionCore& core, const catalog::Relation& type, bool cascades) {
   std::vector<catalog::RelationPtr> tables;
   for (const catalog::RelationPtr& table : core.transaction.catalog().relations()) {
      if (table->ofType != type.rowType) continue;
      if (!cascades)
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot alter type \"" + type.name + "\" because it is the type of a typed table")
             .hint("Use ALTER ... CASCADE to alter the typed tables too.");
      tables.push_back(lockFound(core, LockMode::AccessExclusive, true,
                                 [&] { return core.transaction.catalog().relation(table->oid); }));
   }
   std::erase(tables, nullptr);
   return tables;
}

void alterTypedTables(CommandContext& context, const std::vector<catalog::RelationPtr>& tables,
                      const ::AlterTableCmd& command) {
   for (const catalog::RelationPtr& table : tables) {
      requireNotInUse(context.core, *table, "ALTER TABLE");
      TableAlteration alteration(context, table->oid);
      alteration.add(command);
      alteration.run();
      alterHeirs(context, *table, {&command}, false);
   }
}

} // namespace ouzel::engine
