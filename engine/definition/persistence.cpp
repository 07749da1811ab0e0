#include "engine/definition/persistence.hpp"

#include "engine/definition/publication/publication.hpp"

// ALTER TABLE ... SET LOGGED and SET UNLOGGED. The rows stay where they are: an unlogged table is as safe as any other.

namespace ouzel::engine {

using catalog::Persistence;
using catalog::Relation;
using catalog::RelationPtr;

namespace {

/// A logged table references no unlogged one.
void requireReferencesAlike(SessionCore& core, const Relation& table, bool logged) {
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const auto refuse = [&](const std::string& other) {
      throw SqlError(sqlstate::invalidTableDefinition,
                     "could not change table \"" + table.name + "\" to " +
                         (logged ? "logged because it references unlogged" : "unlogged because it references logged") +
                         " table \"" + other + "\"");
   };
   const auto refersTo = [](const catalog::Constraint& constraint, Oid other) {
      return constraint.kind == catalog::ConstraintKind::ForeignKey && constraint.foreignRelation == other;
   };
   if (!logged) {
      for (const RelationPtr& child : snapshot.relations())
         if (child->oid != table.oid && child->persistence == Persistence::Permanent)
            for (const catalog::Constraint& constraint : child->constraints)
               if (refersTo(constraint, table.oid)) refuse(child->name);
      return;
   }
   for (const catalog::Constraint& constraint : table.constraints) {
      if (constraint.foreignRelation == table.oid) continue;
      const RelationPtr parent = snapshot.relation(constraint.foreignRelation);
      if (parent && refersTo(constraint, parent->oid) && parent->persistence == Persistence::Unlogged)
         refuse(parent->name);
   }
}

} // namespace

void setLogged(SessionCore& core, const Relation& table, bool logged) {
   if (table.persistence == Persistence::Temporary)
      throw SqlError(sqlstate::invalidTableDefinition,
                     "cannot change logged status of table \"" + table.name + "\" because it is temporary");
   const Persistence wanted = logged ? Persistence::Permanent : Persistence::Unlogged;
   if (table.partitionKey || table.persistence == wanted) return;
   if (!logged) requireInNoPublication(core, table);
   requireReferencesAlike(core, table, logged);
   catalog::CatalogEditor& editor = core.transaction.editor();
   const auto change = [&](Relation changed) {
      changed.persistence = wanted;
      editor.replaceRelation(std::move(changed));
   };
   for (const RelationPtr& index : editor.snapshot().indexesOf(table.oid))
      change(*index);
   for (const RelationPtr& other : editor.snapshot().relations())
      if (other->sequence && other->sequence->ownerRelation == table.oid) change(*other);
   change(Relation(table));
}

} // namespace ouzel::engine
