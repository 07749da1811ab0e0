#include "engine/definition/new_relation.hpp"

#include <algorithm>

#include "catalog/pg_catalog/operator_classes.hpp"
#include "common/sync/mutex.hpp"
#include "engine/core/privileges.hpp"
#include "engine/core/touched_relations.hpp"
#include "sql/bind/stored_expression.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::textOf;

void makeTemporarySchema(SessionCore& core) {
   if (core.temporaryBackend) return;
   const MutexLock lock(core.database.activityMutex);
   core.temporaryBackend = core.database.nextTemporarySchema++;
}

NewRelation newRelation(CommandContext& context, const ::RangeVar& name, uint32_t position) {
   SessionCore& core = context.core;
   NewRelation target;
   const bool temporary = name.relpersistence == 't' || textOf(name.schemaname) == "pg_temp";
   const std::string_view schema = textOf(name.schemaname);
   if (name.relpersistence == 'u' && schema.starts_with("pg_temp"))
      throw SqlError(sqlstate::invalidTableDefinition, "only temporary relations may be created in temporary schemas")
          .at(position);
   if (temporary && !schema.empty() && !schema.starts_with("pg_temp"))
      throw SqlError(sqlstate::invalidTableDefinition, "cannot create temporary relation in non-temporary schema")
          .at(position);
   if (temporary) makeTemporarySchema(core);
   const catalog::SearchPath path = core.searchPath();
   target.name = sql::qualifiedName(name, core.bindContext(path, &context.source()));
   target.name.position = position;
   if (temporary) requireDatabasePrivilege(core, catalog::privilege::createTemp);
   target.isTemporary = temporary;
   target.isUnlogged = name.relpersistence == 'u';
   target.schema = temporary ? core.transaction.editor().temporarySchema(core.temporaryBackend)
                             : catalog::creationSchema(core.transaction.catalog(), path, target.name);
   const auto existing = core.transaction.catalog().findRelation(target.schema, target.name.name);
   target.exists = existing && existing->relationKind != catalog::RelationKind::Shell; // which it would define
   if (core.touched) core.touched->noteNew(core, target.schema, target.name.name);
   return target;
}

void makeStorage(SessionCore& core, catalog::Relation& draft) {
   std::vector<storage::ColumnDefinition> columns;
   for (const catalog::Column& column : draft.columns)
      columns.push_back(storage::ColumnDefinition::of(column.type));
   draft.storage = core.transaction.createStorage(std::move(columns))->id();
}

char onCommitAction(::OnCommitAction action, const NewRelation& target) {
   if (action == ONCOMMIT_NOOP) return '\0';
   if (!target.isTemporary)
      throw SqlError(sqlstate::invalidTableDefinition, "ON COMMIT can only be used on temporary tables");
   return action == ONCOMMIT_DROP ? 'D' : action == ONCOMMIT_DELETE_ROWS ? 'd' : 'p';
}

bool skipsExisting(CommandContext& context, const NewRelation& target, bool ifNotExists) {
   if (!target.exists || !ifNotExists) return false;
   context.core.notice("relation \"" + target.name.name + "\" already exists, skipping", {}, sqlstate::duplicateTable);
   return true;
}

void requireAbsent(const NewRelation& target) {
   if (target.exists) throw SqlError(sqlstate::duplicateTable, "relation \"" + target.name.name + "\" already exists");
}

void requireTableMethod(const char* method) {
   const std::string_view name = textOf(method);
   if (name.empty() || name == "heap") return;
   if (catalog::accessMethod(name) == invalidOid)
      throw SqlError(sqlstate::undefinedObject, "access method \"" + std::string(name) + "\" does not exist");
   throw SqlError(sqlstate::objectNotInPrerequisiteState,
                  "access method \"" + std::string(name) + "\" is not of type TABLE");
}

int16_t declaredDimensions(const ::ColumnDef& definition) {
   return static_cast<int16_t>(sql::ListOf<>(definition.typeName->arrayBounds).size());
}

