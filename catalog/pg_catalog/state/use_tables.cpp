#include <algorithm>

#include "catalog/object/function.hpp"
#include "catalog/pg_catalog/producers.hpp"
#include "common/number/decimal.hpp"

// The statistics views: what was done to tables, indexes and databases, and what the server has written, since it has
// started.

namespace ouzel::catalog {

namespace {

/// Without a server there is nothing to tell.
const SystemState& stateOf(const SystemContext& context) {
   static const SystemState none;
   return context.state != nullptr ? *context.state : none;
}

bool hasRows(const Relation& relation) {
   const char kind = relation.relkind();
   return kind == 'r' || kind == 'm' || kind == 'p';
}

SystemState::TableUse useOf(const SystemContext& context, const Relation& relation) {
   if (relation.storage == noStorage) return {};
   return stateOf(context).tableUse(relation.storage);
}

/// The sums of all lookups.
std::pair<int64_t, int64_t> lookupsOf(const SystemState::TableUse& use) {
   std::pair<int64_t, int64_t> sums;
   for (const auto& lookup : use.lookups) {
      sums.first += lookup.scans;
      sums.second += lookup.rows;
   }
   return sums;
}

/// The relations that a view of tables shows, by `relid`.
std::vector<RelationPtr> tablesOf(const SystemContext& context) {
   const WantedRows* named = context.wants("relname");
   std::vector<RelationPtr> tables =
       named != nullptr ? relationsNamed(context, named->names) : allRelations(context, "relid");
   std::erase_if(tables, [](const RelationPtr& relation) { return !hasRows(*relation); });
   return tables;
}

void pgStatAllTables(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : tablesOf(context)) {
      const SchemaPtr schema = context.snapshot.schema(r->schema);
      const SystemState::TableUse use = useOf(context, *r);
      const auto [lookups, rowsFetched] = lookupsOf(use);
      const double rows = r->storage != noStorage ? stateOf(context).rowCount(r->storage) : 0;
      row.oid(r->oid).textOrNull(schema ? schema->name : "").text(r->name).int8(use.scans).int8(use.rowsScanned);
      if (context.snapshot.hasIndexes(r->oid))
         row.int8(lookups).int8(rowsFetched);
      else
         row.nulls(2);
      row.int8(use.inserted).int8(use.updated).int8(use.deleted);
      // Versions of rows never share a page, and VACUUM has nothing to do: dead rows go with the next checkpoint.
      row.int8(0).int8(static_cast<int64_t>(std::max(0.0, rows))).int8(0);
      row.int8(use.modified).int8(use.inserted).nulls(2).timestamp(use.analyzedAt).null();
      row.int8(0).int8(0).int8(use.analyses).int8(0).emit();
   }
}

void pgStatXactAllTables(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : tablesOf(context)) {
      const SchemaPtr schema = context.snapshot.schema(r->schema);
      SystemState::TableUse use;
      if (r->storage != noStorage) use = stateOf(context).transactionTableUse(r->storage);
      const auto [lookups, rowsFetched] = lookupsOf(use);
      row.oid(r->oid).textOrNull(schema ? schema->name : "").text(r->name).int8(use.scans).int8(use.rowsScanned);
      if (context.snapshot.hasIndexes(r->oid))
         row.int8(lookups).int8(rowsFetched);
      else
         row.nulls(2);
      row.int8(use.inserted).int8(use.updated).int8(use.deleted).int8(0).emit();
   }
}

/// Calls `body(index, table, schema)` for each index of a table that has rows of its own.
template <typename Body>
void forEachIndex(const SystemContext& context, Body&& body) {
   for (const RelationPtr& index : allRelations(context, "indexrelid")) {
      if (!index->index || index->relkind() != 'i') continue;
      const RelationPtr table = context.snapshot.relation(index->index->table);
      const SchemaPtr schema = table ? context.snapshot.schema(table->schema) : nullptr;
      if (schema) body(*index, *table, *schema);
   }
}

/// Whether lookups by these columns go to the index: its key has no others.
bool answers(const IndexDefinition& index, const std::vector<int16_t>& columns) {
   if (index.isComputed()) return false;
   return std::is_permutation(columns.begin(), columns.end(), index.columns.begin(), index.columns.end());
}

/// Of several indexes that have the same key, the first counts.
bool isFirstWithKey(const SystemContext& context, const Relation& index, const Relation& table) {
   for (const RelationPtr& other : context.snapshot.indexesOf(table.oid))
      if (other->oid < index.oid && answers(*other->index, index.index->columns)) return false;
   return true;
}

