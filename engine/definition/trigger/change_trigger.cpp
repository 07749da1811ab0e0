#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/part_name.hpp"
#include "engine/definition/system_object.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/trigger/trigger_list.hpp"
#include "engine/role/actor.hpp"
#include "sql/bind/binder.hpp"
#include "sql/deparse/rule.hpp"
#include "sql/parse/node_access.hpp"

// What changes triggers once they are made.

namespace ouzel::engine {

using catalog::Trigger;
using sql::as;
using sql::ListOf;
using sql::stringOf;

const Trigger& requireTrigger(const catalog::Relation& table, const std::string& name) {
   const Trigger* trigger = table.findTrigger(name);
   if (!trigger)
      throw SqlError(sqlstate::undefinedObject,
                     "trigger \"" + name + "\" for table \"" + table.name + "\" does not exist");
   return *trigger;
}

std::string dropTriggers(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP TRIGGER");
   const catalog::SearchPath path = core.searchPath();
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const auto [tableName, name] = partNameOf(object);
      const auto table = catalog::findRelation(core.transaction.catalog(), path, tableName);
      if (!table || !table->findTrigger(name)) {
         const SystemObject missing = findPartOfRelation(core, OBJECT_TRIGGER, tableName, name);
         if (!statement.missing_ok) throw SqlError(*missing.missing);
         core.notice(missing.skipped + ", skipping");
         continue;
      }
      if (!actsFor(core, table->owner))
         throw SqlError(sqlstate::insufficientPrivilege, "must be owner of relation " + table->name);
      core.transaction.lock(table->oid, LockMode::AccessExclusive);
      const auto current = core.transaction.catalog().relation(table->oid);
      const Trigger& trigger = requireTrigger(*current, name);
      if (trigger.parent != invalidOid) {
         const auto parent = core.transaction.catalog().relation(current->parents.at(0));
         const std::string above =
             "trigger " + name + " on table " + catalog::displayName(core.transaction.catalog(), path, *parent);
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop trigger " + name + " on table " +
                            catalog::displayName(core.transaction.catalog(), path, *current) + " because " + above +
                            " requires it")
             .hint("You can drop " + above + " instead.");
      }
      removeWithParts(core, *current, trigger.oid);
   }
   return "DROP TRIGGER";
}

std::string renameTrigger(CommandContext& context, const ::RenameStmt& statement) {
   SessionCore& core = context.core;
   const catalog::SearchPath path = core.searchPath();
   const auto found = requireTarget(context, path, *statement.relation);
   const auto kind = found->relationKind;
   if (kind != catalog::RelationKind::Table && kind != catalog::RelationKind::View &&
       kind != catalog::RelationKind::Virtual)
      throw SqlError(sqlstate::wrongObjectType, "relation \"" + found->name + "\" cannot have triggers")
          .detail(unsupportedFor(*found));
   requireOwner(core, *found);
   if (found->isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied: \"" + found->name + "\" is a system catalog");
   core.transaction.lock(found->oid, LockMode::AccessExclusive);
   const auto table = core.transaction.catalog().relation(found->oid);
   const Trigger& trigger = requireTrigger(*table, statement.subname);
   if (trigger.parent != invalidOid) {
      const auto parent = core.transaction.catalog().relation(table->parents.at(0));
      throw SqlError(sqlstate::internalError,
                     "cannot rename trigger \"" + trigger.name + "\" on table \"" + table->name + "\"")
          .hint("Rename the trigger on the partitioned table \"" + parent->name + "\" instead.");
   }
   const std::string name = statement.newname;
   if (table->findTrigger(name))
      throw SqlError(sqlstate::duplicateObject,
                     "trigger \"" + name + "\" for relation \"" + table->name + "\" already exists");
   changeWithParts(core, *table, trigger.oid, [&](Trigger& one) { one.name = name; });
   return "ALTER TRIGGER";
}