void requireKeyType(const SqlType& type, std::string_view method) {
   const catalog::Builtins& builtins = catalog::builtins();
   const bool isOrdered = builtins.comparisonOperator(type.oid, catalog::BtreeStrategy::Less) != nullptr;
   if (method == "hash" ? builtins.equalityOperator(type.oid) != nullptr : isOrdered || method != "btree") return;
   throw SqlError(sqlstate::undefinedObject, "data type " + formatType({type.oid, -1, invalidOid}) +
                                                 " has no default operator class for access method \"" +
                                                 std::string(method) + '"')
       .hint("You must specify an operator class for the index or define a default operator class for the data type.");
}

std::string storedText(CommandContext& context, const ::Node& expression, sql::ExpressionUse use,
                       const catalog::Relation* table, std::optional<SqlType> target, std::string_view text) {
   const catalog::SearchPath path = context.core.searchPath();
   const auto offset = static_cast<uint32_t>(text.data() - context.source().text().data());
   return sql::storedExpression(expression, use, table, target, context.core.bindContext(path, &context.source()),
                                offset, static_cast<uint32_t>(text.size()))
       .text;
}

void noteRelations(SessionCore& core, const sql::Expr& bound, catalog::Column& column) {
   const catalog::Snapshot& catalog = core.transaction.editor().snapshot();
   column.defaultSequence = sql::sequenceOfDefault(bound);
   // nextval('a table') is an error of the call, not of the default.
   const auto named = catalog.relation(column.defaultSequence);
   if (!named || !named->sequence) column.defaultSequence = invalidOid;
   column.relationsInDefault.clear();
   if (column.defaultSequence == invalidOid) column.relationsInDefault = sql::relationsIn(bound, catalog);
}

namespace {

/// Whether the node, its arguments aside, has the same value for ever. A cast through text depends on the functions
/// that print and read the types: the text of a date depends on DateStyle.
bool isImmutableNode(const sql::Expr& expr) {
   const catalog::Builtins& builtins = catalog::builtins();
   const auto isFixed = [&](Oid function) {
      const catalog::FunctionInfo* info = builtins.function(function);
      return !info || info->volatility == catalog::Volatility::Immutable;
   };
   const auto printsFixed = [&](const sql::ExprPtr& arg) {
      const catalog::TypeInfo* type = builtins.type(arg->type.oid);
      return !type || isFixed(type->output);
   };
   if (const auto* function = functionOf(expr)) {
      // anynonarray || text is declared stable, and is as fixed as the text of its operands.
      const bool isConcatenation = function->name == "anytextcat" || function->name == "textanycat";
      if (function->name == "ouzel_domain") return true; // the checks give no value
      return isConcatenation ? std::all_of(expr.args.begin(), expr.args.end(), printsFixed)
                             : function->volatility == catalog::Volatility::Immutable;
   }
   if (expr.kind != sql::ExprKind::TextCast) return true;
   const catalog::TypeInfo* to = builtins.type(expr.type.oid);
   return printsFixed(expr.args[0]) && (!to || isFixed(to->input));
}

} // namespace

bool isImmutable(const sql::Expr& expr) {
   bool isFixed = true;
   sql::forEachExpr(expr, [&](const sql::Expr& node) {
      isFixed = isFixed && isImmutableNode(node);
      return isFixed;
   });
   return isFixed;
}

void requireGenerationExpression(SessionCore& core, const sql::SourceText* source, const ::Node& expression,
                                 const catalog::Relation& table, const catalog::Column& column) {
   const catalog::SearchPath path = core.searchPath();
   const auto bound = sql::bindExpression(expression, sql::ExpressionUse::GeneratedColumn, &table, column.type,
                                          column.name, core.bindContext(path, source));
   for (const sql::GetColumn& input : bound.inputs) {
      const catalog::Column& read = *table.column(input.attribute);
      if (!read.generated) continue;
      uint32_t position = 0;
      sql::forEachExpr(*bound.expr, [&](const sql::Expr& expr) {
         if (columnOf(expr) == input.column) position = expr.position;
         return true;
      });
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "cannot use generated column \"" + read.name + "\" in column generation expression")
          .at(position)
          .detail("A generated column cannot reference another generated column.");
   }
   if (!isImmutable(*bound.expr) || bound.callsMutable)
      throw SqlError(sqlstate::invalidObjectDefinition, "generation expression is not immutable");
}

} // namespace ouzel::engine