void pgStatAllIndexes(const SystemContext& context, RowBuilder& row) {
   forEachIndex(context, [&](const Relation& index, const Relation& table, const Schema& schema) {
      int64_t scans = 0, rows = 0;
      for (const auto& lookup : useOf(context, table).lookups)
         if (answers(*index.index, lookup.columns) && isFirstWithKey(context, index, table)) {
            scans += lookup.scans;
            rows += lookup.rows;
         }
      row.oid(table.oid).oid(index.oid).text(schema.name).text(table.name).text(index.name);
      row.int8(scans).int8(rows).int8(rows).emit();
   });
}

// Blocks are pages of columns; a row group that is still in memory counts as one that was found. Indexes have none.

void pgStatioAllTables(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : tablesOf(context)) {
      if (r->relkind() == 'p') continue;
      const SchemaPtr schema = context.snapshot.schema(r->schema);
      row.oid(r->oid).textOrNull(schema ? schema->name : "").text(r->name);
      const SystemState::TableUse use = useOf(context, *r);
      row.int8(use.blocksLoaded).int8(use.blocksFound);
      if (context.snapshot.hasIndexes(r->oid))
         row.int8(0).int8(0);
      else
         row.nulls(2);
      row.nulls(4).emit();
   }
}

void pgStatioAllIndexes(const SystemContext& context, RowBuilder& row) {
   forEachIndex(context, [&](const Relation& index, const Relation& table, const Schema& schema) {
      row.oid(table.oid).oid(index.oid).text(schema.name).text(table.name).text(index.name).int8(0).int8(0).emit();
   });
}

void pgStatioAllSequences(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : allRelations(context, "relid")) {
      const SchemaPtr schema = r->sequence ? context.snapshot.schema(r->schema) : nullptr;
      if (schema) row.oid(r->oid).text(schema->name).text(r->name).int8(0).int8(0).emit();
   }
}

SystemState::TableUse useOfDatabase(const SystemContext& context, Oid database) {
   SystemState::TableUse all;
   int64_t fetched = 0;
   for (const RelationPtr& r : context.snapshot.relationsOfDatabase(database)) {
      const SystemState::TableUse use = useOf(context, *r);
      fetched += lookupsOf(use).second;
      all.rowsScanned += use.rowsScanned;
      all.inserted += use.inserted;
      all.updated += use.updated;
      all.deleted += use.deleted;
      all.blocksFound += use.blocksFound;
      all.blocksLoaded += use.blocksLoaded;
   }
   all.lookups.push_back({{}, 0, fetched});
   return all;
}

void pgStatDatabase(const SystemContext& context, RowBuilder& row) {
   const std::vector<SystemState::Activity> sessions = stateOf(context).activity();
   for (const DatabasePtr& database : context.snapshot.databases()) {
      const auto backends = std::count_if(sessions.begin(), sessions.end(),
                                          [&](const auto& session) { return session.database == database->oid; });
      const SystemState::TableUse tables = useOfDatabase(context, database->oid);
      const int64_t fetched = lookupsOf(tables).second;
      const SystemState::DatabaseUse use = stateOf(context).databaseUse(database->oid);
      row.oid(database->oid).text(database->name).int4(backends).int8(use.commits).int8(use.rollbacks);
      row.int8(tables.blocksLoaded).int8(tables.blocksFound).int8(tables.rowsScanned + fetched).int8(fetched);
      row.int8(tables.inserted).int8(tables.updated).int8(tables.deleted).int8(0).int8(0).int8(0).int8(use.deadlocks);
      row.nulls(2).float8(0).float8(0).float8(0).float8(0).float8(0).int8(use.sessions).int8(0).int8(0).int8(0);
      row.timestamp(use.resetAt).emit();
   }
}

void pgStatDatabaseConflicts(const SystemContext& context, RowBuilder& row) {
   for (const DatabasePtr& database : context.snapshot.databases())
      row.oid(database->oid).text(database->name).int8(0).int8(0).int8(0).int8(0).int8(0).emit();
}

/// `useOf`: of a function, if it was called.
template <typename UseOf>
void functionRows(const SystemContext& context, RowBuilder& row, const UseOf& useOf) {
   for (const FunctionPtr& function : context.snapshot.functions()) {
      const std::optional<SystemState::FunctionUse> use = useOf(function->oid);
      const SchemaPtr schema = use ? context.snapshot.schema(function->schema) : nullptr;
      if (!schema) continue;
      row.oid(function->oid).text(schema->name).text(function->name);
      row.int8(use->calls).float8(use->totalMillis).float8(use->selfMillis).emit();
   }
}

