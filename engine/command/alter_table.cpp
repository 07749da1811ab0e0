#include <algorithm>

#include "common/type/decimal.hpp"
#include "engine/command/command.hpp"
#include "engine/command/new_relation.hpp"
#include "engine/command/rewrite_rows.hpp"
#include "engine/command/sequence.hpp"
#include "engine/command/source_range.hpp"
#include "engine/constraint/foreign_keys.hpp"
#include "engine/constraint/unique_keys.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/query/query_execution.hpp"
#include "sql/parse/node_access.hpp"

// ALTER TABLE: columns, defaults, NOT NULL, constraints, types.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

/// Applies the sub-commands of one ALTER TABLE in order.
class TableAlteration {
public:
   TableAlteration(CommandContext& context, Oid relation)
      : context_(context), core_(context.core), editor_(context.core.transaction.editor()), oid_(relation) {}

   void apply(const ::AlterTableCmd& command);

private:
   catalog::RelationPtr table() const { return editor_.snapshot().relation(oid_); }
   catalog::DropBehavior behaviorOf(const ::AlterTableCmd& command) const {
      return command.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   }
   /// A column of ADD COLUMN.
   struct AddedColumn {
      catalog::Column column;
      std::optional<Value> missing;                 ///< what rows that are there now have in it; none: NULL
      std::string value;                            ///< SQL for each row that is there now; empty: `missing`
      std::vector<const ::Constraint*> constraints; ///< to be added when the column is there
   };
   void addColumn(const ::AlterTableCmd& command);
   /// `limit`: where the constraint's text ends.
   void addColumnConstraint(AddedColumn& added, const ::Constraint& constraint, size_t limit);
   void drawFromSequence(AddedColumn& added, Oid type, const ::List* options);
   /// Adds the column without touching rows.
   void appendColumn(const AddedColumn& added);
   /// Adds the column and computes its value for each row.
   void insertColumn(const AddedColumn& added);
   void addKey(const ::Constraint& constraint, int16_t attribute);
   void dropColumn(const ::AlterTableCmd& command);
   void setDefault(const ::AlterTableCmd& command);
   void setNotNull(const ::AlterTableCmd& command, bool notNull);
   void addConstraint(const ::Constraint& constraint);
   void dropConstraint(const ::AlterTableCmd& command);
   void alterType(const ::AlterTableCmd& command);
   void checkConstraintsOf(int16_t attribute);
   void rejectNulls(const std::string& column);
   [[noreturn]] void throwContainsNulls(const std::string& column) const;
   /// Whether a generated column is computed from another.
   bool reads(const catalog::Relation& relation, const catalog::Column& generated, int16_t attribute);
   void dropGeneratedFrom(const catalog::Relation& relation, const catalog::Column& dropped,
                          catalog::DropBehavior behavior);
   bool isAssignable(const catalog::Column& column, const SqlType& type);

   CommandContext& context_;
   SessionCore& core_;
   catalog::CatalogEditor& editor_;
   const Oid oid_;
};

