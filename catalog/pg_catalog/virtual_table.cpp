#include "catalog/pg_catalog/virtual_table.hpp"

#include <map>
#include <set>

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
            textSearchProducers(), functionProducers(), triggerProducers(), operatorProducers(), extensionProducers(),
            dependencyProducers(), sharedDependencyProducers(), largeObjectProducers(), foreignProducers(),
            useProducers(), publicationProducers()})
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

const WantedRows* SystemContext::wants(std::string_view column) const {
   for (const WantedRows& one : wanted)
      if (table != nullptr && table->columns[static_cast<size_t>(one.attribute) - 1].name == column) return &one;
   return nullptr;
}

void scanVirtualTable(SystemContext context, const Relation& relation, std::span<const int16_t> attributes,
                      const RowCallback& callback) {
   context.table = &relation;
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

std::vector<RelationPtr> ownRelations(const SystemContext& context, std::string_view column) {
   const WantedRows* range = context.wants(column);
   if (range == nullptr) return context.snapshot.relations();
   if (range->isOne()) {
      RelationPtr one = context.snapshot.relation(range->lower);
      return one && !one->isBuiltin() ? std::vector{std::move(one)} : std::vector<RelationPtr>();
   }
   std::vector<RelationPtr> all = context.snapshot.relations();
   std::erase_if(all, [&](const RelationPtr& relation) { return !range->contains(relation->oid); });
   return all;
}

std::vector<RelationPtr> allRelations(const SystemContext& context, std::string_view column) {
   const WantedRows* range = context.wants(column);
   if (range == nullptr) return allRelations(context.snapshot);
   std::vector<RelationPtr> all = range->isOne() ? std::vector<RelationPtr>() : systemRelations();
   if (RelationPtr one = range->isOne() ? context.snapshot.relation(range->lower) : nullptr; one && one->isBuiltin())
      all.push_back(std::move(one));
   for (RelationPtr& relation : ownRelations(context, column))
      if (!relation->isOnlyType()) all.push_back(std::move(relation));
   return all;
}

std::vector<RelationPtr> relationsNamed(const SystemContext& context, const std::vector<std::string>& names) {
   std::vector<RelationPtr> found;
   const std::set<std::string_view> distinct(names.begin(), names.end());
   for (const RelationPtr& relation : systemRelations())
      if (distinct.contains(relation->name)) found.push_back(relation);
   const std::vector<SchemaPtr> schemas = context.snapshot.schemas();
   for (const std::string_view name : distinct)
      for (const SchemaPtr& schema : schemas)
         if (RelationPtr relation = context.snapshot.findRelation(schema->oid, name);
             relation && !relation->isBuiltin() && !relation->isOnlyType())
            found.push_back(std::move(relation));
   return found;
}

} // namespace ouzel::catalog
