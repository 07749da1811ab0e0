#include "engine/definition/partition/partition.hpp"

#include <algorithm>

#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/partition/bound.hpp"
#include "engine/definition/partition/inherited.hpp"
#include "engine/definition/partition/keys.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/query/internal_sql.hpp"
#include "sql/parse/node_access.hpp"

// Tables become partitions or heirs of others, and cease to be.

namespace ouzel::engine {

using catalog::Column;
using catalog::Constraint;
using catalog::ConstraintKind;
using catalog::RelationPtr;
using sql::as;

void makePartitioned(CommandContext& context, const ::PartitionSpec& spec, catalog::Relation& draft) {
   draft.partitionKey = partitionKeyOf(context, spec, draft);
   for (const Constraint& constraint : draft.constraints)
      if (constraint.kind == ConstraintKind::PrimaryKey || constraint.kind == ConstraintKind::Unique)
         requirePartitionColumns(draft, constraint.columns,
                                 constraint.kind == ConstraintKind::PrimaryKey ? "PRIMARY KEY" : "UNIQUE");
      else if (constraint.kind == ConstraintKind::Check && constraint.noInherit)
         throw SqlError(sqlstate::invalidTableDefinition,
                        "cannot add NO INHERIT constraint to partitioned table \"" + draft.name + "\"");
}

void makePartition(CommandContext& context, const ::PartitionBoundSpec& spec, const catalog::Relation& parent,
                   catalog::Relation& draft) {
   catalog::PartitionBound bound = partitionBoundOf(context, spec, parent);
   requireFreeBound(context, spec, parent, bound, draft.name);
   requireDefaultWithout(context.core, parent, bound);
   draft.bound = std::move(bound);
}

namespace {

/// The relation that a sub-command names, locked.
RelationPtr lockedTarget(CommandContext& context, const ::RangeVar& name, LockMode mode) {
   SessionCore& core = context.core;
   return lockFound(core, mode, true, [&] { return requireTarget(context, core.searchPath(), name); });
}

std::string quoted(const catalog::Relation& relation) {
   return "\"" + relation.name + "\"";
}

/// Counts the columns and constraints of a parent in a table that comes to inherit from it. Throws 42804 for what is
/// missing or differs.
void inheritAll(CommandContext& context, catalog::Relation& heir, const catalog::Relation& parent) {
   const auto refuse = [](const std::string& message) { throw SqlError(sqlstate::datatypeMismatch, message); };
   for (const Column& above : parent.columns) {
      if (above.isDropped) continue;
      const auto own = std::find_if(heir.columns.begin(), heir.columns.end(), [&](const Column& column) {
         return !column.isDropped && column.name == above.name;
      });
      if (own == heir.columns.end()) refuse("child table is missing column \"" + above.name + "\"");
      if (own->type.oid != above.type.oid || own->type.typmod != above.type.typmod)
         refuse("child table " + quoted(heir) + " has different type for column \"" + above.name + "\"");
      if (own->type.collation != above.type.collation)
         throw SqlError(sqlstate::collationMismatch,
                        "child table " + quoted(heir) + " has different collation for column \"" + above.name + "\"");
      if (above.notNull && !own->notNull)
         refuse("column \"" + above.name + "\" in child table must be marked NOT NULL");
      if (above.generated && !own->generated)
         refuse("column \"" + above.name + "\" in child table must be a generated column");
      if (above.generated && own->defaultExpr != above.defaultExpr)
         refuse("column \"" + above.name + "\" in child table has a conflicting generation expression");
      ++own->parentCount;
      if (parent.partitionKey) own->isLocal = false;
   }
   for (const Constraint& above : parent.constraints) {
      if (above.kind != ConstraintKind::Check || above.noInherit) continue;
      const auto own = std::find_if(heir.constraints.begin(), heir.constraints.end(),
                                    [&](const Constraint& one) { return one.name == above.name; });
      if (own == heir.constraints.end()) refuse("child table is missing constraint \"" + above.name + "\"");
      if (own->kind != ConstraintKind::Check ||
          !isSameExpression(context, own->expression, above.expression, &heir, std::nullopt))
         refuse("child table " + quoted(heir) + " has different definition for check constraint \"" + above.name +
                "\"");
      if (own->noInherit)
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "constraint \"" + above.name + "\" conflicts with non-inherited constraint on child table " +
                            quoted(heir));
      if (above.isValidated && !own->isValidated)
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "constraint \"" + above.name + "\" conflicts with NOT VALID constraint on child table " +
                            quoted(heir));
      ++own->parentCount;
      if (parent.partitionKey) own->isLocal = false;
   }
   heir.parents.push_back(parent.oid);
}

