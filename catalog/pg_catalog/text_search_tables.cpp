#include "catalog/object/text_search/text_search.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_ts_config, pg_ts_config_map, pg_ts_dict, pg_ts_parser, pg_ts_template, and what objects of users need.

namespace ouzel::catalog {

namespace {

template <typename Row>
void forEachObject(const SystemContext& context, ObjectKind kind, const Row& row) {
   for (const TextSearchPtr& object : builtinTextSearch(kind))
      row(*object);
   for (const TextSearchPtr& object : context.snapshot.textSearchObjects(kind))
      row(*object);
}

void configurations(const SystemContext& context, RowBuilder& row) {
   forEachObject(context, ObjectKind::TextSearchConfiguration, [&](const TextSearchObject& object) {
      row.oid(object.oid).text(object.name).oid(object.schema).oid(object.owner).oid(object.base).emit();
   });
}

void configurationMaps(const SystemContext& context, RowBuilder& row) {
   forEachObject(context, ObjectKind::TextSearchConfiguration, [&](const TextSearchObject& object) {
      for (const TextSearchMapping& mapping : object.mappings)
         for (size_t i = 0; i < mapping.dictionaries.size(); ++i)
            row.oid(object.oid)
                .int4(mapping.token)
                .int4(static_cast<int64_t>(i + 1))
                .oid(mapping.dictionaries[i])
                .emit();
   });
}

void dictionaries(const SystemContext& context, RowBuilder& row) {
   forEachObject(context, ObjectKind::TextSearchDictionary, [&](const TextSearchObject& object) {
      row.oid(object.oid).text(object.name).oid(object.schema).oid(object.owner).oid(object.base);
      row.nullable(object.options).emit();
   });
}

/// Parsers and templates are their functions.
template <ObjectKind kind>
void functionTable(const SystemContext& context, RowBuilder& row) {
   forEachObject(context, kind, [&](const TextSearchObject& object) {
      row.oid(object.oid).text(object.name).oid(object.schema);
      for (const Oid function : object.functions)
         row.oid(function);
      row.emit();
   });
}

constexpr NamedProducer tables[] = {{"pg_ts_config", configurations},
                                    {"pg_ts_config_map", configurationMaps},
                                    {"pg_ts_dict", dictionaries},
                                    {"pg_ts_parser", functionTable<ObjectKind::TextSearchParser>},
                                    {"pg_ts_template", functionTable<ObjectKind::TextSearchTemplate>}};

} // namespace

std::span<const NamedProducer> textSearchProducers() {
   return tables;
}

void forEachTextSearchUse(const Snapshot& snapshot, const ForeignUse& use) {
   for (const ObjectKind kind : textSearchKinds)
      for (const TextSearchPtr& object : snapshot.textSearchObjects(kind)) {
         const Oid classOid = textSearchClass(kind);
         use(classOid, object->oid, class_oid::pgNamespace, object->schema);
         const bool isConfiguration = kind == ObjectKind::TextSearchConfiguration;
         if (object->base >= firstUserOid)
            use(classOid, object->oid,
                textSearchClass(isConfiguration ? ObjectKind::TextSearchParser : ObjectKind::TextSearchTemplate),
                object->base);
         for (const TextSearchMapping& mapping : object->mappings)
            for (const Oid dictionary : mapping.dictionaries)
               if (dictionary >= 12000) // the others are pinned
                  use(classOid, object->oid, textSearchClass(ObjectKind::TextSearchDictionary), dictionary);
      }
}

} // namespace ouzel::catalog
