#include "engine/analyze/analyze.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "common/env/clock.hpp"
#include "engine/analyze/dimension_statistics.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/lock_found.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

namespace {

using catalog::Statistics;
using catalog::StatisticsData;

constexpr uint32_t rowsPerTarget = 300; // PostgreSQL's: Chaudhuri, Motwani, Narasayya 1998

/// SQL of the columns and expressions, in the order of the dimensions.
std::vector<std::string> dimensionTexts(const catalog::Relation& table, const Statistics& statistics) {
   std::vector<std::string> texts;
   for (const int16_t attribute : statistics.columns)
      texts.push_back(catalog::quoteIdentifier(table.column(attribute)->name));
   texts.insert(texts.end(), statistics.expressions.begin(), statistics.expressions.end());
   return texts;
}

/// Puts what was found in the place of what was found before.
void keep(SessionCore& core, const Statistics& statistics, StatisticsData data) {
   Statistics changed = *core.transaction.editor().snapshot().statistics(statistics.oid);
   std::erase_if(changed.data, [&](const StatisticsData& old) { return old.isInherited == data.isInherited; });
   changed.data.push_back(std::move(data));
   std::sort(changed.data.begin(), changed.data.end(),
             [](const StatisticsData& a, const StatisticsData& b) { return a.isInherited < b.isInherited; });
   core.transaction.editor().replaceStatistics(std::move(changed));
}

/// Whether ANALYZE was told to look at all that the statistics need.
bool coversAll(const catalog::Relation& table, const Statistics& statistics, const ::List* columns) {
   std::set<std::string, std::less<>> wanted;
   for (const ::Node* name : sql::ListOf<>(columns))
      wanted.emplace(sql::stringOf(name));
   if (wanted.empty()) return true;
   return std::all_of(table.columns.begin(), table.columns.end(), [&](const catalog::Column& column) {
      return !statistics.reads(column.attribute) || wanted.contains(column.name);
   });
}

void analyze(SessionCore& core, const catalog::Relation& table, const Statistics& statistics, const ::List* columns) {
   uint32_t target = static_cast<uint32_t>(std::max(statistics.target, 0));
   if (statistics.target < 0)
      target = static_cast<uint32_t>(std::stoul(core.settings.value("default_statistics_target")));
   if (target == 0) return;
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   if (!coversAll(table, statistics, columns)) {
      const auto nameOf = [&](Oid schema, const std::string& name) {
         return "\"" + snapshot.schema(schema)->name + "." + name + "\"";
      };
      core.warn(sqlstate::invalidObjectDefinition, "statistics object " + nameOf(statistics.schema, statistics.name) +
                                                       " could not be computed for relation " +
                                                       nameOf(table.schema, table.name));
      return;
   }
   const bool hasHeirs = !snapshot.heirOids(table.oid).empty();
   for (const bool isInherited : {false, true}) {
      if (isInherited ? !hasHeirs : table.partitionKey.has_value()) continue;
      const SampledRows sample =
          sampleRows(core, table, dimensionTexts(table, statistics), isInherited, rowsPerTarget * target);
      if (sample.count == 0) continue;
      StatisticsData data = measure(statistics, sample, target);
      data.isInherited = isInherited;
      keep(core, statistics, std::move(data));
   }
}

} // namespace

namespace {

/// The table if it is foreign, or the first of its heirs and partitions that is; null: there is none.
catalog::RelationPtr foreignAmong(const catalog::Snapshot& snapshot, Oid oid) {
   std::vector<Oid> read = snapshot.allHeirOids(oid);
   read.insert(read.begin(), oid);
   for (const Oid one : read)
      if (auto table = snapshot.relation(one); table && table->foreign) return table;
   return nullptr;
}

} // namespace

void analyzeTable(SessionCore& core, Oid oid, const ::List* columns) {
   if (core.database.following) return; // the server that writes finds them out
   const catalog::Snapshot before = core.transaction.catalog();
   const catalog::RelationPtr named = before.relation(oid);
   if (const auto foreign = foreignAmong(before, oid))
      catalog::throwNoAccess(before, *foreign->foreign, "ANALYZE of foreign tables");
   if (named && named->partitionKey)
      for (const Oid partition : before.heirOids(oid))
         analyzeTable(core, partition, columns);
   if (named && named->storage != catalog::noStorage)
      if (const auto stored = core.database.storage->find(named->storage)) {
         storage::TableUse& use = stored->use();
         use.modified.store(0, std::memory_order_relaxed);
         use.analyses.fetch_add(1, std::memory_order_relaxed);
         use.analyzedAt.store(wallClockMicros(), std::memory_order_relaxed);
      }
   if (before.statisticsOf(oid).empty()) return;
   // The lock keeps others from finding out the same at the same time.
   const auto table =
       lockFound(core, LockMode::ShareUpdateExclusive, false, [&] { return core.transaction.catalog().relation(oid); });
   if (!table || !table->isPopulated) return;
   for (const catalog::StatisticsPtr& statistics : core.transaction.catalog().statisticsOf(oid))
      analyze(core, *table, *statistics, columns);
}

void analyzeDatabase(SessionCore& core) {
   std::vector<Oid> tables;
   for (const catalog::RelationPtr& table : core.transaction.catalog().relations()) {
      const bool isTable = table->relationKind == catalog::RelationKind::Table ||
                           table->relationKind == catalog::RelationKind::MaterializedView;
      if (!isTable || foreignAmong(core.transaction.catalog(), table->oid)) continue;
      // Partitions come with their table.
      if (!table->isPartition() && actsFor(core, table->owner)) tables.push_back(table->oid);
   }
   for (const Oid table : tables)
      analyzeTable(core, table, nullptr);
}

} // namespace ouzel::engine
