#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_foreign_data_wrapper, pg_foreign_server, pg_user_mapping and pg_foreign_table.

namespace ouzel::catalog {

void foreignOptions(RowBuilder& row, const ForeignOptions& options) {
   if (options.empty())
      row.null();
   else
      row.textArray(optionTexts(options));
}

namespace {

void pgForeignDataWrapper(const SystemContext& context, RowBuilder& row) {
   const auto add = [&](const ForeignWrapper& w) {
      row.oid(w.oid).text(w.name).oid(w.owner).oid(w.handler).oid(w.validator).acl(context.snapshot, w.acl);
      foreignOptions(row, w.options);
      row.emit();
   };
   add(*builtinWrapper());
   for (const ForeignWrapperPtr& wrapper : context.snapshot.wrappers())
      add(*wrapper);
}

void pgForeignServer(const SystemContext& context, RowBuilder& row) {
   for (const ServerPtr& s : context.snapshot.servers()) {
      row.oid(s->oid).text(s->name).oid(s->owner).oid(s->wrapper).textOrNull(s->type).textOrNull(s->version);
      row.acl(context.snapshot, s->acl);
      foreignOptions(row, s->options);
      row.emit();
   }
}

void pgUserMapping(const SystemContext& context, RowBuilder& row) {
   for (const ServerPtr& s : context.snapshot.servers())
      for (const ForeignServer::Mapping& mapping : s->mappings) {
         row.oid(mapping.oid).oid(mapping.role).oid(s->oid);
         foreignOptions(row, mapping.options);
         row.emit();
      }
}

void pgForeignTable(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& relation : ownRelations(context, "ftrelid")) {
      if (!relation->foreign) continue;
      row.oid(relation->oid).oid(relation->foreign->server);
      foreignOptions(row, relation->foreign->options);
      row.emit();
   }
}

constexpr NamedProducer tables[] = {{"pg_foreign_data_wrapper", pgForeignDataWrapper},
                                    {"pg_foreign_server", pgForeignServer},
                                    {"pg_user_mapping", pgUserMapping},
                                    {"pg_foreign_table", pgForeignTable}};

} // namespace

void forEachForeignUse(const Snapshot& snapshot, const ForeignUse& use) {
   for (const ForeignWrapperPtr& wrapper : snapshot.wrappers())
      for (const Oid function : {wrapper->handler, wrapper->validator})
         if (function >= firstUserOid) use(class_oid::pgForeignDataWrapper, wrapper->oid, class_oid::pgProc, function);
   for (const ServerPtr& server : snapshot.servers()) {
      use(class_oid::pgForeignServer, server->oid, class_oid::pgForeignDataWrapper, server->wrapper);
      for (const ForeignServer::Mapping& mapping : server->mappings)
         use(class_oid::pgUserMapping, mapping.oid, class_oid::pgForeignServer, server->oid);
   }
   for (const RelationPtr& relation : snapshot.relations())
      if (relation->foreign)
         use(class_oid::pgClass, relation->oid, class_oid::pgForeignServer, relation->foreign->server);
}

std::span<const NamedProducer> foreignProducers() {
   return tables;
}

} // namespace ouzel::catalog
