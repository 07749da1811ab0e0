#include "engine/definition/partition/alter_heirs.hpp"

#include <algorithm>
#include <set>

#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "common/thread/stack.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_table.hpp"
#include "engine/definition/partition/inherited.hpp"
#include "engine/definition/partition/keys.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE of tables from which others inherit.

namespace ouzel::engine {

using catalog::Column;
using catalog::Constraint;
using catalog::RelationPtr;
using sql::as;

namespace {

[[noreturn]] void refuse(const std::string& message, const char* hint = nullptr) {
   SqlError error(sqlstate::invalidTableDefinition, message);
   if (hint) throw std::move(error).hint(hint);
   throw error;
}

constexpr const char* withoutOnly = "Do not specify the ONLY keyword.";

void requireNoKeyColumn(const catalog::Relation& table, const char* name, std::string_view verb) {
   const Column* column = table.findColumn(name);
   if (column && table.partitionKey && table.partitionKey->has(column->attribute))
      refuse("cannot " + std::string(verb) + " column \"" + column->name +
             "\" because it is part of the partition key of relation \"" + table.name + "\"");
}

/// A CHECK constraint that heirs are to have, too.
const ::Constraint* inheritableCheck(const ::AlterTableCmd& command) {
   if (command.subtype != AT_AddConstraint) return nullptr;
   const auto* constraint = as<::Constraint>(command.def);
   return constraint->contype == CONSTR_CHECK && !constraint->is_no_inherit ? constraint : nullptr;
}

void requireNotInherited(const catalog::Snapshot& snapshot, const catalog::Relation& table,
                         const ::AlterTableCmd& command) {
   const Column* column = command.name ? table.findColumn(command.name) : nullptr;
   switch (command.subtype) {
   case AT_DropColumn:
      if (column && column->parentCount > 0) refuse("cannot drop inherited column \"" + column->name + "\"");
      return requireNoKeyColumn(table, command.name, "drop");
   case AT_AlterColumnType:
      if (column && column->parentCount > 0) refuse("cannot alter inherited column \"" + column->name + "\"");
      return requireNoKeyColumn(table, command.name, "alter");
   case AT_DropNotNull:
      if (!column || !table.isPartition()) return;
      if (const RelationPtr parent = snapshot.relation(table.parents[0]))
         if (const Column* above = parent->findColumn(column->name); above && above->notNull)
            refuse("column \"" + column->name + "\" is marked NOT NULL in parent table");
      return;
   case AT_DropExpression:
      if (column && column->parentCount > 0) refuse("cannot drop generation expression from inherited column");
      return;
   case AT_DropConstraint: {
      const Constraint* constraint = table.findConstraint(command.name);
      const bool isInherited =
          constraint ? constraint->parentCount > 0
                     : std::ranges::any_of(catalog::foreignKeyParts(snapshot, table),
                                           [&](const Constraint& part) { return part.name == command.name; });
      if (isInherited)
         refuse("cannot drop inherited constraint \"" + std::string(command.name) + "\" of relation \"" + table.name +
                "\"");
      return;
   }
   case AT_AddColumn:
      if (table.isPartition()) throw SqlError(sqlstate::wrongObjectType, "cannot add column to a partition");
      return;
   default: return;
   }
}

void requireReaching(const catalog::Relation& table, const ::AlterTableCmd& command) {
   switch (command.subtype) {
   case AT_AddColumn: refuse("column must be added to child tables too");
   case AT_DropColumn:
      if (!table.partitionKey) return;
      refuse("cannot drop column from only the partitioned table when partitions exist", withoutOnly);
   case AT_AlterColumnType:
      refuse("type of inherited column \"" + std::string(command.name) + "\" must be changed in child tables too");
   case AT_SetNotNull:
      if (!table.partitionKey) return;
      refuse("constraint must be added to child tables too", withoutOnly);
   case AT_DropNotNull:
      if (!table.partitionKey) return;
      refuse("cannot remove constraint from only the partitioned table when partitions exist", withoutOnly);
   case AT_AddConstraint:
      if (inheritableCheck(command)) refuse("constraint must be added to child tables too");
      return;
   case AT_DropConstraint:
      if (!table.partitionKey) return;
      refuse("cannot remove constraint from only the partitioned table when partitions exist", withoutOnly);
   default: return;
   }
}

} // namespace

void requireChangeable(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command, bool isOnly) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   requireNotInherited(snapshot, table, command);
   if (table.partitionKey && command.subtype == AT_AddConstraint && as<::Constraint>(command.def)->is_no_inherit)
      refuse("cannot add NO INHERIT constraint to partitioned table \"" + table.name + "\"");
   if (isOnly && !snapshot.heirOids(table.oid).empty()) requireReaching(table, command);
}

