#include "catalog/object/function.hpp"
#include "catalog/object/snapshot.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_trigger, and what other tables have of triggers.

namespace ouzel::catalog {

namespace {

/// pg_trigger.tgargs: each argument ends with a zero byte.
std::string argumentBytes(const Trigger& trigger) {
   std::string bytes;
   for (const std::string& argument : trigger.arguments)
      bytes += argument + '\0';
   return bytes;
}

void triggerRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "tgrelid"))
      for (const Trigger& t : r->triggers) {
         row.oid(t.oid).oid(r->oid).oid(t.parent).text(t.name).oid(t.function).int2(t.type).letter(t.enabled);
         row.boolean(false).oid(t.constraintRelation).oid(invalidOid).oid(t.constraint);
         row.boolean(t.isDeferrable).boolean(t.isDeferred).int2(static_cast<int64_t>(t.arguments.size()));
         row.int2Vector(t.columns).text(argumentBytes(t)).textOrNull(t.condition);
         row.textOrNull(t.oldTable).textOrNull(t.newTable).emit();
      }
}

void eventTriggerRows(const SystemContext& context, RowBuilder& row) {
   for (const EventTrigger& t : context.snapshot.database(context.snapshot.database())->eventTriggers) {
      row.oid(t.oid).text(t.name).text(t.event).oid(t.owner).oid(t.function).letter(t.enabled);
      (t.tags.empty() ? row.null() : row.textArray(t.tags)).emit();
   }
}

constexpr NamedProducer tables[] = {{"pg_trigger", triggerRows}, {"pg_event_trigger", eventTriggerRows}};

} // namespace

std::span<const NamedProducer> triggerProducers() {
   return tables;
}

void constraintTriggerRows(const Relation& relation, RowBuilder& row) {
   for (const Trigger& t : relation.triggers) {
      if (!t.isConstraint()) continue;
      row.oid(t.constraint).text(t.name).oid(relation.schema).letter('t').boolean(t.isDeferrable);
      row.boolean(t.isDeferred).boolean(true).oid(relation.oid).oid(invalidOid).oid(invalidOid).oid(invalidOid);
      row.oid(invalidOid).letter(' ').letter(' ').letter(' ').boolean(true).int4(0).boolean(true).nulls(8).emit();
   }
}

void forEachTriggerUse(const Relation& relation, const TriggerUse& use) {
   using namespace class_oid;
   for (const Trigger& t : relation.triggers) {
      if (t.function >= firstUserOid) use(t.oid, pgProc, t.function, 0, 'n');
      use(t.oid, pgClass, relation.oid, 0, 'a');
      if (t.constraintRelation != invalidOid) use(t.oid, pgClass, t.constraintRelation, 0, 'a');
      if (t.parent != invalidOid) {
         use(t.oid, pgTrigger, t.parent, 0, 'P');
         use(t.oid, pgClass, relation.oid, 0, 'S');
      }
      for (const int16_t attribute : t.columns)
         use(t.oid, pgClass, relation.oid, attribute, 'n');
      for (const Dependency& read : t.dependsOn)
         if (read.attribute != 0) use(t.oid, pgClass, read.relation, read.attribute, 'n');
   }
}

} // namespace ouzel::catalog