void pgStatUserFunctions(const SystemContext& context, RowBuilder& row) {
   functionRows(context, row, [&](Oid function) { return stateOf(context).functionUse(function); });
}

void pgStatXactUserFunctions(const SystemContext& context, RowBuilder& row) {
   functionRows(context, row, [&](Oid function) { return stateOf(context).transactionFunctionUse(function); });
}

void pgStatWal(const SystemContext& context, RowBuilder& row) {
   const SystemState::ServerUse use = stateOf(context).serverUse();
   row.int8(use.logFrames).int8(0).numeric(std::string(decimal::fromInt64(use.logBytes).view())).int8(0);
   row.int8(use.logWrites).int8(use.logSyncs).float8(use.logWriteMillis).float8(use.logSyncMillis);
   row.timestamp(stateOf(context).resetAt("wal")).emit();
}

void pgStatBgwriter(const SystemContext& context, RowBuilder& row) {
   const SystemState::ServerUse use = stateOf(context).serverUse();
   row.int8(use.checkpointsScheduled).int8(use.checkpointsRequested).float8(use.checkpointMillis).float8(0);
   row.int8(0).int8(0).int8(0).int8(0).int8(0).int8(0).timestamp(stateOf(context).resetAt("bgwriter")).emit();
}

void pgStatArchiver(const SystemContext& context, RowBuilder& row) {
   row.int8(0).nulls(2).int8(0).nulls(2).timestamp(stateOf(context).resetAt("archiver")).emit();
}

/// PostgreSQL's small caches, of which there are none here: the names are there for those who reset them.
void pgStatSlru(const SystemContext& context, RowBuilder& row) {
   for (const char* name :
        {"CommitTs", "MultiXactMember", "MultiXactOffset", "Notify", "Serial", "Subtrans", "Xact", "other"})
      row.text(name)
          .int8(0)
          .int8(0)
          .int8(0)
          .int8(0)
          .int8(0)
          .int8(0)
          .int8(0)
          .timestamp(stateOf(context).resetAt(std::string("slru/") + name))
          .emit();
}

void pgConfig(const SystemContext& context, RowBuilder& row) {
   for (const auto& [name, setting] : stateOf(context).configuration())
      row.text(name).text(setting).emit();
}

/// The ledger, as the parts of one context.
void pgBackendMemoryContexts(const SystemContext& context, RowBuilder& row) {
   int64_t used = 0, limit = 0;
   const auto ledger = stateOf(context).memory();
   for (const auto& [name, bytes] : ledger) {
      if (name == "used") used = bytes;
      if (name == "limit") limit = bytes;
   }
   row.text("TopMemoryContext").nulls(2).int4(0).int8(limit).int8(1).int8(limit - used).int8(0).int8(used).emit();
   for (const auto& [name, bytes] : ledger)
      if (name == "cache" || name == "delta" || name == "statements" || name == "queries")
         row.text(name).null().text("TopMemoryContext").int4(1).int8(bytes).int8(1).int8(0).int8(0).int8(bytes).emit();
}

constexpr NamedProducer tables[] = {
    {"pg_stat_all_tables", pgStatAllTables},
    {"pg_stat_all_indexes", pgStatAllIndexes},
    {"pg_statio_all_tables", pgStatioAllTables},
    {"pg_statio_all_indexes", pgStatioAllIndexes},
    {"pg_statio_all_sequences", pgStatioAllSequences},
    {"pg_stat_database", pgStatDatabase},
    {"pg_stat_database_conflicts", pgStatDatabaseConflicts},
    {"pg_stat_user_functions", pgStatUserFunctions},
    {"pg_stat_xact_all_tables", pgStatXactAllTables},
    {"pg_stat_xact_user_functions", pgStatXactUserFunctions},
    {"pg_stat_wal", pgStatWal},
    {"pg_stat_bgwriter", pgStatBgwriter},
    {"pg_stat_archiver", pgStatArchiver},
    {"pg_stat_slru", pgStatSlru},
    {"pg_config", pgConfig},
    {"pg_backend_memory_contexts", pgBackendMemoryContexts},
};

} // namespace

std::span<const NamedProducer> useProducers() {
   return tables;
}

} // namespace ouzel::catalog