/// The reverse: what the table inherited only from this parent is its own from now on.
void disinherit(catalog::Relation& heir, const catalog::Relation& parent) {
   const auto drop = [](auto& part) {
      if (part.parentCount > 0 && --part.parentCount == 0) part.isLocal = true;
   };
   for (const Column& above : parent.columns)
      for (Column& own : heir.columns)
         if (!above.isDropped && !own.isDropped && own.name == above.name) drop(own);
   for (const Constraint& above : parent.constraints)
      for (Constraint& own : heir.constraints)
         if (above.kind == ConstraintKind::Check && own.kind == ConstraintKind::Check && own.name == above.name)
            drop(own);
   std::erase(heir.parents, parent.oid);
}

void requireNoCircle(const catalog::Snapshot& snapshot, const catalog::Relation& heir,
                     const catalog::Relation& parent) {
   const std::vector<Oid> below = snapshot.allHeirOids(heir.oid);
   if (heir.oid != parent.oid && std::find(below.begin(), below.end(), parent.oid) == below.end()) return;
   throw SqlError(sqlstate::duplicateTable, "circular inheritance not allowed")
       .detail(quoted(parent) + " is already a child of " + quoted(heir) + ".");
}

void requireTable(const catalog::Relation& relation) {
   if (relation.relationKind != catalog::RelationKind::Table || relation.isBuiltin())
      throw SqlError(sqlstate::wrongObjectType, quoted(relation) + " is not a table or foreign table");
}

void requireAttachable(SessionCore& core, const catalog::Relation& child, const catalog::Relation& parent) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const auto refuse = [](const std::string& message) { throw SqlError(sqlstate::wrongObjectType, message); };
   requireTable(child);
   requireOwner(core, child);
   if (child.isPartition()) refuse(quoted(child) + " is already a partition");
   if (!child.parents.empty()) refuse("cannot attach inheritance child as partition");
   if (!child.partitionKey && !snapshot.heirOids(child.oid).empty())
      refuse("cannot attach inheritance parent as partition");
   requireNoCircle(snapshot, child, parent);
   const bool isTemporary = child.persistence == catalog::Persistence::Temporary,
              ofTemporary = parent.persistence == catalog::Persistence::Temporary;
   if (ofTemporary && !isTemporary)
      refuse("cannot attach a permanent relation as partition of temporary relation " + quoted(parent));
   if (!ofTemporary && isTemporary)
      refuse("cannot attach a temporary relation as partition of permanent relation " + quoted(parent));
   for (const Column& column : child.columns)
      if (!column.isDropped && !parent.findColumn(column.name))
         throw SqlError(sqlstate::datatypeMismatch, "table " + quoted(child) + " contains column \"" + column.name +
                                                        "\" not found in parent " + quoted(parent))
             .detail("The new partition may contain only the columns present in parent.");
}

/// All rows of a table that becomes a partition must belong there.
void requireRowsWithin(SessionCore& core, const catalog::Relation& table) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const std::string condition = partitionConstraintText(snapshot, table);
   if (condition.empty() || table.foreign) return;
   const auto rows = runOnNewest(core, "SELECT 1 FROM " + quotedTable(snapshot, table) + " WHERE (" + condition +
                                           ") IS NOT TRUE LIMIT 1");
   if (rows.empty()) return;
   throw SqlError(sqlstate::checkViolation,
                  "partition constraint of relation " + quoted(table) + " is violated by some row")
       .table(snapshot.schema(table.schema)->name, table.name);
}

} // namespace

