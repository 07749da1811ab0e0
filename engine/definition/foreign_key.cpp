#include <algorithm>

#include "catalog/pg_catalog/functions.hpp"
#include "engine/constraint/constraint_text.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/query/internal_sql.hpp"
#include "sql/parse/node_access.hpp"

// REFERENCES and FOREIGN KEY in CREATE TABLE and ALTER TABLE.

namespace ouzel::engine {

using catalog::Relation;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

std::vector<int16_t> attributesOf(const Relation& relation, const std::vector<std::string>& names) {
   std::vector<int16_t> attributes;
   for (const std::string& name : names) {
      const catalog::Column* column = relation.findColumn(name);
      if (!column)
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + name + "\" referenced in foreign key constraint does not exist");
      attributes.push_back(column->attribute);
   }
   return attributes;
}

std::vector<std::string> namesOf(const ::List* list) {
   std::vector<std::string> names;
   for (const ::Node* name : ListOf<>(list))
      names.emplace_back(stringOf(name));
   return names;
}

/// The unique index over exactly these columns, in any order, for a foreign key to look parents up.
catalog::RelationPtr uniqueIndexOver(const catalog::Snapshot& snapshot, const Relation& table,
                                     const std::vector<int16_t>& columns) {
   std::vector<int16_t> wanted = columns;
   std::sort(wanted.begin(), wanted.end());
   bool foundDeferrable = false;
   for (const auto& index : snapshot.indexesOf(table.oid)) {
      if ((!index->index->isUnique && !index->index->isPrimary) || !index->index->predicate.empty()) continue;
      std::vector<int16_t> have = index->index->columns;
      std::sort(have.begin(), have.end());
      if (have != wanted) continue;
      const catalog::Constraint* owner = table.constraintOf(index->oid);
      if (!owner || !owner->isDeferrable) return index;
      foundDeferrable = true;
   }
   if (foundDeferrable)
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "cannot use a deferrable unique constraint for referenced table \"" + table.name + "\"");
   throw SqlError(sqlstate::invalidForeignKey,
                  "there is no unique constraint matching given keys for referenced table \"" + table.name + "\"");
}

/// Whether a referencing column of type `child` can be looked up in a unique index over type `parent`: the index's
/// family compares the two, or the value is cast without being asked for.
bool isLookedUp(Oid parent, Oid child) {
   const catalog::Builtins& builtins = catalog::builtins();
   const Oid family = builtins.defaultBtreeFamily(parent);
   if (family == invalidOid) return false;
   const Oid key = builtins.comparisonInputType(parent), value = builtins.comparisonInputType(child);
   if (key == value) { // all arrays have one class, and so do all enums and all ranges
      const catalog::TypeInfo* input = builtins.type(key);
      return parent == child || key == oid::record || !input || !input->isPseudo();
   }
   if (builtins.btreeOperator(family, key, value, catalog::BtreeStrategy::Equal)) return true;
   const catalog::CastInfo* cast = builtins.cast(child, key);
   return cast && cast->context == catalog::CastContext::Implicit;
}

} // namespace

void requireComparable(SessionCore& core, const Relation& child, const Relation& parent,
                       const catalog::Constraint& constraint) {
   const catalog::SearchPath path = core.searchPath();
   const auto nameOf = [&](Oid type) {
      return catalog::formatType({core.transaction.catalog(), path}, type, std::nullopt);
   };
   for (size_t i = 0; i < constraint.columns.size(); ++i) {
      const catalog::Column &a = *child.column(constraint.columns[i]),
                            &b = *parent.column(constraint.foreignColumns[i]);
      if (isLookedUp(b.type.oid, a.type.oid)) continue;
      throw SqlError(sqlstate::datatypeMismatch,
                     "foreign key constraint \"" + constraint.name + "\" cannot be implemented")
          .detail("Key columns \"" + a.name + "\" and \"" + b.name +
                  "\" are of incompatible types: " + nameOf(a.type.oid) + " and " + nameOf(b.type.oid) + ".");
   }
}

namespace {

/// The privilege to reference the columns, or those of the primary key where none are named.
void requireReferences(SessionCore& core, const catalog::Relation& parent, const std::vector<std::string>& names) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   std::vector<int16_t> attributes;
   for (const std::string& name : names)
      if (const catalog::Column* column = parent.findColumn(name)) attributes.push_back(column->attribute);
   if (const catalog::Constraint* key = parent.primaryKey(); key && names.empty()) attributes = key->columns;
   const bool isAllowed =
       !attributes.empty() && std::all_of(attributes.begin(), attributes.end(), [&](int16_t attribute) {
          return catalog::mayUseColumn(snapshot, core.role(), parent, *parent.column(attribute),
                                       catalog::privilege::references);
       });
   if (!isAllowed) requirePrivilege(core, parent, catalog::privilege::references);
}