void requireHeirsAlterable(SessionCore& core, const catalog::Relation& table) {
   for (const Oid oid : core.transaction.editor().snapshot().allHeirOids(table.oid)) {
      const RelationPtr heir = core.transaction.catalog().relation(oid);
      requireOwner(core, *heir);
      requireNotInUse(core, *heir, "ALTER TABLE");
   }
}

namespace {

/// The heirs for which a sub-command that only sets something has been run: some inherit in several ways.
using DoneSet = std::set<std::pair<Oid, const ::AlterTableCmd*>>;

/// Carries the sub-commands on to one heir and to those below it.
class HeirAlteration {
public:
   /// `altered`: the table that the statement names and all that inherits from it.
   HeirAlteration(CommandContext& context, Oid heir, const std::set<Oid>& altered, DoneSet& done)
      : context_(context), editor_(context.core.transaction.editor()), heir_(heir), altered_(altered), done_(done) {}

   void run(const AlterCommands& commands, const catalog::Relation& parentBefore, bool isOnly);

private:
   RelationPtr heir() const { return editor_.snapshot().relation(heir_); }
   bool applies(const ::AlterTableCmd& command, bool isOnly);
   bool dropsColumn(const ::AlterTableCmd& command, bool isOnly);
   bool dropsConstraint(const ::AlterTableCmd& command, bool isOnly);
   bool addsColumn(const ::AlterTableCmd& command);
   void requireAllParents(const ::AlterTableCmd& command) const;

