#include <algorithm>

#include "catalog/pg_catalog/functions.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/definition/alter_table.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/index/index_draft.hpp"
#include "engine/definition/publication/publication.hpp"
#include "engine/definition/rule/rule.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/definition/trigger/trigger.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/source_range.hpp"
#include "engine/role/policy.hpp"
#include "sql/bind/stored_expression.hpp"
#include "sql/deparse/deparse.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE ... ALTER COLUMN ... TYPE.

namespace ouzel::engine {

using sql::as;
using sql::isNode;

bool TableAlteration::isAssignable(const catalog::Column& column, const SqlType& type) {
   const catalog::SearchPath path = core_.searchPath();
   try {
      sql::castForAssignment(sql::makeColumn(sql::ColumnId{}, column.type), type, column.name,
                             core_.bindContext(path, nullptr));
      return true;
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::datatypeMismatch) throw;
      return false;
   }
}

/// Looks at the sub-command while the table is as it was before the statement.
void TableAlteration::prepareType(const ::AlterTableCmd& command) {
   const auto relation = table();
   const auto& definition = *as<::ColumnDef>(command.def);
   const catalog::SearchPath path = core_.searchPath();
   // Refuses aggregates, window functions, set-returning functions and subqueries.
   if (definition.raw_default)
      sql::bindExpression(*definition.raw_default, sql::ExpressionUse::AlterUsing, relation.get(), std::nullopt,
                          command.name, core_.bindContext(path, &context_.source()));
   const catalog::Column& column = catalog::requireColumn(*relation, command.name);
   const SqlType type = sql::resolveColumnType(definition, core_.bindContext(path, &context_.source()));
   requireTypeUsage(core_, type);
   requireNoCycle(core_, *relation, type);
   const bool isOther = type != column.type || type.domain != column.type.domain;
   // Nobody converts the values of a foreign table.
   if (!definition.raw_default && isOther && !relation->foreign && !isAssignable(column, type))
      throw SqlError(sqlstate::datatypeMismatch, "column \"" + column.name +
                                                     "\" cannot be cast automatically to type " +
                                                     formatType({type.oid, -1, invalidOid}))
          .hint("You might need to specify \"USING " + catalog::quoteIdentifier(column.name) + "::" + formatType(type) +
                "\".");
   std::string value = catalog::quoteIdentifier(column.name);
   if (definition.raw_default) {
      if (column.generated)
         throw SqlError(sqlstate::invalidColumnDefinition,
                        "cannot specify USING when altering type of generated column")
             .detail("Column \"" + column.name + "\" is a generated column.");
      const std::string_view text = context_.source().text();
      const size_t using_ = afterKeyword(text, static_cast<size_t>(definition.location), "using");
      value = "(" + std::string(expressionText(text, using_, text.size())) + ")";
      // A literal has no type of its own. A cast without modifier reads it; the assignment applies the modifier.
      if (isNode(definition.raw_default, T_A_Const))
         value += "::" + catalog::sqlTypeName(core_.transaction.catalog(), {type.oid, -1, invalidOid});
   }
   typeChanges_.push_back({column.name, column.attribute, column.type, type, declaredDimensions(definition),
                           definition.raw_default != nullptr});
   if (definition.raw_default || isOther) converted_.push_back({column.attribute, std::move(value)});
   enqueue(AlterType, [this, change = typeChanges_.back()] { changeType(change); });
}

/// A check goes on to mean what it meant: PostgreSQL reads its printed text, in which constants have the types that
/// they got from the column's old type.
void TableAlteration::bindChecksAnew(const catalog::Relation& before, catalog::Relation& after, int16_t attribute) {
   const catalog::SearchPath path = core_.searchPath();
   const auto old = std::make_shared<const catalog::Relation>(before);
   for (catalog::Constraint& check : after.constraints) {
      if (check.kind != catalog::ConstraintKind::Check || !std::ranges::count(check.columns, attribute)) continue;
      const sql::deparse::Expression printed =
          sql::deparse::expressionText(check.expression, old, nullptr, core_.bindContext(path, nullptr), {});
      try {
         check.expression = sql::storedAgain(printed.text, sql::ExpressionUse::CheckConstraint, after,
                                             core_.bindContext(path, nullptr))
                                .text;
      } catch (SqlError& error) {
         error.setPosition(0); // the client does not know the text
         throw;
      }
   }
}