namespace {

/// A partition whose rows others reference through a partitioned table stays.
void requireNotReferenced(SessionCore& core, const catalog::Relation& partition) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const std::vector<std::pair<Oid, Oid>> own = referencesTo(core, partition.oid),
                                          all = referencesToRows(core, partition.oid);
   for (const auto& [childOid, constraintOid] : all) {
      if (std::find(own.begin(), own.end(), std::pair(childOid, constraintOid)) != own.end()) continue;
      const RelationPtr child = snapshot.relation(childOid);
      const Constraint* constraint = snapshot.constraint(constraintOid).second;
      std::string equalities;
      const RelationPtr parent = snapshot.relation(constraint->foreignRelation);
      for (size_t i = 0; i < constraint->columns.size(); ++i)
         equalities += (i ? " AND p." : "p.") +
                       catalog::quoteIdentifier(parent->column(constraint->foreignColumns[i])->name) + " = c." +
                       catalog::quoteIdentifier(child->column(constraint->columns[i])->name);
      core.transaction.lock(childOid, LockMode::ShareRowExclusive);
      const auto rows = runOnNewest(core, "SELECT 1 FROM " + quotedTable(snapshot, partition) + " p JOIN " +
                                              quotedTable(snapshot, *child) + " c ON " + equalities + " LIMIT 1");
      if (rows.empty()) continue;
      const std::string name = catalog::partName(snapshot, *child, *constraint, partition.oid);
      throw SqlError(sqlstate::foreignKeyViolation,
                     "removing partition " + quoted(partition) + " violates foreign key constraint \"" + name + "\"")
          .table(snapshot.schema(child->schema)->name, child->name)
          .constraint(name);
   }
}

} // namespace

namespace {

/// Throws 55000 if a row trigger of the table has transition tables.
void requireNoRowTransitions(const catalog::Relation& table, const char* what, const char* plural) {
   for (const catalog::Trigger& trigger : table.triggers)
      if (trigger.has(catalog::trigger_bit::row) && trigger.hasTransitionTables())
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "trigger \"" + trigger.name + "\" prevents table \"" + table.name + "\" from becoming " + what)
             .detail(std::string("ROW triggers with transition tables are not supported on ") + plural + ".");
}

} // namespace

namespace {

/// Throws 42809 if the partitioned table, which a foreign table joins, has keys.
void requireNoUniqueKeys(const catalog::Snapshot& snapshot, const catalog::Relation& child,
                         const catalog::Relation& parent) {
   for (const RelationPtr& index : snapshot.indexesOf(parent.oid))
      if (index->index->isUnique)
         throw SqlError(sqlstate::wrongObjectType, "cannot attach foreign table " + quoted(child) +
                                                       " as partition of partitioned table " + quoted(parent))
             .detail("Partitioned table " + quoted(parent) + " contains unique indexes.");
}

} // namespace

void attachPartition(CommandContext& context, const catalog::Relation& parent, const ::AlterTableCmd& command) {
   SessionCore& core = context.core;
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto& partition = *as<::PartitionCmd>(command.def);
   if (!parent.partitionKey)
      throw SqlError(sqlstate::invalidObjectDefinition, "table " + quoted(parent) + " is not partitioned");
   const RelationPtr child = lockedTarget(context, *partition.name, LockMode::AccessExclusive);
   requireAttachable(core, *child, parent);
   requireNoRowTransitions(*child, "a partition", "partitions");
   catalog::Relation changed = *child;
   catalog::PartitionBound bound = partitionBoundOf(context, *partition.bound, parent);
   requireFreeBound(context, *partition.bound, parent, bound, child->name);
   requireDefaultWithout(core, parent, bound);
   inheritAll(context, changed, parent);
   changed.bound = std::move(bound);
   editor.replaceRelation(std::move(changed));
   requireRowsWithin(core, *editor.snapshot().relation(child->oid));
   if (child->foreign) requireNoUniqueKeys(editor.snapshot(), *child, parent);
   spreadKeys(context, parent.oid, child->oid, true);
   inheritTriggers(core, parent, child->oid);
}