   CommandContext& context_;
   catalog::CatalogEditor& editor_;
   const Oid heir_;
   const std::set<Oid>& altered_;
   DoneSet& done_;
};

/// A column that the heir has already is merged with the new one.
bool HeirAlteration::addsColumn(const ::AlterTableCmd& command) {
   const auto& definition = *as<::ColumnDef>(command.def);
   const RelationPtr table = heir();
   const Column* column = table->findColumn(definition.colname);
   if (!column) return true;
   const catalog::SearchPath path = context_.core.searchPath();
   const SqlType type = sql::resolveColumnType(definition, context_.core.bindContext(path, &context_.source()));
   if (type.oid != column->type.oid || type.typmod != column->type.typmod)
      throw SqlError(sqlstate::datatypeMismatch,
                     "child table \"" + table->name + "\" has different type for column \"" + column->name + "\"");
   if (type.collation != column->type.collation)
      throw SqlError(sqlstate::collationMismatch,
                     "child table \"" + table->name + "\" has different collation for column \"" + column->name + "\"");
   context_.core.notice("merging definition of column \"" + column->name + "\" for child \"" + table->name + "\"");
   catalog::Relation changed = *table;
   ++changed.columns[static_cast<size_t>(column->attribute - 1)].parentCount;
   editor_.replaceRelation(std::move(changed));
   return false;
}

bool HeirAlteration::dropsColumn(const ::AlterTableCmd& command, bool isOnly) {
   catalog::Relation changed = *heir();
   const Column* column = changed.findColumn(command.name);
   if (!column) return false;
   Column& own = changed.columns[static_cast<size_t>(column->attribute - 1)];
   if (!isOnly && own.parentCount <= 1 && !own.isLocal) return true;
   if (own.parentCount > 0) --own.parentCount;
   if (isOnly) own.isLocal = true;
   editor_.replaceRelation(std::move(changed));
   return false;
}

bool HeirAlteration::dropsConstraint(const ::AlterTableCmd& command, bool isOnly) {
   catalog::Relation changed = *heir();
   const auto own = std::find_if(changed.constraints.begin(), changed.constraints.end(),
                                 [&](const Constraint& one) { return one.name == command.name; });
   if (own == changed.constraints.end() || own->kind != catalog::ConstraintKind::Check) return false;
   if (!isOnly && own->parentCount <= 1 && !own->isLocal) return true;
   if (own->parentCount > 0) --own->parentCount;
   if (isOnly) own->isLocal = true;
   editor_.replaceRelation(std::move(changed));
   return false;
}

/// A column keeps its type if the heir has it from a parent that keeps its own.
void HeirAlteration::requireAllParents(const ::AlterTableCmd& command) const {
   const RelationPtr table = heir();
   const Column* column = table->findColumn(command.name);
   const auto among = std::count_if(table->parents.begin(), table->parents.end(),
                                    [&](Oid parent) { return altered_.contains(parent); });
   if (column && column->parentCount > among)
      refuse("cannot alter inherited column \"" + column->name + "\" of relation \"" + table->name + "\"");
}

/// Whether the sub-command is to be run for the heir as it was for its parent.
bool HeirAlteration::applies(const ::AlterTableCmd& command, bool isOnly) {
   switch (command.subtype) {
   case AT_AddColumn: return !isOnly && addsColumn(command);
   case AT_DropColumn: return dropsColumn(command, isOnly);
   case AT_DropConstraint: return dropsConstraint(command, isOnly);
   case AT_AlterColumnType: requireAllParents(command); [[fallthrough]];
   case AT_ColumnDefault:
   case AT_SetNotNull:
   case AT_DropNotNull:
   case AT_SetStatistics:
   case AT_SetStorage:
   case AT_DropExpression: return !isOnly && done_.insert({heir_, &command}).second;
   case AT_ValidateConstraint: {
      const RelationPtr table = heir();
      const Constraint* constraint = table->findConstraint(command.name);
      return !isOnly && constraint && !constraint->isValidated;
   }
   default: return false;
   }
}

void HeirAlteration::run(const AlterCommands& commands, const catalog::Relation& parentBefore, bool isOnly) {
   checkStack();
   const RelationPtr before = heir();
   AlterCommands own;
   std::vector<std::string> dropped; // columns that the statement also adds anew
   for (const ::AlterTableCmd* command : commands) {
      const bool isAnew =
          command->subtype == AT_AddColumn &&
          std::find(dropped.begin(), dropped.end(), as<::ColumnDef>(command->def)->colname) != dropped.end();
      if (!isAnew && !applies(*command, isOnly)) continue;
      own.push_back(command);
      if (command->subtype == AT_DropColumn) dropped.emplace_back(command->name);
   }
   TableAlteration alteration(context_, heir_, true);
   for (const ::AlterTableCmd* command : own) {
      if (command->subtype == AT_DropColumn) requireNoKeyColumn(*before, command->name, "drop");
      if (command->subtype == AT_AlterColumnType) requireNoKeyColumn(*before, command->name, "alter");
      alteration.add(*command);
   }
   alteration.run();
   if (isOnly) return;
   bool hasNewChecks = false;
   const RelationPtr parent = editor_.snapshot().relation(parentBefore.oid);
   for (const Constraint& check : parent->constraints) {
      const bool isNew = check.kind == catalog::ConstraintKind::Check && !check.noInherit &&
                         std::none_of(parentBefore.constraints.begin(), parentBefore.constraints.end(),
                                      [&](const Constraint& old) { return old.oid == check.oid; });
      if (!isNew) continue;
      context_.core.transaction.storage().nextCommand();
      const bool merges = heir()->findConstraint(check.name) != nullptr;
      inheritCheck(context_, heir_, check);
      hasNewChecks = hasNewChecks || !merges;
   }
   if (own.empty() && !hasNewChecks) return;
   for (const Oid below : editor_.snapshot().heirOids(heir_))
      HeirAlteration(context_, below, altered_, done_).run(own, *before, false);
}

} // namespace

void alterHeirs(CommandContext& context, const catalog::Relation& before, const AlterCommands& commands, bool isOnly) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const std::vector<Oid> all = editor.snapshot().allHeirOids(before.oid);
   std::set<Oid> altered(all.begin(), all.end());
   altered.insert(before.oid);
   DoneSet done;
   for (const Oid heir : editor.snapshot().heirOids(before.oid))
      HeirAlteration(context, heir, altered, done).run(commands, before, isOnly);
   const RelationPtr after = editor.snapshot().relation(before.oid);
   if (!after->partitionKey || isOnly) return;
   std::set<Oid> added;
   for (const catalog::Constraint& constraint : after->constraints)
      if (std::none_of(before.constraints.begin(), before.constraints.end(),
                       [&](const catalog::Constraint& one) { return one.oid == constraint.oid; }))
         added.insert(constraint.ownsIndex() ? constraint.index : constraint.oid);
   spreadKeys(context, before.oid, added);
}

} // namespace ouzel::engine
