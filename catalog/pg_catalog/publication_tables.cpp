#include "catalog/object/published_tables.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_publication and what publications have; what pg_depend has of them.

namespace ouzel::catalog {

namespace {

void publicationRows(const SystemContext& context, RowBuilder& row) {
   for (const Publication& p : publicationsOf(context.snapshot)) {
      row.oid(p.oid).text(p.name).oid(p.owner).boolean(p.hasAllTables);
      row.boolean(p.insert).boolean(p.update).boolean(p.del).boolean(p.truncate).boolean(p.viaRoot).emit();
   }
}

void tableRows(const SystemContext& context, RowBuilder& row) {
   for (const Publication& p : publicationsOf(context.snapshot))
      for (const PublicationTable& published : p.tables) {
         row.oid(published.oid).oid(p.oid).oid(published.table).textOrNull(published.filter);
         (published.columns.empty() ? row.null() : row.int2Vector(published.columns)).emit();
      }
}

void schemaRows(const SystemContext& context, RowBuilder& row) {
   for (const Publication& p : publicationsOf(context.snapshot))
      for (const PublicationSchema& published : p.schemas)
         row.oid(published.oid).oid(p.oid).oid(published.schema).emit();
}

constexpr NamedProducer tables[] = {
    {"pg_publication", publicationRows}, {"pg_publication_rel", tableRows}, {"pg_publication_namespace", schemaRows}};

} // namespace

std::span<const NamedProducer> publicationProducers() {
   return tables;
}

void forEachPublicationUse(const Snapshot& snapshot, const PublicationUse& use) {
   using namespace class_oid;
   for (const Publication& p : publicationsOf(snapshot)) {
      for (const PublicationTable& published : p.tables) {
         use(pgPublicationRel, published.oid, pgPublication, p.oid, 0, 'a');
         use(pgPublicationRel, published.oid, pgClass, published.table, 0, 'a');
         for (const std::vector<int16_t>* list : {&published.filterReads, &published.columns})
            for (const int16_t attribute : *list)
               use(pgPublicationRel, published.oid, pgClass, published.table, attribute, 'n');
      }
      for (const PublicationSchema& published : p.schemas) {
         use(pgPublicationNamespace, published.oid, pgPublication, p.oid, 0, 'a');
         use(pgPublicationNamespace, published.oid, pgNamespace, published.schema, 0, 'a');
      }
   }
}

} // namespace ouzel::catalog
