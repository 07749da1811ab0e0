#include <algorithm>
#include <optional>

#include "engine/constraint/unique_keys.hpp"
#include "engine/core/local_setting.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/query/internal_sql.hpp"
#include "engine/query/source_range.hpp"
#include "engine/query/statement_runner.hpp"
#include "engine/relation/query_rows.hpp"
#include "engine/relation/relation.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// CREATE and REFRESH MATERIALIZED VIEW. A materialized view has the text of a view and the storage of a table; a
// refresh fills a new storage and puts it in the place of the old one.

namespace ouzel::engine {

namespace {

/// Offset behind the query, before WITH [NO] DATA.
size_t endOfQuery(std::string_view text, size_t begin) {
   std::vector<Token> last;
   for (Token token = nextToken(text, begin); token.end > token.begin; token = nextToken(text, token.end)) {
      if (token.kind == 'o' && text[token.begin] == ';') break;
      last.push_back(token);
      if (last.size() > 3) last.erase(last.begin());
   }
   const auto is = [&](size_t fromEnd, std::string_view keyword) {
      if (last.size() < fromEnd) return false;
      const Token& token = last[last.size() - fromEnd];
      return token.kind == 'w' && afterKeyword(text.substr(0, token.end), token.begin, keyword) == token.end;
   };
   if (is(1, "data") && is(2, "with")) return last[last.size() - 2].begin;
   if (is(1, "data") && is(2, "no") && is(3, "with")) return last[last.size() - 3].begin;
   return text.size();
}

void requireLastingTables(SessionCore& core, const std::vector<catalog::Dependency>& dependencies) {
   for (const catalog::Dependency& dependency : dependencies) {
      const auto relation = core.transaction.catalog().relation(dependency.relation);
      if (relation && relation->persistence == catalog::Persistence::Temporary)
         throw SqlError(sqlstate::featureNotSupported, "materialized views must not use temporary tables or views");
   }
}

/// Runs the view's query in the name of its owner, and stores the rows in `target.storage`.
uint64_t storeQuery(SessionCore& core, const catalog::Relation& target, const ExecutionWatch& watch = nullptr) {
   std::optional<LocalSetting> role;
   if (target.owner != core.role()) role.emplace(core, "role", core.transaction.catalog().role(target.owner)->name);
   const auto script = sql::ParsedScript::parse(target.definition);
   sql::BoundQuery query = bindUnderLocks(core, script, *script.statements().at(0).node, std::span<const Oid>());
   requirePopulated(core, query.relations);
   const uint64_t rows = storeRows(core, std::move(query), target, watch);
   if (role) role->restore();
   core.transaction.storage().nextCommand();
   return rows;
}

std::string qualifiedName(const catalog::Snapshot& snapshot, const catalog::Relation& relation) {
   return snapshot.schema(relation.schema)->name + "." + relation.name;
}

/// CONCURRENTLY needs an index by which each row is known.
void requireUniqueIndex(SessionCore& core, const catalog::Relation& view) {
   const auto indexes = core.transaction.catalog().indexesOf(view.oid);
   if (std::any_of(indexes.begin(), indexes.end(), [](const catalog::RelationPtr& index) {
          return index->index->isUnique && index->index->expressions.empty() && index->index->predicate.empty();
       }))
      return;
   throw SqlError(sqlstate::objectNotInPrerequisiteState, "cannot refresh materialized view \"" +
                                                              qualifiedName(core.transaction.catalog(), view) +
                                                              "\" concurrently")
       .hint("Create a unique index with no WHERE clause on one or more columns of the materialized view.");
}

/// Throws 21000 if two rows are equal in all columns and have no NULL.
void requireDistinctRows(SessionCore& core, const catalog::Relation& view) {
   std::string columns, present;
   for (const catalog::Column& column : view.columns) {
      const std::string name = catalog::quoteIdentifier(column.name);
      columns += (columns.empty() ? "" : ", ") + name;
      present += (present.empty() ? "" : " AND ") + name + " IS NOT NULL";
   }
   const auto rows =
       runOnNewest(core, "SELECT ROW(" + columns + ")::text FROM " + quotedTable(core.transaction.catalog(), view) +
                             " WHERE " + present + " GROUP BY " + columns + " HAVING count(*) > 1 LIMIT 1");
   if (rows.empty()) return;
   throw SqlError(sqlstate::cardinalityViolation, "new data for materialized view \"" + view.name +
                                                      "\" contains duplicate rows without any null columns")
       .detail("Row: " + rows[0][0].bytes);
}

catalog::RelationPtr requireView(CommandContext& context, const ::RefreshMatViewStmt& statement) {
   SessionCore& core = context.core;
   const catalog::SearchPath path = core.searchPath();
   auto view = requireTarget(context, path, *statement.relation);
   const bool isView = view->relationKind == catalog::RelationKind::MaterializedView;
   if (!isView && view->relationKind != catalog::RelationKind::Table)
      throw SqlError(sqlstate::wrongObjectType, "\"" + view->name + "\" is not a table or materialized view");
   requireOwner(core, *view);
   if (!isView) throw SqlError(sqlstate::featureNotSupported, "\"" + view->name + "\" is not a materialized view");
   return view;
}

} // namespace

std::string createMaterializedView(CommandContext& context, const ::CreateTableAsStmt& statement,
                                   const ExecutionWatch& watch) {
   SessionCore& core = context.core;
   const ::IntoClause& into = *statement.into;
   if (into.rel->relpersistence == 'u')
      throw SqlError(sqlstate::featureNotSupported, "materialized views cannot be unlogged");
   const NewRelation target = newRelation(context, *into.rel);
   const catalog::SearchPath path = core.searchPath();
   const size_t end = context.statement.offset + context.statement.text.size();
   const std::string_view text = std::string_view(context.source().text()).substr(0, end);
   const size_t begin = afterKeyword(text, context.statement.offset, "as");
   sql::BindContext bind = core.bindContext(path, &context.source());
   bind.allowParameters = false;
   sql::BoundView view = sql::bindView(*statement.query, bind, static_cast<uint32_t>(begin),
                                       static_cast<uint32_t>(endOfQuery(text, begin) - begin));
   if (skipsExisting(context, target, statement.if_not_exists)) return "CREATE MATERIALIZED VIEW";
   requireAbsent(target);
   requireTableMethod(into.accessMethod);
   requireLastingTables(core, view.dependsOn);
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.database = core.transaction.catalog().database();
   draft.relationKind = catalog::RelationKind::MaterializedView;
   draft.definition = std::move(view.definition);
   draft.dependsOn = std::move(view.dependsOn);
   draft.options = checkedOptions(OptionOwner::Table, into.options);
   draft.columns = columnsFor(core, view.query, into.colNames);
   draft.isPopulated = !into.skipData;
   makeStorage(core, draft);
   const Oid oid = core.transaction.editor().createRelation(std::move(draft));
   if (into.skipData) return "CREATE MATERIALIZED VIEW";
   const catalog::RelationPtr made = core.transaction.catalog().relation(oid);
   return "SELECT " + std::to_string(storeQuery(core, *made, watch));
}

std::string refreshMaterializedView(CommandContext& context, const ::RefreshMatViewStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "REFRESH MATERIALIZED VIEW");
   const LockMode mode = statement.concurrent ? LockMode::Exclusive : LockMode::AccessExclusive;
   const catalog::RelationPtr view = lockFound(core, mode, false, [&] { return requireView(context, statement); });
   if (statement.concurrent && !view->isPopulated)
      throw SqlError(sqlstate::featureNotSupported,
                     "CONCURRENTLY cannot be used when the materialized view is not populated");
   if (statement.concurrent && statement.skipData)
      throw SqlError(sqlstate::syntaxError, "CONCURRENTLY and WITH NO DATA options cannot be used together");
   if (statement.concurrent) requireUniqueIndex(core, *view);
   requireNotInUse(core, *view, "REFRESH MATERIALIZED VIEW");
   catalog::Relation filled = *view;
   makeStorage(core, filled);
   filled.isPopulated = !statement.skipData;
   if (!statement.skipData) storeQuery(core, filled);
   // With CONCURRENTLY others have read the old rows until now.
   core.transaction.lock(view->oid, LockMode::AccessExclusive);
   catalog::Relation changed = *core.transaction.catalog().relation(view->oid); // another may have granted on it
   core.database.storage->dropTable(core.transaction.storage(), changed.storage);
   changed.storage = filled.storage;
   changed.isPopulated = filled.isPopulated;
   core.transaction.editor().replaceRelation(std::move(changed));
   try {
      checkUniqueKeysOfTable(core, view->oid, true);
   } catch (const SqlError& error) {
      if (statement.concurrent && error.state() == sqlstate::uniqueViolation) requireDistinctRows(core, filled);
      throw;
   }
   return "REFRESH MATERIALIZED VIEW";
}

} // namespace ouzel::engine