namespace {

/// Changes how the foreign keys of a table, and those that reference it, are minded. In PostgreSQL they are triggers of
/// the two tables.
void mindForeignKeys(SessionCore& core, const catalog::Relation& table, bool minds) {
   using catalog::Constraint;
   catalog::CatalogEditor& editor = core.transaction.editor();
   std::vector<Oid> partitions;
   if (table.partitionKey) partitions = editor.snapshot().allHeirOids(table.oid);
   for (const catalog::RelationPtr& relation : editor.snapshot().relations()) {
      const bool isPartition = std::ranges::find(partitions, relation->oid) != partitions.end();
      const auto isOwn = [&](const Constraint& constraint) {
         return constraint.kind == catalog::ConstraintKind::ForeignKey &&
                (relation->oid == table.oid || (isPartition && constraint.parentConstraint != invalidOid));
      };
      const auto isReferenced = [&](const Constraint& constraint) {
         return constraint.kind == catalog::ConstraintKind::ForeignKey && constraint.foreignRelation == table.oid;
      };
      const auto concerned = std::ranges::find_if(
          relation->constraints, [&](const Constraint& one) { return isOwn(one) || isReferenced(one); });
      if (concerned == relation->constraints.end()) continue;
      requireSuperuser(core, std::string("permission denied: \"RI_ConstraintTrigger_") +
                                 (isOwn(*concerned) ? "c_" : "a_") + std::to_string(concerned->oid) +
                                 "\" is a system trigger");
      catalog::Relation draft = *relation;
      for (Constraint& constraint : draft.constraints) {
         if (isOwn(constraint)) constraint.mindsReferencing = minds;
         if (isReferenced(constraint)) constraint.mindsReferenced = minds;
      }
      editor.replaceRelation(std::move(draft));
   }
}

} // namespace

void enableTriggers(SessionCore& core, const catalog::Relation& table, const ::AlterTableCmd& command) {
   const bool isAll = command.subtype == AT_EnableTrigAll || command.subtype == AT_DisableTrigAll ||
                      command.subtype == AT_EnableTrigUser || command.subtype == AT_DisableTrigUser;
   char enabled = 'O';
   switch (command.subtype) {
   case AT_DisableTrig:
   case AT_DisableTrigAll:
   case AT_DisableTrigUser: enabled = 'D'; break;
   case AT_EnableAlwaysTrig: enabled = 'A'; break;
   case AT_EnableReplicaTrig: enabled = 'R'; break;
   default: break;
   }
   if (command.subtype == AT_DisableTrigAll) mindForeignKeys(core, table, false);
   if (command.subtype == AT_EnableTrigAll) mindForeignKeys(core, table, true);
   std::vector<Oid> chosen;
   if (isAll)
      for (const Trigger& trigger : table.triggers)
         chosen.push_back(trigger.oid);
   else
      chosen.push_back(requireTrigger(table, command.name).oid);
   for (const Oid trigger : chosen)
      changeWithParts(core, *core.transaction.catalog().relation(table.oid), trigger,
                      [&](Trigger& one) { one.enabled = enabled; });
}

void inheritTriggers(SessionCore& core, const catalog::Relation& parent, Oid partition) {
   for (const Trigger& trigger : parent.triggers)
      if (hasParts(parent, trigger)) addPart(core, trigger, parent, partition);
}

void disinheritTriggers(SessionCore& core, const catalog::Relation& parent, Oid partition) {
   for (const Trigger& trigger : parent.triggers) {
      const auto table = core.transaction.catalog().relation(partition);
      for (const Trigger& part : table->triggers)
         if (part.parent == trigger.oid) {
            removeWithParts(core, *table, part.oid);
            break;
         }
   }
}

RenamedTriggers::RenamedTriggers(SessionCore& core, Oid relation, int16_t attribute, const std::string& name) {
   const catalog::SearchPath path = core.searchPath();
   const sql::BindContext context = core.bindContext(path, nullptr);
   for (const catalog::RelationPtr& table : core.transaction.catalog().relations()) {
      std::vector<Trigger> triggers = table->triggers;
      bool isConcerned = false;
      for (Trigger& trigger : triggers) {
         if (trigger.condition.empty() || !trigger.reads(relation, attribute)) continue;
         isConcerned = true;
         trigger = sql::deparse::renamedTrigger(trigger, table, {relation, attribute, name}, context);
      }
      if (isConcerned) changed_.emplace_back(table->oid, std::move(triggers));
   }
}

void RenamedTriggers::put(SessionCore& core) const {
   for (const auto& [table, triggers] : changed_)
      putTriggers(core, *core.transaction.editor().snapshot().relation(table), triggers);
}

void requireNotInTriggers(SessionCore& core, const catalog::Relation& table, int16_t attribute) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   for (const Trigger& trigger : table.triggers)
      if (trigger.names(attribute) || trigger.reads(table.oid, attribute))
         throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used in a trigger definition")
             .detail("trigger " + trigger.name + " on table " +
                     catalog::displayName(snapshot, core.searchPath(), table) + " depends on column \"" +
                     table.column(attribute)->name + "\"");
}

} // namespace ouzel::engine
