#include "engine/command/new_relation.hpp"

#include "common/sync/mutex.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::textOf;

NewRelation newRelation(CommandContext& context, const ::RangeVar& name, uint32_t position) {
   SessionCore& core = context.core;
   NewRelation target;
   const bool temporary = name.relpersistence == 't' || textOf(name.schemaname) == "pg_temp";
   const std::string_view schema = textOf(name.schemaname);
   if (temporary && !schema.empty() && !schema.starts_with("pg_temp"))
      throw SqlError(sqlstate::invalidTableDefinition, "cannot create temporary relation in non-temporary schema")
          .at(position);
   if (temporary && !core.temporaryBackend) {
      const MutexLock lock(core.database.activityMutex);
      core.temporaryBackend = core.database.nextTemporarySchema++;
   }
   const catalog::SearchPath path = core.searchPath();
   target.name = sql::qualifiedName(name, core.bindContext(path, &context.source()));
   target.isTemporary = temporary;
   target.schema = temporary ? core.transaction.editor().temporarySchema(core.temporaryBackend)
                             : catalog::creationSchema(core.transaction.catalog(), path, target.name);
   target.exists = core.transaction.catalog().findRelation(target.schema, target.name.name) != nullptr;
   return target;
}

bool skipsExisting(CommandContext& context, const NewRelation& target, bool ifNotExists) {
   if (!target.exists || !ifNotExists) return false;
   context.core.notice("relation \"" + target.name.name + "\" already exists, skipping", {}, sqlstate::duplicateTable);
   return true;
}

void noteSequences(SessionCore& core, const sql::Expr& bound, catalog::Column& column) {
   const catalog::Snapshot& catalog = core.transaction.editor().snapshot();
   column.defaultSequence = sql::sequenceOfDefault(bound);
   // nextval('a table') is an error of the call, not of the default.
   const auto named = catalog.relation(column.defaultSequence);
   if (!named || !named->sequence) column.defaultSequence = invalidOid;
   column.sequencesInDefault.clear();
   if (column.defaultSequence == invalidOid) column.sequencesInDefault = sql::sequencesIn(bound, catalog);
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
   sql::forEachExpr(*bound.expr, [](const sql::Expr& expr) {
      const auto* function = functionOf(expr);
      if (function && function->volatility != catalog::Volatility::Immutable)
         throw SqlError(sqlstate::invalidObjectDefinition, "generation expression is not immutable");
      return true;
   });
}

} // namespace ouzel::engine
