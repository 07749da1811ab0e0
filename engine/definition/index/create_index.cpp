#include "engine/constraint/unique_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/index/index_draft.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/partition/keys.hpp"
#include "engine/query/source_range.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// CREATE INDEX. The catalog keeps the definition; storage makes the index in memory when lookups need it; unique
// indexes are enforced.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

/// The table that gets an index. Throws 42809, 42501 and what finding it throws.
catalog::RelationPtr requireIndexed(CommandContext& context, const ::IndexStmt& statement) {
   SessionCore& core = context.core;
   const auto table = requireTarget(context, core.searchPath(), *statement.relation);
   if (table->foreign || (table->relationKind != catalog::RelationKind::Table &&
                          table->relationKind != catalog::RelationKind::MaterializedView))
      throw SqlError(sqlstate::wrongObjectType, "cannot create index on relation \"" + table->name + "\"")
          .detail(unsupportedFor(*table));
   if (!table->isBuiltin()) {
      requireOwner(core, *table);
      const auto schema = core.transaction.catalog().schema(table->schema);
      if (schema && table->persistence != catalog::Persistence::Temporary)
         requirePrivilege(core, *schema, catalog::privilege::create);
   }
   return table;
}

} // namespace

namespace {

/// The draft of the statement's index, but for its name.
IndexDraft draftOf(CommandContext& context, const ::IndexStmt& statement, const catalog::Relation& table) {
   const ListOf<::IndexElem> keys(statement.indexParams), included(statement.indexIncludingParams);
   const std::string_view text = context.source().text();
   const IndexTexts texts = indexTexts(text, static_cast<size_t>(statement.relation->location));
   IndexDraft draft(context, table, std::string(textOf(statement.accessMethod)));
   if (statement.whereClause) {
      const size_t where = afterKeyword(text, texts.end, "where");
      draft.setPredicate(*statement.whereClause, expressionText(text, where, text.size()));
   }
   for (const ::IndexElem* element : keys)
      draft.bindExpression(*element);
   if (statement.unique && draft.index().method != "btree")
      throw SqlError(sqlstate::featureNotSupported,
                     "access method \"" + draft.index().method + "\" does not support unique indexes");
   draft.requireColumns(keys.size(), included.size());
   draft.draft.options = checkedOptions(indexOptionOwner(draft.index().method), statement.options);
   for (uint32_t i = 0; i < keys.size(); ++i)
      draft.addKey(*keys[i], texts.elements.at(i));
   for (const ::IndexElem* element : included)
      draft.addIncluded(*element);
   draft.index().isUnique = statement.unique;
   draft.index().nullsNotDistinct = statement.nulls_not_distinct;
   return draft;
}

} // namespace

std::string createIndex(CommandContext& context, const ::IndexStmt& statement) {
   requireWritable(context.core, "CREATE INDEX");
   SessionCore& core = context.core;
   if (statement.concurrent) refuseInBlock(core, "CREATE INDEX CONCURRENTLY");
   const LockMode mode = statement.unique       ? LockMode::ShareRowExclusive
                         : statement.concurrent ? LockMode::ShareUpdateExclusive
                                                : LockMode::Share;
   const auto table =
       lockFound(core, mode, statement.relation->inh, [&] { return requireIndexed(context, statement); });
   requireNotInUse(core, *table, "CREATE INDEX");
   if (table->partitionKey && statement.concurrent)
      throw SqlError(sqlstate::featureNotSupported,
                     "cannot create index on partitioned table \"" + table->name + "\" concurrently");
   catalog::Relation draft = std::move(draftOf(context, statement, *table).draft);
   const bool isChecked = statement.unique || draft.index->isComputed();
   draft.name = statement.idxname ? statement.idxname : core.transaction.editor().chooseIndexName(table->name, draft);
   if (core.transaction.catalog().findRelation(draft.schema, draft.name) && statement.if_not_exists) {
      core.notice("relation \"" + draft.name + "\" already exists, skipping", {}, sqlstate::duplicateTable);
      return "CREATE INDEX";
   }
   if (statement.unique) requirePartitionColumns(*table, draft.index->columns, "UNIQUE");
   const Oid oid = core.transaction.editor().createRelation(std::move(draft));
   if (isChecked) checkUniqueKeysOfTable(core, table->oid, true);
   if (statement.relation->inh) spreadKeys(context, table->oid, {oid});
   return "CREATE INDEX";
}

} // namespace ouzel::engine
