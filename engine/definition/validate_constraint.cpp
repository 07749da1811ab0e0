#include "engine/constraint/foreign_keys.hpp"
#include "engine/definition/definition.hpp"
#include "engine/query/internal_sql.hpp"

// Constraints and the rows that were there before them: ADD CONSTRAINT ... CHECK, VALIDATE CONSTRAINT.

namespace ouzel::engine {

std::string quotedTable(const catalog::Snapshot& snapshot, const catalog::Relation& relation) {
   return catalog::quoteIdentifier(snapshot.schema(relation.schema)->name) + "." +
          catalog::quoteIdentifier(relation.name);
}

void requireCheckHolds(SessionCore& core, const catalog::Relation& table, const catalog::Constraint& check) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const auto rows = runInternal(core, "SELECT 1 FROM " + quotedTable(snapshot, table) + " WHERE NOT (" +
                                           check.expression + ") LIMIT 1");
   if (rows.empty()) return;
   throw SqlError(sqlstate::checkViolation,
                  "check constraint \"" + check.name + "\" of relation \"" + table.name + "\" is violated by some row")
       .table(snapshot.schema(table.schema)->name, table.name)
       .constraint(check.name);
}

void validateConstraint(CommandContext& context, Oid childOid, const std::string& name) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const auto table = editor.snapshot().relation(childOid);
   const catalog::Constraint* constraint = table->findConstraint(name);
   if (!constraint)
      throw SqlError(sqlstate::undefinedObject,
                     "constraint \"" + name + "\" of relation \"" + table->name + "\" does not exist");
   if (constraint->kind != catalog::ConstraintKind::ForeignKey && constraint->kind != catalog::ConstraintKind::Check)
      throw SqlError(sqlstate::wrongObjectType, "constraint \"" + name + "\" of relation \"" + table->name +
                                                    "\" is not a foreign key or check constraint");
   if (constraint->isValidated) return;
   if (constraint->kind == catalog::ConstraintKind::Check)
      requireCheckHolds(context.core, *table, *constraint);
   else
      checkForeignKeyOfTable(context.core, table, *constraint);
   catalog::Relation changed = *table;
   for (catalog::Constraint& one : changed.constraints)
      if (one.name == name) one.isValidated = true;
   editor.replaceRelation(std::move(changed));
}

} // namespace ouzel::engine