void detachPartition(CommandContext& context, const catalog::Relation& parent, const ::AlterTableCmd& command) {
   SessionCore& core = context.core;
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto& partition = *as<::PartitionCmd>(command.def);
   if (!parent.partitionKey)
      throw SqlError(sqlstate::wrongObjectType,
                     "ALTER action DETACH PARTITION cannot be performed on relation " + quoted(parent))
          .detail("This operation is not supported for tables.");
   if (partition.concurrent) refuseInBlock(core, "ALTER TABLE ... DETACH CONCURRENTLY");
   const auto siblings = editor.snapshot().heirs(parent.oid);
   if (partition.concurrent && siblings && siblings->map->defaultPartition() != catalog::PartitionMap::none)
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "cannot detach partitions concurrently when a default partition exists");
   const RelationPtr child = lockedTarget(context, *partition.name, LockMode::AccessExclusive);
   if (!child->isPartition() || child->parents[0] != parent.oid)
      throw SqlError(sqlstate::undefinedTable,
                     "relation " + quoted(*child) + " is not a partition of relation " + quoted(parent));
   requireNotReferenced(core, *child);
   catalog::Relation changed = *child;
   disinherit(changed, parent);
   changed.bound.reset();
   for (Constraint& constraint : changed.constraints)
      if (constraint.parentConstraint != invalidOid) {
         constraint.parentConstraint = invalidOid;
         constraint.parentCount = 0;
         constraint.isLocal = true;
      }
   editor.replaceRelation(std::move(changed));
   for (const RelationPtr& index : editor.snapshot().indexesOf(child->oid)) {
      if (index->index->parentIndex == invalidOid) continue;
      catalog::Relation alone = *index;
      alone.index->parentIndex = invalidOid;
      editor.replaceRelation(std::move(alone));
   }
   disinheritTriggers(core, parent, child->oid);
}

void addParent(CommandContext& context, const catalog::Relation& heir, const ::AlterTableCmd& command) {
   SessionCore& core = context.core;
   if (heir.isPartition()) throw SqlError(sqlstate::wrongObjectType, "cannot change inheritance of a partition");
   if (heir.partitionKey) throw SqlError(sqlstate::wrongObjectType, "cannot change inheritance of partitioned table");
   const RelationPtr parent = lockedTarget(context, *as<::RangeVar>(command.def), LockMode::ShareUpdateExclusive);
   requireTable(*parent);
   requireOwner(core, *parent);
   const auto refuse = [](const std::string& message) { throw SqlError(sqlstate::wrongObjectType, message); };
   requireNoRowTransitions(heir, "an inheritance child", "inheritance children");
   if (parent->persistence == catalog::Persistence::Temporary && heir.persistence != catalog::Persistence::Temporary)
      refuse("cannot inherit from temporary relation " + quoted(*parent));
   if (parent->partitionKey) refuse("cannot inherit from partitioned table " + quoted(*parent));
   if (parent->isPartition()) refuse("cannot inherit from a partition");
   if (std::find(heir.parents.begin(), heir.parents.end(), parent->oid) != heir.parents.end())
      throw SqlError(sqlstate::duplicateTable,
                     "relation " + quoted(*parent) + " would be inherited from more than once");
   catalog::CatalogEditor& editor = core.transaction.editor();
   requireNoCircle(editor.snapshot(), heir, *parent);
   catalog::Relation changed = *editor.snapshot().relation(heir.oid);
   inheritAll(context, changed, *parent);
   editor.replaceRelation(std::move(changed));
}

void dropParent(CommandContext& context, const catalog::Relation& heir, const ::AlterTableCmd& command) {
   if (heir.isPartition()) throw SqlError(sqlstate::wrongObjectType, "cannot change inheritance of a partition");
   const RelationPtr parent = lockedTarget(context, *as<::RangeVar>(command.def), LockMode::AccessShare);
   if (std::find(heir.parents.begin(), heir.parents.end(), parent->oid) == heir.parents.end())
      throw SqlError(sqlstate::undefinedTable,
                     "relation " + quoted(*parent) + " is not a parent of relation " + quoted(heir));
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   catalog::Relation changed = *editor.snapshot().relation(heir.oid);
   disinherit(changed, *parent);
   editor.replaceRelation(std::move(changed));
}

} // namespace ouzel::engine