void TableAlteration::apply(const ::AlterTableCmd& command) {
   switch (command.subtype) {
   case AT_AddColumn: return addColumn(command);
   case AT_DropColumn: return dropColumn(command);
   case AT_ColumnDefault: return setDefault(command);
   case AT_SetNotNull: return setNotNull(command, true);
   case AT_DropNotNull: return setNotNull(command, false);
   case AT_AddIdentity: return addIdentity(context_, *table(), command);
   case AT_SetIdentity: return setIdentity(context_, *table(), command);
   case AT_DropIdentity: return dropIdentity(context_, *table(), command);
   case AT_AddConstraint: return addConstraint(*as<::Constraint>(command.def));
   case AT_ValidateConstraint: return validateConstraint(context_, oid_, command.name);
   case AT_DropConstraint: return dropConstraint(command);
   case AT_AlterColumnType: return alterType(command);
   case AT_ChangeOwner:
   case AT_SetStatistics:
   case AT_SetRelOptions:
   case AT_ResetRelOptions:
   case AT_ClusterOn: return; // nothing in the engine depends on these
   default: throwNotSupported("this form of ALTER TABLE");
   }
}

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
   const Oid serial = serialType(*definition.typeName);
   const catalog::SearchPath path = core_.searchPath();
   AddedColumn added;
   added.column.name = definition.colname;
   added.column.attribute = static_cast<int16_t>(relation->columns.size() + 1);
   added.column.type = serial
                           ? SqlType{serial, -1, invalidOid}
                           : sql::resolveValueType(*definition.typeName, core_.bindContext(path, &context_.source()));
   added.column.notNull = serial != invalidOid;
   if (serial) drawFromSequence(added, serial, nullptr);
   const ListOf<::Constraint> constraints(definition.constraints);
   for (uint32_t i = 0; i < constraints.size(); ++i)
      addColumnConstraint(added, *constraints[i], endOfConstraint(context_.source().text(), constraints, i));
   if (added.value.empty())
      appendColumn(added);
   else
      insertColumn(added);
   for (const ::Constraint* constraint : added.constraints)
      if (constraint->contype == CONSTR_CHECK)
         addConstraint(*constraint);
      else if (constraint->contype == CONSTR_FOREIGN)
         addForeignKey(context_, oid_, *constraint, {definition.colname});
      else
         addKey(*constraint, added.column.attribute);
   if (!added.constraints.empty()) checkUniqueKeysOfTable(core_, oid_, true);
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
   switch (constraint.contype) {
   case CONSTR_NULL: break;
   case CONSTR_NOTNULL: column.notNull = true; break;
   case CONSTR_DEFAULT: {
      refuseSecond(column.identity    ? "both default and identity"
                   : column.generated ? "both default and generation expression"
                                      : "multiple default values");
      const catalog::SearchPath path = core_.searchPath();
      // PostgreSQL gives no positions in expressions of ALTER TABLE.
      const auto bound = sql::bindExpression(*constraint.raw_expr, sql::ExpressionUse::ColumnDefault, nullptr,
                                             column.type, column.name, core_.bindContext(path, nullptr));
      const size_t begin = afterKeyword(text, static_cast<size_t>(constraint.location), "default");
      column.defaultExpr = std::string(expressionText(text, begin, limit));
      noteSequences(core_, *bound.expr, column);
      if (sql::isVolatile(*bound.expr)) {
         added.value = "(" + column.defaultExpr + ")";
         break;
      }
      // Present rows get the default's present value and are not rewritten.
      const auto rows =
          runInternal(core_, "SELECT CAST((" + column.defaultExpr + ") AS " + formatType(column.type) + ")");
      added.missing = rows.at(0).at(0);
      break;
   }
   case CONSTR_IDENTITY:
      refuseSecond(column.identity ? "multiple identity specifications" : "both default and identity");
      column.identity = constraint.generated_when;
      column.notNull = true;
      drawFromSequence(added, column.type.oid, constraint.options);
      break;
   case CONSTR_GENERATED: {
      refuseSecond(column.generated ? "multiple generation clauses" : "both default and generation expression");
      column.generated = 's';
      column.defaultExpr = std::string(parenthesized(text, static_cast<size_t>(constraint.location)));
      catalog::Relation extended = *table();
      extended.columns.push_back(column);
      requireGenerationExpression(core_, nullptr, *constraint.raw_expr, extended, column);
      added.value = "(" + column.defaultExpr + ")";
      break;
   }
   case CONSTR_PRIMARY: column.notNull = true; [[fallthrough]];
   case CONSTR_CHECK:
   case CONSTR_UNIQUE:
   case CONSTR_FOREIGN: added.constraints.push_back(&constraint); break;
   case CONSTR_ATTR_NOT_DEFERRABLE:
   case CONSTR_ATTR_IMMEDIATE: break;
   default: throwNotSupported("this constraint of a new column", context_.position(constraint.location));
   }
}

