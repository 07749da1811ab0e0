#include "catalog/object/large_object.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_largeobject and pg_largeobject_metadata.

namespace ouzel::catalog {

namespace {

void pgLargeObjectMetadata(const SystemContext& context, RowBuilder& row) {
   const auto add = [&](const LargeObject& object) {
      row.oid(object.oid).oid(object.owner).acl(context.snapshot, object.acl).emit();
   };
   const WantedRows* wanted = context.wants("oid");
   if (wanted != nullptr && wanted->isOne()) {
      if (const LargeObjectPtr object = context.snapshot.largeObject(wanted->lower)) add(*object);
      return;
   }
   for (const LargeObjectPtr& object : context.snapshot.largeObjects())
      add(*object);
}

void pgLargeObject(const SystemContext& context, RowBuilder& row) {
   if (context.state == nullptr) return;
   const WantedRows* wanted = context.wants("loid");
   context.state->largeObjectPages(
       wanted ? wanted->lower : 0, wanted ? wanted->upper : UINT32_MAX,
       [&](Oid object, int32_t page, std::string_view data) { row.oid(object).int4(page).text(data).emit(); });
}

constexpr NamedProducer tables[] = {{"pg_largeobject", pgLargeObject},
                                    {"pg_largeobject_metadata", pgLargeObjectMetadata}};

} // namespace

std::span<const NamedProducer> largeObjectProducers() {
   return tables;
}

} // namespace ouzel::catalog
