#include "catalog/pg_catalog/virtual_table.hpp"

#include <map>

#include "catalog/builtin/text_table.hpp"
#include "catalog/object/system_relations.hpp"
#include "catalog/pg_catalog/producers.hpp"

namespace ouzel::catalog {

SystemState::~SystemState() = default;

namespace {

const std::map<std::string_view, Producer>& producers() {
   static const std::map<std::string_view, Producer> byName = [] {
      std::map<std::string_view, Producer> result;
      for (const auto list :
           {relationProducers(), clusterProducers(), stateProducers(), statisticsProducers(), collationProducers(),
            functionProducers(), triggerProducers(), operatorProducers(), extensionProducers(), dependencyProducers()})
         for (const NamedProducer& entry : list)
            result.emplace(entry.table, entry.produce);
      return result;
   }();
   return byName;
}

/// Scans a catalog whose rows are the compiled-in rows in every database.
void scanStatic(const TextTable& table, const Relation& relation, RowBuilder& row) {
   std::vector<uint32_t> columns;
   for (const Column& column : relation.columns)
      columns.push_back(table.column(column.name));
   for (uint32_t r = 0; r < table.rowCount(); ++r) {
      for (const uint32_t column : columns)
         row.parsed(table.at(r, column));
      row.emit();
   }
}

} // namespace

void scanVirtualTable(const SystemContext& context, const Relation& relation, std::span<const int16_t> attributes,
                      const RowCallback& callback) {
   RowBuilder row(relation, attributes, callback);
   const auto& known = producers();
   // information_schema has no producers: it has views, and tables that describe conformance (sql_features, ...).
   if (relation.schema != pgCatalogSchema && !relation.name.starts_with("sql_")) return;
   if (const auto found = known.find(relation.name); found != known.end()) return found->second(context, row);
   if (const TextTable* table = builtins().rows(relation.name)) scanStatic(*table, relation, row);
}

std::vector<RelationPtr> allRelations(const Snapshot& snapshot) {
   std::vector<RelationPtr> all = systemRelations();
   for (RelationPtr& relation : snapshot.relations())
      if (!relation->isOnlyType()) all.push_back(std::move(relation));
   return all;
}

} // namespace ouzel::catalog