void TableAlteration::drawFromSequence(AddedColumn& added, Oid type, const ::List* options) {
   attachSequence(context_, *table(), added.column, type, options);
   added.value = "nextval(" + std::to_string(added.column.defaultSequence) + "::regclass)";
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

void TableAlteration::appendColumn(const AddedColumn& added) {
   const auto relation = table();
   if (added.column.notNull && (!added.missing || added.missing->isNull)) {
      const auto rows = runInternal(core_, "SELECT 1 FROM " + quotedTable(editor_.snapshot(), *relation) + " LIMIT 1");
      if (!rows.empty()) throwContainsNulls(added.column.name);
   }
   storage::ColumnDefinition stored = storage::ColumnDefinition::of(added.column.type);
   if (added.missing && !added.missing->isNull) stored.missing = storedValue(*added.missing, added.column.type);
   editor_.addColumn(oid_, added.column);
   core_.database.storage->addColumn(core_.transaction.storage(), relation->storage, std::move(stored));
}

void TableAlteration::insertColumn(const AddedColumn& added) {
   editor_.addColumn(oid_, added.column);
   rewriteRows(core_, oid_, *table(), added.column.attribute, added.value);
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
   editor_.addConstraint(oid_, std::move(key));
}

void TableAlteration::dropColumn(const ::AlterTableCmd& command) {
   const auto relation = table();
   if (!relation->findColumn(command.name) && command.missing_ok) {
      core_.notice("column \"" + std::string(command.name) + "\" of relation \"" + relation->name +
                   "\" does not exist, skipping");
      return;
   }
   dropGeneratedFrom(*relation, catalog::requireColumn(*relation, command.name), behaviorOf(command));
   for (const catalog::Dropped::Item& item : editor_.dropColumn(oid_, command.name, behaviorOf(command)).items)
      if (item.isCascaded && !item.isInternal) core_.notice("drop cascades to " + item.description);
}

bool TableAlteration::reads(const catalog::Relation& relation, const catalog::Column& generated, int16_t attribute) {
   if (!generated.generated || generated.isDropped) return false;
   const auto script = sql::ParsedScript::parseExpression(generated.defaultExpr);
   const catalog::SearchPath path = core_.searchPath();
   const auto bound = sql::bindExpression(*script.expression(), sql::ExpressionUse::GeneratedColumn, &relation,
                                          generated.type, generated.name, core_.bindContext(path, nullptr));
   return std::any_of(bound.inputs.begin(), bound.inputs.end(),
                      [&](const sql::GetColumn& input) { return input.attribute == attribute; });
}

void TableAlteration::dropGeneratedFrom(const catalog::Relation& relation, const catalog::Column& dropped,
                                        catalog::DropBehavior behavior) {
   const auto describe = [&](const catalog::Column& column) {
      return "column " + catalog::quoteIdentifier(column.name) + " of table " +
             catalog::displayName(editor_.snapshot(), core_.searchPath(), relation);
   };
   std::string detail;
   for (const catalog::Column& column : relation.columns)
      if (reads(relation, column, dropped.attribute))
         detail += (detail.empty() ? "" : "\n") + describe(column) + " depends on " + describe(dropped);
   if (!detail.empty() && behavior == catalog::DropBehavior::Restrict)
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "cannot drop " + describe(dropped) + " because other objects depend on it")
          .detail(detail)
          .hint("Use DROP ... CASCADE to drop the dependent objects too.");
   for (const catalog::Column& column : relation.columns) {
      if (!reads(relation, column, dropped.attribute)) continue;
      editor_.dropColumn(oid_, column.name, behavior);
      core_.notice("drop cascades to " + describe(column));
   }
}

void TableAlteration::setDefault(const ::AlterTableCmd& command) {
   const auto relation = table();
   const catalog::Column& column = catalog::requireColumn(*relation, command.name);
   if (column.generated)
      throw SqlError(sqlstate::syntaxError,
                     "column \"" + column.name + "\" of relation \"" + relation->name + "\" is a generated column");
   if (column.identity) {
      SqlError error(sqlstate::syntaxError,
                     "column \"" + column.name + "\" of relation \"" + relation->name + "\" is an identity column");
      if (command.def) throw error;
      throw std::move(error).hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.");
   }
   if (!command.def) return editor_.setDefault(oid_, command.name, {});
   const catalog::SearchPath path = core_.searchPath();
   // PostgreSQL gives no positions here.
   const auto bound = sql::bindExpression(*command.def, sql::ExpressionUse::ColumnDefault, nullptr, column.type,
                                          column.name, core_.bindContext(path, nullptr));
   const std::string_view text = context_.source().text();
   // The text of ALTER COLUMN x SET DEFAULT expr is searched from the column's name on: the command has no position.
   size_t from = context_.statement.offset;
   for (size_t next = from; (next = afterKeyword(text, next, "alter")) != std::string_view::npos;) {
      Token token = nextToken(text, next);
      if (token.kind == 'w' && text.substr(token.begin, token.end - token.begin).size() == 6)
         token = nextToken(text, token.end);
      std::string_view word = text.substr(token.begin, token.end - token.begin);
      if (word == column.name || word == catalog::quoteIdentifier(column.name)) {
         from = token.end;
         break;
      }
   }
   catalog::Column noted;
   noteSequences(core_, *bound.expr, noted);
   editor_.setDefault(oid_, command.name,
                      std::string(expressionText(text, afterKeyword(text, from, "default"), text.size())),
                      noted.defaultSequence, std::move(noted.sequencesInDefault));
}