/// The table that a foreign key references. Throws 42809, 42501 and what finding it throws.
catalog::RelationPtr requireReferenced(CommandContext& context, const ::Constraint& definition) {
   SessionCore& core = context.core;
   const auto parent = requireTarget(context, core.searchPath(), *definition.pktable);
   if (parent->relationKind != catalog::RelationKind::Table || parent->foreign)
      throw SqlError(sqlstate::wrongObjectType, "referenced relation \"" + parent->name + "\" is not a table");
   if (parent->isBuiltin())
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied: \"" + parent->name + "\" is a system catalog");
   requireReferences(core, *parent, definition.pk_attrs ? namesOf(definition.pk_attrs) : std::vector<std::string>());
   return parent;
}

/// The columns of ON DELETE SET NULL (...), each once, as they are numbered in the child.
std::vector<int16_t> setColumnsOf(const catalog::Relation& child, const catalog::Constraint& constraint,
                                  const ::Constraint& definition) {
   std::vector<int16_t> columns;
   if (!definition.fk_del_set_cols) return columns;
   const std::vector<std::string> names = namesOf(definition.fk_del_set_cols);
   for (const int16_t attribute : attributesOf(child, names)) {
      if (std::ranges::find(constraint.columns, attribute) == constraint.columns.end())
         throw SqlError(sqlstate::invalidColumnReference,
                        "column \"" + child.column(attribute)->name +
                            "\" referenced in ON DELETE SET action must be part of foreign key");
      if (std::ranges::find(columns, attribute) == columns.end()) columns.push_back(attribute);
   }
   return columns;
}

} // namespace

void addForeignKey(CommandContext& context, Oid childOid, const ::Constraint& definition,
                   const std::vector<std::string>& columnsOf) {
   SessionCore& core = context.core;
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto parent =
       lockFound(core, LockMode::ShareRowExclusive, true, [&] { return requireReferenced(context, definition); });
   const auto child =
       lockFound(core, LockMode::ShareRowExclusive, true, [&] { return editor.snapshot().relation(childOid); });
   const bool isTemporary = child->persistence == catalog::Persistence::Temporary;
   const bool isUnlogged = child->persistence == catalog::Persistence::Unlogged;
   if (isTemporary != (parent->persistence == catalog::Persistence::Temporary) ||
       (parent->persistence == catalog::Persistence::Unlogged && !isUnlogged))
      throw SqlError(sqlstate::invalidTableDefinition,
                     isTemporary  ? "constraints on temporary tables may reference only temporary tables"
                     : isUnlogged ? "constraints on unlogged tables may reference only permanent or unlogged tables"
                                  : "constraints on permanent tables may reference only permanent tables");

   catalog::Constraint constraint;
   constraint.kind = catalog::ConstraintKind::ForeignKey;
   constraint.name = std::string(textOf(definition.conname));
   constraint.columns = attributesOf(*child, columnsOf);
   constraint.foreignRelation = parent->oid;
   if (definition.pk_attrs) {
      constraint.foreignColumns = attributesOf(*parent, namesOf(definition.pk_attrs));
   } else {
      const catalog::Constraint* key = parent->primaryKey();
      if (!key)
         throw SqlError(sqlstate::undefinedObject,
                        "there is no primary key for referenced table \"" + parent->name + "\"");
      if (key->isDeferrable)
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "cannot use a deferrable primary key for referenced table \"" + parent->name + "\"");
      constraint.foreignColumns = key->columns;
   }
   if (constraint.columns.size() != constraint.foreignColumns.size())
      throw SqlError(sqlstate::invalidForeignKey,
                     "number of referencing and referenced columns for foreign key disagree");
   constraint.referencedIndex = uniqueIndexOver(editor.snapshot(), *parent, constraint.foreignColumns)->oid;
   constraint.match = definition.fk_matchtype;
   constraint.onUpdate = definition.fk_upd_action;
   constraint.onDelete = definition.fk_del_action;
   if (constraint.match == 'p') throwNotSupported("MATCH PARTIAL");
   constraint.setColumns = setColumnsOf(*child, constraint, definition);
   constraint.isDeferrable = definition.deferrable;
   constraint.isInitiallyDeferred = definition.initdeferred;
   constraint.isValidated = !definition.skip_validation;
   for (const int16_t attribute : constraint.columns) {
      const catalog::Column& column = *child->column(attribute);
      if (column.generated && (constraint.onUpdate == 'n' || constraint.onUpdate == 'd' || constraint.onUpdate == 'c'))
         throw SqlError(sqlstate::syntaxError,
                        "invalid ON UPDATE action for foreign key constraint containing generated column");
      if (column.generated && (constraint.onDelete == 'n' || constraint.onDelete == 'd'))
         throw SqlError(sqlstate::syntaxError,
                        "invalid ON DELETE action for foreign key constraint containing generated column");
   }
   const Oid oid = editor.addConstraint(childOid, std::move(constraint));
   const auto [table, added] = editor.snapshot().constraint(oid);
   requireComparable(core, *table, *parent, *added);
   if (added->isValidated) checkForeignKeyOfTable(core, table, *added);
}

} // namespace ouzel::engine
