#include <algorithm>

#include "catalog/pg_catalog/functions.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/index/clustered.hpp"
#include "engine/definition/rewrite_rows.hpp"
#include "engine/relation/relation.hpp"
#include "sql/parse/node_access.hpp"

// CLUSTER gives a table's rows the order of an index, once. Blocks then hold narrow ranges of the key: predicates over
// ranges and ORDER BY ... LIMIT read the row groups that they need and skip the others by their bounds. Rows that come
// later lie behind.

namespace ouzel::engine {

namespace {

using sql::ListOf;
using sql::textOf;

/// The keys of an index as ORDER BY has them.
std::string orderOf(const catalog::Relation& table, const catalog::IndexDefinition& index) {
   constexpr uint8_t isDescending = 1, isNullsFirst = 2;
   std::string order;
   for (size_t i = 0; i < index.columns.size(); ++i) {
      const uint8_t option = i < index.options.size() ? index.options[i] : uint8_t{0};
      order += (i == 0 ? "" : ", ") + catalog::indexKeyText(table, index, i);
      order += (option & isDescending) != 0 ? " DESC" : " ASC";
      order += (option & isNullsFirst) != 0 ? " NULLS FIRST" : " NULLS LAST";
   }
   return order;
}

void clusterTable(SessionCore& core, const catalog::Relation& table, const catalog::Relation& index, bool isVerbose) {
   requireNotInUse(core, table, "CLUSTER");
   markClustered(core, table.oid, index.oid);
   if (isVerbose) {
      const auto schema = core.transaction.catalog().schema(table.schema);
      core.inform("clustering \"" + (schema ? schema->name + "." : std::string()) + table.name +
                  "\" using sequential scan and sort");
   }
   RowRewrite(core, table, {}, orderOf(table, *index.index)).run(table);
}

/// The partitions of a partitioned table have parts of its index.
void clusterPartitions(SessionCore& core, const catalog::Relation& table, const catalog::Relation& index,
                       bool isVerbose) {
   const catalog::Snapshot& catalog = core.transaction.catalog();
   for (const Oid heir : catalog.heirOids(table.oid)) {
      core.transaction.lock(heir, LockMode::AccessExclusive);
      const auto part = catalog.relation(heir);
      for (const auto& own : catalog.indexesOf(heir)) {
         if (own->index->parentIndex != index.oid) continue;
         if (part->partitionKey)
            clusterPartitions(core, *part, *own, isVerbose);
         else
            clusterTable(core, *part, *own, isVerbose);
      }
   }
}

/// All tables of the role that remember an index.
void clusterAll(SessionCore& core, bool isVerbose) {
   std::vector<catalog::RelationPtr> indexes;
   for (const catalog::RelationPtr& relation : core.transaction.catalog().relations())
      if (relation->index && relation->index->isClustered) indexes.push_back(relation);
   for (const catalog::RelationPtr& index : indexes) {
      const auto table = core.transaction.catalog().relation(index->index->table);
      if (!table || !actsFor(core, table->owner)) continue;
      core.transaction.lock(table->oid, LockMode::AccessExclusive);
      clusterTable(core, *table, *index, isVerbose);
   }
}

bool isVerbose(CommandContext& context, const ::List* params) {
   bool isOn = false;
   for (const ::DefElem* option : ListOf<::DefElem>(params)) {
      if (textOf(option->defname) != "verbose")
         throw SqlError(sqlstate::syntaxError, "unrecognized CLUSTER option \"" + std::string(option->defname) + "\"")
             .at(context.position(option->location));
      isOn = isSwitchedOn(*option);
   }
   return isOn;
}

} // namespace

std::string cluster(CommandContext& context, const ::ClusterStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CLUSTER");
   const bool verbose = isVerbose(context, statement.params);
   if (!statement.relation) {
      refuseInBlock(core, "CLUSTER");
      clusterAll(core, verbose);
      return "CLUSTER";
   }
   const auto named = requireTableToOwn(context, *statement.relation);
   if (named->isBuiltin()) return "CLUSTER"; // its rows are computed, and lie in no order
   core.transaction.lock(named->oid, LockMode::AccessExclusive);
   const auto table = core.transaction.catalog().relation(named->oid);
   const auto index = statement.indexname ? requireClusterable(core, *table, statement.indexname)
                                          : clusteredIndex(core.transaction.catalog(), *table);
   if (!index)
      throw SqlError(sqlstate::undefinedObject,
                     "there is no previously clustered index for table \"" + table->name + "\"");
   if (!table->partitionKey) {
      clusterTable(core, *table, *index, verbose);
   } else {
      refuseInBlock(core, "CLUSTER");
      clusterPartitions(core, *table, *index, verbose);
   }
   return "CLUSTER";
}

} // namespace ouzel::engine