void TableAlteration::rejectNulls(const std::string& column) {
   const auto relation = table();
   const auto rows = runInternal(core_, "SELECT 1 FROM " + quotedTable(editor_.snapshot(), *relation) + " WHERE " +
                                            catalog::quoteIdentifier(column) + " IS NULL LIMIT 1");
   if (!rows.empty()) throwContainsNulls(column);
}

void TableAlteration::throwContainsNulls(const std::string& column) const {
   const auto relation = table();
   throw SqlError(sqlstate::notNullViolation,
                  "column \"" + column + "\" of relation \"" + relation->name + "\" contains null values")
       .table(editor_.snapshot().schema(relation->schema)->name, relation->name)
       .column(column);
}

void TableAlteration::setNotNull(const ::AlterTableCmd& command, bool notNull) {
   const auto relation = table();
   const catalog::Column& column = catalog::requireColumn(*relation, command.name);
   if (!notNull && column.identity)
      throw SqlError(sqlstate::syntaxError,
                     "column \"" + column.name + "\" of relation \"" + relation->name + "\" is an identity column");
   if (notNull) rejectNulls(command.name);
   editor_.setNotNull(oid_, command.name, notNull);
}

void TableAlteration::addConstraint(const ::Constraint& constraint) {
   const auto relation = table();
   catalog::Constraint added;
   added.name = std::string(textOf(constraint.conname));
   if (constraint.contype == CONSTR_CHECK) {
      const catalog::SearchPath path = core_.searchPath();
      const auto bound = sql::bindExpression(*constraint.raw_expr, sql::ExpressionUse::CheckConstraint, relation.get(),
                                             std::nullopt, {}, core_.bindContext(path, &context_.source()));
      added.kind = catalog::ConstraintKind::Check;
      for (const sql::GetColumn& input : bound.inputs)
         added.columns.push_back(input.attribute);
      added.expression = std::string(parenthesized(context_.source().text(), static_cast<size_t>(constraint.location)));
      added.isValidated = !constraint.skip_validation;
      const Oid oid = editor_.addConstraint(oid_, std::move(added));
      if (!constraint.skip_validation) requireCheckHolds(core_, *relation, *editor_.snapshot().constraint(oid).second);
      return;
   }
   if (constraint.contype == CONSTR_FOREIGN) {
      std::vector<std::string> columns;
      for (const ::Node* name : ListOf<>(constraint.fk_attrs))
         columns.emplace_back(sql::stringOf(name));
      return addForeignKey(context_, oid_, constraint, columns);
   }
   if (constraint.contype != CONSTR_PRIMARY && constraint.contype != CONSTR_UNIQUE)
      throwNotSupported("this constraint", context_.position(constraint.location));
   added.isDeferrable = constraint.deferrable;
   added.isInitiallyDeferred = constraint.initdeferred;
   if (constraint.indexname) throwNotSupported("ADD CONSTRAINT ... USING INDEX");
   if (constraint.contype == CONSTR_PRIMARY && relation->primaryKey())
      throw SqlError(sqlstate::invalidTableDefinition,
                     "multiple primary keys for table \"" + relation->name + "\" are not allowed");
   added.kind =
       constraint.contype == CONSTR_PRIMARY ? catalog::ConstraintKind::PrimaryKey : catalog::ConstraintKind::Unique;
   added.nullsNotDistinct = constraint.nulls_not_distinct;
   for (const ::Node* key : ListOf<>(constraint.keys)) {
      const std::string name(sql::stringOf(key));
      const catalog::Column* column = relation->findColumn(name);
      if (!column)
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + name + "\" of relation \"" + relation->name + "\" does not exist");
      added.columns.push_back(column->attribute);
      if (constraint.contype == CONSTR_PRIMARY && !column->notNull) {
         rejectNulls(name);
         editor_.setNotNull(oid_, name, true);
      }
   }
   editor_.addConstraint(oid_, std::move(added));
   checkUniqueKeysOfTable(core_, oid_, true);
}

void TableAlteration::dropConstraint(const ::AlterTableCmd& command) {
   const auto relation = table();
   if (!relation->findConstraint(command.name) && command.missing_ok) {
      core_.notice("constraint \"" + std::string(command.name) + "\" of relation \"" + relation->name +
                   "\" does not exist, skipping");
      return;
   }
   editor_.dropConstraint(oid_, command.name, behaviorOf(command), command.missing_ok);
}

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
         requireComparable(*child, *editor_.snapshot().relation(constraint.foreignRelation), constraint);
         if (constraint.isValidated) checkForeignKeyOfTable(core_, child, constraint);
      }
}

