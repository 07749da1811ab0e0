#include "engine/constraint/unique_keys.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/partition/keys.hpp"
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
   if (table->relationKind != catalog::RelationKind::Table &&
       table->relationKind != catalog::RelationKind::MaterializedView)
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
   if (statement.whereClause) throwNotSupported("a partial index");
   if (statement.indexIncludingParams) throwNotSupported("INCLUDE in an index");
   catalog::Relation draft;
   catalog::IndexDefinition index;
   index.table = table->oid;
   index.isUnique = statement.unique;
   index.nullsNotDistinct = statement.nulls_not_distinct;
   index.method = textOf(statement.accessMethod);
   draft.options = checkedOptions(indexOptionOwner(index.method), statement.options);
   for (const ::IndexElem* element : ListOf<::IndexElem>(statement.indexParams)) {
      if (!element->name) throwNotSupported("an index on an expression");
      const catalog::Column* column = table->findColumn(element->name);
      if (!column)
         throw SqlError(sqlstate::undefinedColumn, "column \"" + std::string(element->name) + "\" does not exist");
      if (!element->opclass) requireKeyType(column->type, index.method);
      index.columns.push_back(column->attribute);
      const bool descending = element->ordering == SORTBY_DESC;
      const bool nullsFirst = element->nulls_ordering == SORTBY_NULLS_FIRST ||
                              (element->nulls_ordering == SORTBY_NULLS_DEFAULT && descending);
      index.options.push_back(static_cast<uint8_t>((descending ? 1 : 0) | (nullsFirst ? 2 : 0)));
      catalog::Column copy = *column;
      if (element->collation) copy.type = sql::collated(copy.type, element->collation, 0);
      copy.attribute = static_cast<int16_t>(draft.columns.size() + 1);
      for (uint32_t number = 1; draft.findColumn(copy.name); ++number)
         copy.name = column->name + std::to_string(number);
      draft.columns.push_back(std::move(copy));
   }
   draft.schema = table->schema;
   draft.database = table->database;
   draft.relationKind = catalog::RelationKind::Index;
   draft.persistence = table->persistence;
   draft.name = statement.idxname ? statement.idxname : core.transaction.editor().chooseIndexName(table->name, draft);
   if (core.transaction.catalog().findRelation(draft.schema, draft.name) && statement.if_not_exists) {
      core.notice("relation \"" + draft.name + "\" already exists, skipping", {}, sqlstate::duplicateTable);
      return "CREATE INDEX";
   }
   if (index.isUnique) requirePartitionColumns(*table, index.columns, "UNIQUE");
   index.isPartitioned = table->partitionKey.has_value();
   if (index.isPartitioned && statement.concurrent)
      throw SqlError(sqlstate::featureNotSupported,
                     "cannot create index on partitioned table \"" + table->name + "\" concurrently");
   draft.index = std::move(index);
   core.transaction.editor().createRelation(std::move(draft));
   if (statement.unique) checkUniqueKeysOfTable(core, table->oid, true);
   if (statement.relation->inh) spreadKeys(context, table->oid);
   return "CREATE INDEX";
}

} // namespace ouzel::engine
