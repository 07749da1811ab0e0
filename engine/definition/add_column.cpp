#include "catalog/pg_catalog/functions.hpp"
#include "common/number/decimal.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/core/event_state.hpp"
#include "engine/core/session_services.hpp"
#include "engine/definition/alter_table.hpp"
#include "engine/definition/column_constraints.hpp"
#include "engine/definition/declared_attributes.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/sequence.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/query/source_range.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE ... ADD COLUMN.

namespace ouzel::engine {

using sql::as;
using sql::ListOf;
using sql::textOf;

namespace {

/// The default of a domain as SQL.
std::string domainDefault(const catalog::Snapshot& snapshot, Oid domain) {
   if (domain == invalidOid || (domain & userArrayBit) != 0) return "NULL";
   const catalog::Column& value = snapshot.relationOfType(domain)->columns[0];
   return value.hasDefault() ? "(" + value.defaultExpr + ")" : "NULL";
}

/// A query's result as a column of `type` stores it: numeric(p, s) as a scaled integer.
Value storedValue(const Value& value, const SqlType& type) {
   const PhysicalType stored = storedRepresentation(type).physical;
   if (value.type != PhysicalType::Decimal || stored == PhysicalType::Decimal) {
      DCHECK(value.type == stored);
      return value;
   }
   const int128 scaled = decimal::toScaledColumn(StringView(value.bytes), type.typmod);
   return stored == PhysicalType::I128 ? Value::wide(scaled) : Value::integer(stored, static_cast<int64_t>(scaled));
}

} // namespace

void TableAlteration::addColumn(const ::AlterTableCmd& command) {
   const auto& definition = *as<::ColumnDef>(command.def);
   const auto relation = table();
   if (relation->findColumn(definition.colname)) {
      const std::string message =
          "column \"" + std::string(definition.colname) + "\" of relation \"" + relation->name + "\" already exists";
      if (!command.missing_ok) throw SqlError(sqlstate::duplicateColumn, message);
      core_.notice(message + ", skipping", {}, sqlstate::duplicateColumn);
      return;
   }
   const std::vector<ColumnConstraint> constraints = columnConstraints(context_, definition.constraints);
   const Oid serial = serialType(*definition.typeName);
   const catalog::SearchPath path = core_.searchPath();
   AddedColumn added;
   added.column.name = definition.colname;
   added.column.attribute = static_cast<int16_t>(relation->columns.size() + 1);
   added.column.type = serial ? SqlType{serial, -1, invalidOid}
                              : sql::resolveColumnType(definition, core_.bindContext(path, &context_.source()));
   added.column.dimensions = declaredDimensions(definition);
   requireTypeUsage(core_, added.column.type);
   if (definition.compression) added.column.compression = compressionNamed(added.column.type, definition.compression);
   requireNoCycle(core_, *relation, added.column.type);
   added.column.notNull = serial != invalidOid;
   if (serial && !isHeir_) drawFromSequence(added, serial, nullptr);
   if (serial && isHeir_) drawAsParent(added);
   for (const ColumnConstraint& constraint : constraints)
      addColumnConstraint(added, constraint.definition, constraint.end);
   if (added.value.empty() && added.column.type.domain) // its checks are made for present rows as well
      added.value = "CAST(" +
                    (added.column.hasDefault() ? "(" + added.column.defaultExpr + ")"
                                               : domainDefault(editor_.snapshot(), added.column.type.domain)) +
                    " AS " + catalog::sqlTypeName(editor_.snapshot(), added.column.type) + ")";
   if (isHeir_) { // its constraints come with those of the parent
      added.constraints.clear();
      added.column.parentCount = 1;
      added.column.isLocal = false;
   }
   if (added.value.empty())
      appendColumn(added);
   else
      insertColumn(added);
   // They may name columns that the statement adds later.
   for (const ::Constraint& constraint : added.constraints)
      if (constraint.contype == CONSTR_CHECK)
         enqueue(AddOther, [this, constraint] { addConstraint(constraint); });
      else if (constraint.contype == CONSTR_FOREIGN)
         enqueue(AddOther, [this, constraint, name = std::string(definition.colname)] {
            addForeignKey(context_, oid_, constraint, {name});
         });
      else
         enqueue(AddIndex, [this, constraint, attribute = added.column.attribute] { addKey(constraint, attribute); });
}

void TableAlteration::addColumnConstraint(AddedColumn& added, const ::Constraint& constraint, size_t limit) {
   const std::string_view text = context_.source().text();
   catalog::Column& column = added.column;
   const auto refuseSecond = [&](const char* problem) {
      if (column.hasDefault() || column.identity)
         throw SqlError(sqlstate::syntaxError, std::string(problem) + " specified for column \"" + column.name +
                                                   "\" of table \"" + table()->name + "\"")
             .at(context_.position(constraint.location));
   };
   const auto refuseNull = [&] {
      throw SqlError(sqlstate::syntaxError, "conflicting NULL/NOT NULL declarations for column \"" + column.name +
                                                "\" of table \"" + table()->name + "\"")
          .at(context_.position(constraint.location));
   };
   switch (constraint.contype) {
   case CONSTR_NULL:
      added.isNullable = true;
      if (column.notNull) refuseNull();
      break;
   case CONSTR_NOTNULL:
      if (added.isNullable) refuseNull();
      column.notNull = true;
      break;
   case CONSTR_DEFAULT: {
      refuseSecond(column.identity    ? "both default and identity"
                   : column.generated ? "both default and generation expression"
                                      : "multiple default values");
      const catalog::SearchPath path = core_.searchPath();
      // PostgreSQL gives no positions in expressions of ALTER TABLE.
      const auto bound = sql::bindExpression(*constraint.raw_expr, sql::ExpressionUse::ColumnDefault, nullptr,
                                             column.type, column.name, core_.bindContext(path, nullptr));
      if (isNoDefault(*bound.expr, column.type)) break;
      const size_t begin = afterKeyword(text, static_cast<size_t>(constraint.location), "default");
      column.defaultExpr = storedText(context_, *constraint.raw_expr, sql::ExpressionUse::ColumnDefault, nullptr,
                                      column.type, expressionText(text, begin, limit));
      noteRelations(core_, *bound.expr, column);
      if (sql::isVolatile(*bound.expr)) {
         added.value = "(" + column.defaultExpr + ")";
         break;
      }
      // Present rows get the default's present value and are not rewritten.
      const auto rows = runOnNewest(core_, "SELECT CAST((" + column.defaultExpr + ") AS " +
                                               catalog::sqlTypeName(editor_.snapshot(), column.type) + ")");
      added.missing = rows.at(0).at(0);
      break;
   }
   case CONSTR_IDENTITY:
      refuseSecond(column.identity ? "multiple identity specifications" : "both default and identity");
      column.notNull = true;
      if (isHeir_) break; // rows that come in by the parent take the parent's sequence
      column.identity = constraint.generated_when;
      drawFromSequence(added, column.type.oid, constraint.options);
      break;
   case CONSTR_GENERATED: {
      refuseSecond(column.generated ? "multiple generation clauses" : "both default and generation expression");
      column.generated = 's';
      column.defaultExpr = std::string(parenthesized(text, static_cast<size_t>(constraint.location)));
      catalog::Relation extended = *table();
      extended.columns.push_back(column);
      requireGenerationExpression(core_, nullptr, *constraint.raw_expr, extended, column);
      column.defaultExpr = storedText(context_, *constraint.raw_expr, sql::ExpressionUse::GeneratedColumn, &extended,
                                      column.type, parenthesized(text, static_cast<size_t>(constraint.location)));
      added.value = "(" + column.defaultExpr + ")";
      break;
   }
   case CONSTR_PRIMARY:
      requireNoPrimaryKey();
      column.notNull = true;
      [[fallthrough]];
   case CONSTR_CHECK:
   case CONSTR_UNIQUE:
   case CONSTR_FOREIGN: added.constraints.push_back(constraint); break;
   default: throwNotSupported("this constraint of a new column", context_.position(constraint.location));
   }
}

/// A serial column of an heir takes its values from the parent's sequence.
void TableAlteration::drawAsParent(AddedColumn& added) {
   const auto relation = table();
   for (const Oid oid : relation->parents) {
      const auto parent = editor_.snapshot().relation(oid);
      const catalog::Column* above = parent ? parent->findColumn(added.column.name) : nullptr;
      if (!above || above->defaultSequence == invalidOid) continue;
      added.column.defaultExpr = above->defaultExpr;
      added.column.defaultSequence = above->defaultSequence;
      added.value = "nextval(" + std::to_string(above->defaultSequence) + "::regclass)";
      return;
   }
}

void TableAlteration::drawFromSequence(AddedColumn& added, Oid type, const ::List* options) {
   attachSequence(context_, *table(), added.column, type, options);
   added.value = "nextval(" + std::to_string(added.column.defaultSequence) + "::regclass)";
}

void TableAlteration::appendColumn(const AddedColumn& added) {
   const auto relation = table();
   if (added.column.notNull && relation->hasOwnRows() && (!added.missing || added.missing->isNull)) {
      const auto rows = runOnNewest(core_, "SELECT 1 FROM " + quotedTable(editor_.snapshot(), *relation) + " LIMIT 1");
      if (!rows.empty()) throwContainsNulls(added.column.name);
   }
   storage::ColumnDefinition stored = storage::ColumnDefinition::of(added.column.type);
   if (added.missing && !added.missing->isNull) stored.missing = storedValue(*added.missing, added.column.type);
   editor_.addColumn(oid_, added.column);
   if (!relation->hasOwnRows()) return; // its partitions have them, or a foreign server
   core_.database.storage->addColumn(core_.transaction.storage(), relation->storage, std::move(stored));
}

void TableAlteration::insertColumn(const AddedColumn& added) {
   if (!table()->hasOwnRows()) {
      editor_.addColumn(oid_, added.column);
      return;
   }
   RowRewrite rewrite(core_, *table(), {{added.column.attribute, added.value}});
   editor_.addColumn(oid_, added.column);
   core_.services.fireRewrite(*table(), EventState::newDefault);
   rewrite.run(*table());
   core_.transaction.storage().nextCommand(); // what checks the column's constraints reads the new rows
   if (!added.column.notNull) return;
   rejectNulls(added.column.name);
}

void TableAlteration::addKey(const ::Constraint& constraint, int16_t attribute) {
   catalog::Constraint key;
   key.kind =
       constraint.contype == CONSTR_PRIMARY ? catalog::ConstraintKind::PrimaryKey : catalog::ConstraintKind::Unique;
   key.name = std::string(textOf(constraint.conname));
   key.columns = {attribute};
   key.nullsNotDistinct = constraint.nulls_not_distinct;
   key.isDeferrable = constraint.deferrable;
   key.isInitiallyDeferred = constraint.initdeferred;
   addUniqueKey(std::move(key), constraint);
}

} // namespace ouzel::engine
