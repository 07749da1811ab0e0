#include "engine/definition/partition/inherited.hpp"

#include <algorithm>

#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/lock_found.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

// What a table inherits when it is made.

namespace ouzel::engine {

using catalog::Column;
using catalog::Constraint;
using catalog::RelationPtr;
using sql::ListOf;

bool isSameExpression(CommandContext& context, const std::string& a, const std::string& b,
                      const catalog::Relation* table, std::optional<SqlType> type) {
   if (a == b) return true;
   const catalog::SearchPath path = context.core.searchPath();
   const auto bound = [&](const std::string& text) {
      const auto script = sql::ParsedScript::parseExpression(text);
      return sql::bindExpression(*script.expression(),
                                 table ? sql::ExpressionUse::CheckConstraint : sql::ExpressionUse::ColumnDefault, table,
                                 type, {}, context.core.bindContext(path, nullptr));
   };
   const sql::BoundExpression first = bound(a), second = bound(b);
   return equal(*first.expr, *second.expr);
}

namespace {

void requireParent(const catalog::Relation& parent, bool isPartition, bool isTemporary) {
   const auto refuse = [&](const std::string& message) { throw SqlError(sqlstate::wrongObjectType, message); };
   const std::string quoted = "\"" + parent.name + "\"";
   if (parent.relationKind != catalog::RelationKind::Table || parent.isBuiltin())
      refuse("inherited relation " + quoted + " is not a table or foreign table");
   if (isPartition && !parent.partitionKey)
      throw SqlError(sqlstate::invalidObjectDefinition, quoted + " is not partitioned");
   if (!isPartition && parent.partitionKey) refuse("cannot inherit from partitioned table " + quoted);
   if (!isPartition && parent.isPartition()) refuse("cannot inherit from partition " + quoted);
   const bool ofTemporary = parent.persistence == catalog::Persistence::Temporary;
   if (ofTemporary && !isTemporary)
      refuse(isPartition ? "cannot create a permanent relation as partition of temporary relation " + quoted
                         : "cannot inherit from temporary relation " + quoted);
   if (!ofTemporary && isTemporary && isPartition)
      refuse("cannot create a temporary relation as partition of permanent relation " + quoted);
}

/// Waits for the lock, and gives the relation as it is then.
RelationPtr lockedParent(CommandContext& context, const ::RangeVar& name, bool isPartition) {
   SessionCore& core = context.core;
   return lockFound(core, isPartition ? LockMode::AccessExclusive : LockMode::ShareUpdateExclusive, false,
                    [&] { return requireTarget(context, core.searchPath(), name); });
}

} // namespace

std::vector<RelationPtr> requireParents(CommandContext& context, const ::List* names, bool isPartition,
                                        bool isTemporary) {
   std::vector<RelationPtr> parents;
   for (const ::RangeVar* name : ListOf<::RangeVar>(names)) {
      const RelationPtr parent = lockedParent(context, *name, isPartition);
      for (const RelationPtr& other : parents)
         if (other->oid == parent->oid)
            throw SqlError(sqlstate::duplicateTable,
                           "relation \"" + parent->name + "\" would be inherited from more than once");
      requireParent(*parent, isPartition, isTemporary);
      requireOwner(context.core, *parent);
      if (isPartition) requireNotInUse(context.core, *parent, "CREATE TABLE .. PARTITION OF");
      parents.push_back(parent);
   }
   return parents;
}

namespace {

/// A parent's column as an heir has it.
Column inheritedColumn(const Column& column) {
   Column copy = column;
   copy.acl = {};
   copy.foreignOptions.clear();
   copy.defaultOid = invalidOid;
   copy.dimensions = 0; // only what the statement itself says has brackets
   copy.statisticsTarget = -1;
   copy.options.clear();
   copy.parentCount = 1;
   copy.isLocal = false;
   if (copy.identity) { // rows that come in by the parent take the parent's sequence
      copy.identity = '\0';
      copy.dropDefault();
   }
   return copy;
}

/// Whether the types are the same but for their collations.
bool isSameType(const SqlType& a, const SqlType& b) {
   return a.oid == b.oid && a.typmod == b.typmod;
}

[[noreturn]] void throwTypeConflict(const Column& a, const Column& b, bool isInherited) {
   throw SqlError(sqlstate::datatypeMismatch,
                  std::string(isInherited ? "inherited column" : "column") + " \"" + a.name + "\" has a type conflict")
       .detail(formatType(a.type) + " versus " + formatType(b.type));
}

void mergeInherited(Column& column, const Column& other) {
   if (!isSameType(column.type, other.type)) throwTypeConflict(column, other, true);
   if (column.type.collation != other.type.collation)
      throw SqlError(sqlstate::collationMismatch, "inherited column \"" + column.name + "\" has a collation conflict");
   if (column.generated != other.generated)
      throw SqlError(sqlstate::datatypeMismatch, "inherited column \"" + column.name + "\" has a generation conflict");
   column.notNull = column.notNull || other.notNull;
   ++column.parentCount;
}

} // namespace

std::vector<Column> inheritedColumns(CommandContext& context, const std::vector<RelationPtr>& parents) {
   std::vector<Column> columns;
   std::vector<std::string> conflicting; // columns whose defaults differ
   for (const RelationPtr& parent : parents)
      for (const Column& column : parent->columns) {
         if (column.isDropped) continue;
         const auto known = std::find_if(columns.begin(), columns.end(),
                                         [&](const Column& other) { return other.name == column.name; });
         Column copy = inheritedColumn(column);
         if (known == columns.end()) {
            copy.attribute = static_cast<int16_t>(columns.size() + 1);
            columns.push_back(std::move(copy));
            continue;
         }
         context.core.notice("merging multiple inherited definitions of column \"" + column.name + "\"");
         mergeInherited(*known, copy);
         const bool differ = copy.hasDefault() && known->hasDefault() &&
                             (copy.defaultSequence != known->defaultSequence ||
                              !isSameExpression(context, copy.defaultExpr, known->defaultExpr, nullptr, copy.type));
         if (differ) conflicting.push_back(column.name);
         if (!known->hasDefault() && copy.hasDefault()) {
            known->defaultExpr = copy.defaultExpr;
            known->defaultSequence = copy.defaultSequence;
            known->relationsInDefault = copy.relationsInDefault;
         }
      }
   // A default that the table declares ends the conflict; see TableBuilder.
   for (Column& column : columns)
      if (std::find(conflicting.begin(), conflicting.end(), column.name) != conflicting.end())
         column.defaultOid = conflictingDefault;
   return columns;
}

std::vector<Constraint> inheritedChecks(CommandContext& context, const std::vector<RelationPtr>& parents,
                                        const catalog::Relation& heir) {
   std::vector<Constraint> checks;
   for (const RelationPtr& parent : parents)
      for (const Constraint& constraint : parent->constraints) {
         if (constraint.kind != catalog::ConstraintKind::Check || constraint.noInherit) continue;
         const auto known = std::find_if(checks.begin(), checks.end(),
                                         [&](const Constraint& other) { return other.name == constraint.name; });
         if (known != checks.end()) {
            if (!isSameExpression(context, known->expression, constraint.expression, &heir, std::nullopt))
               throw SqlError(sqlstate::duplicateObject,
                              "check constraint name \"" + constraint.name +
                                  "\" appears multiple times but with different expressions");
            ++known->parentCount;
            continue;
         }
         checks.push_back(checkFor(context, heir, constraint));
      }
   return checks;
}

Constraint checkFor(CommandContext& context, const catalog::Relation& heir, const Constraint& check) {
   Constraint copy = check;
   copy.oid = invalidOid;
   copy.parentCount = 1;
   copy.isLocal = false;
   copy.columns.clear();
   const auto script = sql::ParsedScript::parseExpression(check.expression);
   const catalog::SearchPath path = context.core.searchPath();
   const auto bound = sql::bindExpression(*script.expression(), sql::ExpressionUse::CheckConstraint, &heir,
                                          std::nullopt, {}, context.core.bindContext(path, nullptr));
   for (const sql::GetColumn& input : bound.inputs)
      copy.columns.push_back(input.attribute);
   return copy;
}

void mergeInto(CommandContext& context, const Column& inherited, const Column& declared, int16_t position) {
   if (position == inherited.attribute)
      context.core.notice("merging column \"" + declared.name + "\" with inherited definition");
   else
      context.core.notice("moving and merging column \"" + declared.name + "\" with inherited definition",
                          "User-specified column moved to the position of the inherited column.");
   if (!isSameType(declared.type, inherited.type)) throwTypeConflict(inherited, declared, false);
   if (declared.type.collation != inherited.type.collation)
      throw SqlError(sqlstate::collationMismatch, "column \"" + declared.name + "\" has a collation conflict");
}

void throwGenerationConflict(const Column& inherited, const ::Constraint& declared) {
   const std::string name = "column \"" + inherited.name + "\"";
   if (declared.contype == CONSTR_GENERATED)
      throw SqlError(sqlstate::invalidColumnDefinition, "child " + name + " specifies generation expression")
          .hint("Omit the generation expression in the definition of the child table column to inherit the generation "
                "expression from the parent table.");
   throw SqlError(sqlstate::invalidColumnDefinition,
                  name + " inherits from generated column but specifies " +
                      (declared.contype == CONSTR_IDENTITY ? "identity" : "default"));
}

void inheritCheck(CommandContext& context, Oid heirOid, const Constraint& check) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const RelationPtr heir = editor.snapshot().relation(heirOid);
   if (const Constraint* own = heir->findConstraint(check.name)) {
      if (own->kind != catalog::ConstraintKind::Check ||
          !isSameExpression(context, own->expression, check.expression, heir.get(), std::nullopt))
         throw SqlError(sqlstate::duplicateObject,
                        "constraint \"" + check.name + "\" for relation \"" + heir->name + "\" already exists");
      if (own->noInherit)
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "constraint \"" + check.name + "\" conflicts with non-inherited constraint on relation \"" +
                            heir->name + "\"");
      context.core.notice("merging constraint \"" + check.name + "\" with inherited definition");
      catalog::Relation changed = *heir;
      for (Constraint& constraint : changed.constraints)
         if (constraint.name == check.name) ++constraint.parentCount;
      editor.replaceRelation(std::move(changed));
      return;
   }
   const Oid oid = editor.addConstraint(heirOid, checkFor(context, *heir, check));
   if (check.isValidated && heir->hasOwnRows())
      requireCheckHolds(context.core, *heir, *editor.snapshot().constraint(oid).second);
}

} // namespace ouzel::engine
