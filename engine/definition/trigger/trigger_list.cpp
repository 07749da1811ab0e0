#include "engine/definition/trigger/trigger_list.hpp"

#include <algorithm>

namespace ouzel::engine {

using catalog::Trigger;
namespace bit = catalog::trigger_bit;

void putTriggers(SessionCore& core, const catalog::Relation& table, std::vector<Trigger> triggers) {
   std::sort(triggers.begin(), triggers.end(), [](const Trigger& a, const Trigger& b) { return a.name < b.name; });
   catalog::Relation changed = table;
   changed.triggers = std::move(triggers);
   core.transaction.editor().replaceRelation(std::move(changed));
}

bool hasParts(const catalog::Relation& table, const Trigger& trigger) {
   return table.partitionKey && trigger.has(bit::row);
}

namespace {

[[noreturn]] void refuseName(const catalog::Relation& table, const std::string& name) {
   throw SqlError(sqlstate::duplicateObject,
                  "trigger \"" + name + "\" for relation \"" + table.name + "\" already exists");
}

/// The attribute of the same name in a partition.
int16_t attributeIn(const catalog::Relation& partition, const catalog::Relation& parent, int16_t attribute) {
   const catalog::Column* column = parent.column(attribute);
   const catalog::Column* own = column ? partition.findColumn(column->name) : nullptr;
   if (!own) throwInternal("a partition lacks a column of a trigger");
   return own->attribute;
}

} // namespace

void addPart(SessionCore& core, const Trigger& trigger, const catalog::Relation& parent, Oid partition) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::RelationPtr table = editor.snapshot().relation(partition);
   std::vector<Trigger> triggers = table->triggers;
   const auto old =
       std::find_if(triggers.begin(), triggers.end(), [&](const Trigger& other) { return other.name == trigger.name; });
   if (old != triggers.end() && old->parent != trigger.oid) refuseName(*table, trigger.name);
   Trigger part = trigger;
   part.parent = trigger.oid;
   part.oid = old != triggers.end() ? old->oid : editor.allocateOid();
   if (part.isConstraint()) part.constraint = old != triggers.end() ? old->constraint : editor.allocateOid();
   for (int16_t& attribute : part.columns)
      attribute = attributeIn(*table, parent, attribute);
   for (catalog::Dependency& read : part.dependsOn)
      if (read.relation == parent.oid)
         read = {table->oid, read.attribute == 0 ? int16_t{0} : attributeIn(*table, parent, read.attribute)};
   if (old != triggers.end())
      *old = part;
   else
      triggers.push_back(part);
   putTriggers(core, *table, std::move(triggers));
   if (!table->partitionKey) return;
   for (const Oid below : editor.snapshot().heirOids(partition))
      addPart(core, part, *table, below);
}

void changeWithParts(SessionCore& core, const catalog::Relation& table, Oid trigger,
                     const std::function<void(Trigger&)>& change) {
   std::vector<Trigger> triggers = table.triggers;
   for (Trigger& one : triggers)
      if (one.oid == trigger) change(one);
   putTriggers(core, table, std::move(triggers));
   const catalog::Snapshot snapshot = core.transaction.editor().snapshot();
   for (const Oid below : snapshot.heirOids(table.oid)) {
      const catalog::RelationPtr part = snapshot.relation(below);
      for (const Trigger& one : part->triggers)
         if (one.parent == trigger) {
            changeWithParts(core, *part, one.oid, change);
            break;
         }
   }
}

void removeWithParts(SessionCore& core, const catalog::Relation& table, Oid trigger) {
   const catalog::Snapshot snapshot = core.transaction.editor().snapshot();
   for (const Oid below : snapshot.heirOids(table.oid)) {
      const catalog::RelationPtr part = snapshot.relation(below);
      for (const Trigger& one : part->triggers)
         if (one.parent == trigger) {
            removeWithParts(core, *part, one.oid);
            break;
         }
   }
   core.transaction.editor().setComment(catalog::class_oid::pgTrigger, trigger, 0, {});
   std::vector<Trigger> triggers = table.triggers;
   std::erase_if(triggers, [&](const Trigger& one) { return one.oid == trigger; });
   putTriggers(core, table, std::move(triggers));
}

} // namespace ouzel::engine