void TableAlteration::changeType(const TypeChange& change) {
   const auto relation = table();
   const catalog::Column& column = catalog::requireColumn(*relation, change.column);
   if (column.type != change.before)
      throw SqlError(sqlstate::featureNotSupported, "cannot alter type of column \"" + column.name + "\" twice");
   if (column.hasDefault() && !isAssignable(column, change.after))
      throw SqlError(sqlstate::datatypeMismatch, "default for column \"" + column.name +
                                                     "\" cannot be cast automatically to type " +
                                                     formatType({change.after.oid, -1, invalidOid}));
   for (const auto& view : core_.transaction.catalog().dependentsOf(oid_))
      for (const catalog::Dependency& dependency : view->dependsOn)
         if (dependency.relation == oid_ && dependency.attribute == column.attribute)
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used by a view or rule")
                .detail("rule _RETURN on view " + view->name + " depends on column \"" + column.name + "\"");
   requireNotInPolicies(core_, *relation, column.attribute);
   requireNotInRules(core_, *relation, column.attribute);
   requireNotInTriggers(core_, *relation, column.attribute);
   requireNotInFunctions(core_, *relation, column.attribute);
   for (const catalog::Column& other : relation->columns)
      if (reads(*relation, other, column.attribute))
         throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used by a generated column")
             .detail("Column \"" + column.name + "\" is used by generated column \"" + other.name + "\".");
   requireNotPublished(core_, *relation, column.attribute);
   catalog::Relation changed = *relation;
   const int16_t attribute = column.attribute;
   catalog::Column& altered = changed.columns[static_cast<size_t>(attribute - 1)];
   altered.type = change.after;
   altered.dimensions = change.dimensions;
   altered.storage = '\0';
   if (const catalog::TypeInfo* info = catalog::builtins().type(change.after.oid); info && info->storage == 'p')
      altered.compression = '\0';
   bindChecksAnew(*relation, changed, attribute);
   editor_.replaceRelation(std::move(changed));
   retypeStatistics(core_, *table(), change.attribute);
   followType(core_, *table(), attribute, change.before);
}

/// Checks what holds for a column whose values have changed: NOT NULL, CHECK, and foreign keys from and to it.
void TableAlteration::checkConstraintsOf(int16_t attribute) {
   core_.transaction.storage().nextCommand(); // the checks read the new rows
   const auto relation = table();
   const catalog::Column& column = *relation->column(attribute);
   if (column.notNull) rejectNulls(column.name);
   const auto isKey = [&](const std::vector<int16_t>& columns) {
      return std::find(columns.begin(), columns.end(), attribute) != columns.end();
   };
   for (const catalog::Constraint& constraint : relation->constraints)
      if (constraint.kind == catalog::ConstraintKind::Check && isKey(constraint.columns))
         requireCheckHolds(core_, *relation, constraint);
   for (const auto& child : editor_.snapshot().relations())
      for (const catalog::Constraint& constraint : child->constraints) {
         const bool isAffected = (child->oid == oid_ && isKey(constraint.columns)) ||
                                 (constraint.foreignRelation == oid_ && isKey(constraint.foreignColumns));
         if (constraint.kind != catalog::ConstraintKind::ForeignKey || !isAffected) continue;
         requireComparable(core_, *child, *editor_.snapshot().relation(constraint.foreignRelation), constraint);
         if (constraint.isValidated) checkForeignKeyOfTable(core_, child, constraint);
      }
}

} // namespace ouzel::engine