void TableAlteration::alterType(const ::AlterTableCmd& command) {
   const auto relation = table();
   const catalog::Column& column = catalog::requireColumn(*relation, command.name);
   const auto& definition = *as<::ColumnDef>(command.def);
   const catalog::SearchPath path = core_.searchPath();
   const SqlType type = sql::resolveValueType(*definition.typeName, core_.bindContext(path, &context_.source()));
   if (type == column.type && !definition.raw_default) return;
   if (!definition.raw_default && !isAssignable(column, type))
      throw SqlError(sqlstate::datatypeMismatch, "column \"" + column.name +
                                                     "\" cannot be cast automatically to type " +
                                                     formatType({type.oid, -1, invalidOid}))
          .hint("You might need to specify \"USING " + catalog::quoteIdentifier(column.name) + "::" + formatType(type) +
                "\".");
   if (column.hasDefault() && !isAssignable(column, type))
      throw SqlError(sqlstate::datatypeMismatch, "default for column \"" + column.name +
                                                     "\" cannot be cast automatically to type " +
                                                     formatType({type.oid, -1, invalidOid}));
   for (const auto& view : core_.transaction.catalog().dependentsOf(oid_))
      for (const catalog::Dependency& dependency : view->dependsOn)
         if (dependency.relation == oid_ && dependency.attribute == column.attribute)
            throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used by a view or rule")
                .detail("rule _RETURN on view " + view->name + " depends on column \"" + column.name + "\"");
   for (const catalog::Column& other : relation->columns)
      if (reads(*relation, other, column.attribute))
         throw SqlError(sqlstate::featureNotSupported, "cannot alter type of a column used by a generated column")
             .detail("Column \"" + column.name + "\" is used by generated column \"" + other.name + "\".");
   std::string value = catalog::quoteIdentifier(column.name);
   if (definition.raw_default) {
      if (column.generated)
         throw SqlError(sqlstate::invalidColumnDefinition,
                        "cannot specify USING when altering type of generated column")
             .detail("Column \"" + column.name + "\" is a generated column.");
      // Refuses aggregates, window functions, set-returning functions and subqueries.
      sql::bindExpression(*definition.raw_default, sql::ExpressionUse::AlterUsing, relation.get(), std::nullopt,
                          column.name, core_.bindContext(path, &context_.source()));
      const std::string_view text = context_.source().text();
      const size_t using_ = afterKeyword(text, static_cast<size_t>(definition.location), "using");
      value = "(" + std::string(expressionText(text, using_, text.size())) + ")";
      // A literal has no type of its own. A cast without modifier reads it; the assignment applies the modifier.
      if (isNode(definition.raw_default, T_A_Const)) value += "::" + formatType({type.oid, -1, invalidOid});
   }
   catalog::Relation changed = *relation;
   changed.columns[static_cast<size_t>(column.attribute - 1)].type = type;
   rewriteRows(core_, oid_, std::move(changed), column.attribute, value);
   checkConstraintsOf(column.attribute);
}

} // namespace

std::string alterTable(CommandContext& context, const ::AlterTableStmt& statement) {
   SessionCore& core = context.core;
   const bool isView = statement.objtype == OBJECT_VIEW;
   requireWritable(core, isView ? "ALTER VIEW" : "ALTER TABLE");
   if (statement.objtype != OBJECT_TABLE) throwNotSupported("ALTER of this kind of relation");
   const catalog::SearchPath path = core.searchPath();
   const catalog::QualifiedName name = commandTarget(context, path, *statement.relation);
   const auto relation = catalog::findRelation(core.transaction.catalog(), path, name);
   if (!relation && statement.missing_ok) {
      core.notice("relation \"" + name.text() + "\" does not exist, skipping");
      return "ALTER TABLE";
   }
   if (!relation) catalog::requireRelation(core.transaction.catalog(), path, name);
   if (relation->relationKind != catalog::RelationKind::Table)
      throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not a table");
   core.transaction.lock(relation->oid, LockMode::AccessExclusive);
   requireNotInUse(core, *relation, "ALTER TABLE");
   TableAlteration alteration(context, relation->oid);
   for (const ::AlterTableCmd* command : ListOf<::AlterTableCmd>(statement.cmds)) {
      alteration.apply(*command);
      core.transaction.storage().nextCommand();
   }
   return "ALTER TABLE";
}

} // namespace ouzel::engine
