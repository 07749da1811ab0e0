#include "catalog/editor/drop_plan.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"

// DROP: what the editor drops by a plan (drop_plan.hpp).

namespace ouzel::catalog {

std::pair<std::string, std::string> Dropped::notice() const {
   std::string lines;
   size_t count = 0;
   for (const Item& item : items) {
      if (!item.isCascaded) continue;
      lines += (count++ == 0 ? "drop cascades to " : "\ndrop cascades to ") + item.description;
   }
   if (count <= 1) return {lines, {}};
   return {"drop cascades to " + std::to_string(count) + " other objects", lines};
}

Dropped CatalogEditor::dropRelation(Oid relation, DropBehavior behavior) {
   return dropRelations(std::span(&relation, 1), behavior);
}

Dropped CatalogEditor::dropRelations(std::span<const Oid> relations, DropBehavior behavior) {
   return dropTogether({.relations = {relations.begin(), relations.end()}}, behavior);
}

Dropped CatalogEditor::dropSchema(Oid schema, DropBehavior behavior) {
   return dropTogether({.schemas = {schema}}, behavior);
}

Dropped CatalogEditor::dropTogether(const DropTargets& targets, DropBehavior behavior) {
   DropPlan plan(*this);
   std::string what;
   for (const Oid oid : targets.relations) {
      copyOf(oid); // throws for system relations
      const RelationPtr relation = working_.relation(oid);
      if (const std::string owner = plan.requiredBy(*relation); !owner.empty())
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop " + plan.describe(*relation) + " because " + owner + " requires it")
             .hint("You can drop " + owner + " instead.");
      plan.addTarget(relation);
      what = plan.describe(*relation);
   }
   for (const Oid oid : targets.schemas) {
      const SchemaPtr schema = working_.schema(oid);
      if (!schema) throwInternal("schema to drop does not exist");
      if (oid < firstUserOid && oid != publicSchema)
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop schema " + schema->name + " because it is required by the database system");
      what = "schema " + schema->name;
      for (const ExtensionPtr& extension : working_.extensions()) // before what they take along
         if (extension->schema == oid) plan.addCascaded(extension, what);
      for (const RelationPtr& relation : working_.relations())
         if (relation->schema == oid && !relation->index &&
             !(relation->sequence && relation->sequence->ownerRelation)) {
            if (relation->relationKind ==
                RelationKind::Multirange) { // falls with its range, which cannot be without it
               const RelationPtr range = working_.relationOfType(relation->range->partner);
               if (range->schema != oid) plan.addCascaded(range, what);
               continue;
            }
            const RelationPtr parent = relation->isPartition() ? working_.relation(relation->parents.at(0)) : nullptr;
            if (parent && parent->schema == oid)
               plan.addInternal(relation);
            else
               plan.addCascaded(relation, what);
         }
      for (const StatisticsPtr& statistics : working_.allStatistics())
         if (statistics->schema == oid) plan.addCascaded(statistics, what);
      for (const CollationPtr& collation : working_.collations())
         if (collation->schema == oid) plan.addCascaded(collation, what);
      for (const ObjectKind kind : textSearchKinds)
         for (const TextSearchPtr& object : working_.textSearchObjects(kind))
            if (object->schema == oid) plan.addCascaded(object, what);
      for (const FunctionPtr& function : working_.functions())
         if (function->schema == oid) plan.addCascaded(function, what);
      for (const OperatorPtr& op : working_.operators())
         if (op->schema == oid) plan.addCascaded(op, what);
   }
   for (const Oid oid : targets.collations) {
      const CollationPtr collation = working_.collation(oid);
      plan.addTarget(collation);
      what = plan.describe(*collation);
   }
   for (const TextSearchPtr& object : targets.textSearch) {
      plan.addTarget(object);
      what = plan.describe(*object);
   }
   for (const Oid oid : targets.functions) {
      const FunctionPtr function = working_.function(oid);
      plan.addTarget(function);
      what = plan.describe(*function);
   }
   for (const Oid oid : targets.languages) {
      const Language& language = *userLanguage(working_, oid);
      plan.addTarget(language);
      what = "language " + language.name;
   }
   for (const Oid oid : targets.operators) {
      const OperatorPtr op = working_.op(oid);
      plan.addTarget(op);
      what = plan.describe(*op);
   }
   for (const Oid oid : targets.casts) {
      const CastPtr cast = working_.cast(oid);
      plan.addTarget(cast);
      what = plan.describe(*cast);
   }
   for (const Oid oid : targets.extensions) {
      const ExtensionPtr extension = working_.extension(oid);
      plan.addTarget(extension);
      what = plan.describe(*extension);
   }
   for (const Oid oid : targets.wrappers) {
      const ForeignWrapperPtr wrapper = working_.wrapper(oid);
      plan.addTarget(wrapper);
      what = plan.describe(*wrapper);
   }
   for (const Oid oid : targets.servers) {
      const ServerPtr server = working_.server(oid);
      plan.addTarget(server);
      what = plan.describe(*server);
   }
   plan.close();
   plan.requireNoMembers();
   if (behavior == DropBehavior::Restrict) plan.refuse(targets.count() == 1 ? what : std::string());
   Dropped dropped = plan.execute();
   for (const Oid oid : targets.schemas) {
      // The loop above skips owned sequences. A sequence whose table is in another schema is dropped here.
      for (const RelationPtr& relation : working_.relations())
         if (relation->schema == oid) remove(keyOf(*relation));
      for (const auto& defaults : working_.defaultAcls())
         if (defaults->schema == oid) removeDefaultAcl(*defaults);
      DropPlan::dropPublishedSchema(*this, oid);
      removeComments(class_oid::pgNamespace, oid);
      remove(keyOf(*working_.schema(oid)));
   }
   return dropped;
}

Dropped CatalogEditor::dropColumn(Oid relation, std::string_view name, DropBehavior behavior) {
   copyOf(relation);
   const RelationPtr table = working_.relation(relation);
   const Column& column = requireColumn(*table, name);
   const int16_t attribute = column.attribute;
   DropPlan plan(*this);
   plan.addColumn(table, attribute);
   plan.close();
   if (behavior == DropBehavior::Restrict) plan.refuse("column " + column.name + " of " + plan.describe(*table));
   Dropped dropped = plan.execute();
   Relation changed = copyOf(relation);
   dropColumnOf(changed, attribute);
   dropStatisticsOn(relation, attribute);
   remove({ObjectKind::Comment, working_.database(), class_oid::pgClass, relation, attribute});
   put(std::make_shared<const Relation>(std::move(changed)));
   return dropped;
}

Dropped CatalogEditor::dropConstraint(Oid relation, std::string_view name, DropBehavior behavior, bool missingOk) {
   copyOf(relation);
   const RelationPtr table = working_.relation(relation);
   const Constraint* found = table->findConstraint(name);
   if (found == nullptr) {
      if (missingOk) return {};
      throw SqlError(sqlstate::undefinedObject,
                     "constraint \"" + std::string(name) + "\" of relation \"" + table->name + "\" does not exist");
   }
   const Constraint constraint = *found;
   DropPlan plan(*this);
   if (constraint.index != invalidOid) plan.addInternal(working_.relation(constraint.index));
   if (constraint.kind == ConstraintKind::ForeignKey) plan.addForeignKeyParts(constraint);
   plan.close();
   if (behavior == DropBehavior::Restrict)
      plan.refuse("constraint " + constraint.name + " on " + plan.describe(*table));
   Dropped dropped = plan.execute();
   Relation changed = copyOf(relation);
   std::erase_if(changed.constraints, [&](const Constraint& c) { return c.name == constraint.name; });
   removeComments(class_oid::pgConstraint, constraint.oid);
   put(std::make_shared<const Relation>(std::move(changed)));
   return dropped;
}

} // namespace ouzel::catalog
