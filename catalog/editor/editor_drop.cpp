#include <algorithm>

#include "catalog/editor/editor.hpp"
#include "catalog/object/statistics.hpp"
#include "common/error/sql_error.hpp"

// DROP: finds all objects that a DROP removes, and checks whether it may remove them.

namespace ouzel::catalog {

namespace {

bool contains(const std::vector<int16_t>& attributes, int16_t attribute) {
   return std::find(attributes.begin(), attributes.end(), attribute) != attributes.end();
}

/// Leaves the place of the column, and takes its constraints with it.
void dropColumnOf(Relation& relation, int16_t attribute) {
   std::erase_if(relation.constraints, [&](const Constraint& c) { return contains(c.columns, attribute); });
   Column& slot = relation.columns[static_cast<size_t>(attribute) - 1];
   slot.name = "........pg.dropped." + std::to_string(attribute) + "........";
   slot.isDropped = true;
   slot.notNull = false;
   slot.dropDefault();
   slot.identity = slot.generated = '\0';
   slot.acl.reset();
}

} // namespace

/// The objects that one DROP removes: the named objects, and all relations, constraints and defaults that depend on a
/// removed object, each with the reason. Steps: add..., close(), refuse() for RESTRICT, execute().
class DropPlan {
public:
   explicit DropPlan(CatalogEditor& editor) : editor_(editor) {}

   void addTarget(const RelationPtr& relation) { add(relation, false, false, {}); }
   void addCascaded(const RelationPtr& relation, const std::string& reason) { add(relation, true, false, reason); }
   void addInternal(const RelationPtr& relation) { add(relation, false, true, {}); }
   void addCascaded(const StatisticsPtr& statistics, const std::string& reason) {
      statistics_.emplace_back(statistics, reason);
   }
   /// Adds the dependents of all added objects until no further object is added.
   void close();
   /// Adds what partitions have of a foreign key that is dropped from the partitioned table.
   void addForeignKeyParts(const Constraint& constraint) { addPartsOfConstraint(constraint.oid); }
   /// Adds the objects that depend on the column that the statement drops, of a table that stays.
   void addColumn(const RelationPtr& relation, int16_t attribute);

   /// Throws 2BP01 if the DROP would remove an object that the statement does not name. `what`: what it names; empty:
   /// several objects.
   void refuse(const std::string& what) const;
   Dropped execute();
   std::string describe(const Relation& relation) const;
   std::string describe(const Statistics& statistics) const {
      return "statistics object " + displayName(editor_.snapshot(), editor_.searchPath_, statistics);
   }
   /// What an index or sequence is a part of and falls with, as error messages name it; empty: nothing.
   std::string requiredBy(const Relation& relation) const;

private:
   struct Fallen {
      RelationPtr relation;
      bool isCascaded, isInternal;
      std::string reason; ///< the object that it depends on: "table t"
      bool isFollowed = false;
   };
   struct FallenPart { ///< a constraint, default, column or policy of a relation that stays
      Oid relation;
      std::string constraint;
      int16_t defaultOf = 0;
      std::string description, reason;
      int16_t column = 0;
      std::string policy{};
      bool isInternal = false; ///< falls without a word, with the constraint of the parent that it is a part of
      std::string rule{};
   };

   void add(const RelationPtr& relation, bool isCascaded, bool isInternal, const std::string& reason);
   /// Adds what partitions have as parts of a constraint or index of a partitioned table.
   void addPartsOfConstraint(Oid constraint);
   void addPartsOfIndex(Oid index);
   /// Adds the foreign keys for which `needs` is true.
   template <typename Needs>
   void addForeignKeys(const Needs& needs, const std::string& reason);
   /// The same of rules.
   void addRules(Oid relation, int16_t attribute, const std::string& reason);
   /// Adds the policies of other tables, and of the table whose column falls, that read a relation or column.
   void addPolicies(Oid relation, int16_t attribute, const std::string& reason);
   void follow(size_t i);
   /// Adds the columns of other relations that have the relation's row type.
   void addColumnsOfType(const Relation& relation);
   void addDependentsOfColumn(const RelationPtr& relation, int16_t attribute, const std::string& reason);
   bool has(Oid relation) const {
      return std::any_of(fallen_.begin(), fallen_.end(), [&](const Fallen& f) { return f.relation->oid == relation; });
   }

   CatalogEditor& editor_;
   std::vector<Fallen> fallen_;
   std::vector<FallenPart> parts_;
   /// Of a schema that falls, each with the reason; those of tables that fall go with the table, without a word.
   std::vector<std::pair<StatisticsPtr, std::string>> statistics_;
   // The column of addColumn(); its default and constraints over it fall with it, without a word.
   Oid columnOwner_ = invalidOid;
   int16_t column_ = 0;
};

std::string DropPlan::describe(const Relation& relation) const {
   return std::string(relationKindName(relation)) + " " +
          displayName(editor_.snapshot(), editor_.searchPath_, relation);
}

std::string DropPlan::requiredBy(const Relation& relation) const {
   if (relation.relationKind == RelationKind::Multirange)
      return describe(*editor_.snapshot().relationOfType(relation.range->partner));
   if (relation.index && relation.index->parentIndex != invalidOid)
      return describe(*editor_.snapshot().relation(relation.index->parentIndex));
   if (relation.index) {
      const RelationPtr table = editor_.snapshot().relation(relation.index->table);
      const Constraint* owner = table->constraintOf(relation.oid);
      return owner ? "constraint " + owner->name + " on " + describe(*table) : "";
   }
   if (!relation.sequence || relation.sequence->ownerRelation == invalidOid) return {};
   const RelationPtr table = editor_.snapshot().relation(relation.sequence->ownerRelation);
   const Column& column = *table->column(relation.sequence->ownerAttribute);
   return column.identity ? "column " + column.name + " of " + describe(*table) : "";
}

void DropPlan::add(const RelationPtr& relation, bool isCascaded, bool isInternal, const std::string& reason) {
   if (relation && !has(relation->oid)) fallen_.push_back({relation, isCascaded, isInternal, reason});
}

template <typename Needs>
void DropPlan::addForeignKeys(const Needs& needs, const std::string& reason) {
   for (const RelationPtr& child : editor_.snapshot().relations()) {
      if (has(child->oid)) continue;
      for (const Constraint& constraint : child->constraints) {
         if (constraint.kind != ConstraintKind::ForeignKey || !needs(constraint)) continue;
         const bool isAdded = std::any_of(parts_.begin(), parts_.end(), [&](const FallenPart& part) {
            return part.relation == child->oid && part.constraint == constraint.name;
         });
         if (isAdded || (child->oid == columnOwner_ && contains(constraint.columns, column_))) continue;
         parts_.push_back(
             {child->oid, constraint.name, 0, "constraint " + constraint.name + " on " + describe(*child), reason});
      }
   }
}

void DropPlan::addPolicies(Oid relation, int16_t attribute, const std::string& reason) {
   for (const RelationPtr& table : editor_.snapshot().relations()) {
      if (has(table->oid)) continue;
      std::vector<const Policy*> inOrder; // as they were made
      for (const Policy& policy : table->policies)
         inOrder.push_back(&policy);
      std::sort(inOrder.begin(), inOrder.end(), [](const Policy* a, const Policy* b) { return a->oid < b->oid; });
      for (const Policy* each : inOrder) {
         const Policy& policy = *each;
         const bool isAdded = std::any_of(parts_.begin(), parts_.end(), [&](const FallenPart& part) {
            return part.relation == table->oid && part.policy == policy.name;
         });
         if (!isAdded && policy.reads(relation, attribute))
            parts_.push_back(
                {table->oid, {}, 0, "policy " + policy.name + " on " + describe(*table), reason, 0, policy.name});
      }
   }
}

void DropPlan::addRules(Oid relation, int16_t attribute, const std::string& reason) {
   for (const RelationPtr& table : editor_.snapshot().relations()) {
      if (has(table->oid)) continue;
      for (const Rule& rule : table->rules) {
         const bool isAdded = std::any_of(parts_.begin(), parts_.end(), [&](const FallenPart& part) {
            return part.relation == table->oid && part.rule == rule.name;
         });
         if (isAdded || !rule.reads(relation, attribute)) continue;
         parts_.push_back({table->oid, {}, 0, "rule " + rule.name + " on " + describe(*table), reason});
         parts_.back().rule = rule.name;
      }
   }
}

void DropPlan::addPartsOfIndex(Oid index) {
   const Snapshot& snapshot = editor_.snapshot();
   for (const RelationPtr& other : snapshot.relations()) {
      if (!other->index || other->index->parentIndex != index || has(other->oid)) continue;
      addInternal(other);
      const RelationPtr partition = snapshot.relation(other->index->table);
      if (const Constraint* owner = partition ? partition->constraintOf(other->oid) : nullptr)
         parts_.push_back({partition->oid, owner->name, 0, {}, {}, 0, {}, true});
   }
}

void DropPlan::addPartsOfConstraint(Oid constraint) {
   for (const RelationPtr& partition : editor_.snapshot().relations())
      for (const Constraint& part : partition->constraints) {
         const bool isPart = part.parentConstraint == constraint && part.index == invalidOid;
         if (!isPart) continue;
         parts_.push_back({partition->oid, part.name, 0, {}, {}, 0, {}, true});
         addPartsOfConstraint(part.oid);
      }
}

void DropPlan::follow(size_t i) {
   const RelationPtr relation = fallen_[i].relation;
   const std::string reason = describe(*relation);
   const Snapshot& snapshot = editor_.snapshot();
   if (relation->relationKind == RelationKind::Range) addInternal(snapshot.relationOfType(relation->range->partner));
   // A view that groups by a key needs its constraint, of which the catalog notes the index.
   const std::string owner = relation->index ? requiredBy(*relation) : std::string();
   for (const RelationPtr& index : snapshot.indexesOf(relation->oid))
      addInternal(index);
   for (const RelationPtr& other : snapshot.relations())
      if (other->sequence && other->sequence->ownerRelation == relation->oid) addInternal(other);
   for (const Oid heir : snapshot.heirOids(relation->oid))
      if (const RelationPtr below = snapshot.relation(heir); below->isPartition())
         addInternal(below);
      else
         addCascaded(below, reason);
   if (relation->index && relation->index->isPartitioned) addPartsOfIndex(relation->oid);
   for (const RelationPtr& dependent : snapshot.dependentsOf(relation->oid))
      addCascaded(dependent, owner.empty() ? reason : owner);
   addForeignKeys([&](const Constraint& c) { return c.foreignRelation == relation->oid; }, reason);
   addForeignKeys([&](const Constraint& c) { return c.referencedIndex == relation->oid; }, reason);
   for (RelationPtr above = relation; above && above->isPartition();) { // rows of a partition are its parents', too
      above = snapshot.relation(above->parents[0]);
      if (!above || has(above->oid)) break;
      addForeignKeys([&](const Constraint& c) { return c.foreignRelation == above->oid; }, reason);
   }
   addColumnsOfType(*relation);
   addPolicies(relation->oid, 0, reason);
   addRules(relation->oid, 0, reason);
   for (const RelationPtr& other : snapshot.relations())
      for (const Column& column : other->columns)
         if (column.defaultNeeds(relation->oid) && !has(other->oid) &&
             !(other->oid == columnOwner_ && column.attribute == column_))
            parts_.push_back({other->oid,
                              {},
                              column.attribute,
                              "default value for column " + column.name + " of " + describe(*other),
                              reason});
}

void DropPlan::close() {
   for (size_t i = 0; i < fallen_.size(); ++i) {
      if (fallen_[i].isFollowed) continue;
      fallen_[i].isFollowed = true;
      follow(i);
   }
   // Forget parts of relations that are dropped themselves.
   std::erase_if(parts_, [&](const FallenPart& part) { return has(part.relation); });
   std::erase_if(statistics_, [&](const auto& fallen) { return has(fallen.first->table); });
}

void DropPlan::addColumnsOfType(const Relation& relation) {
   if (relation.rowType == invalidOid) return;
   const std::string reason = "type " + displayName(editor_.snapshot(), editor_.searchPath_, relation);
   for (const RelationPtr& other : editor_.snapshot().relations()) {
      if (other->oid == relation.oid || has(other->oid)) continue;
      if (other->ofType == relation.rowType) {
         addCascaded(other, reason);
         continue;
      }
      for (const Column& column : other->columns) {
         const Oid type = column.type.named();
         if (column.isDropped || (type != relation.rowType && type != relation.rowTypeArray)) continue;
         if (other->isOnlyType()) {
            addCascaded(other, reason);
            break;
         }
         const bool isComposite = other->relationKind == RelationKind::Composite;
         std::string description =
             "column " + column.name + " of " + (isComposite ? "composite " : "") + describe(*other);
         const bool isKey = other->partitionKey && other->partitionKey->has(column.attribute);
         const bool isView =
             other->relationKind == RelationKind::View || other->relationKind == RelationKind::MaterializedView;
         if (isView || isKey) { // a partitioned table needs its key
            addCascaded(other, reason);
            break;
         }
         addDependentsOfColumn(other, column.attribute, description);
         parts_.push_back({other->oid, {}, 0, std::move(description), reason, column.attribute});
      }
   }
}

void DropPlan::addColumn(const RelationPtr& relation, int16_t attribute) {
   columnOwner_ = relation->oid;
   column_ = attribute;
   addDependentsOfColumn(relation, attribute,
                         "column " + relation->column(attribute)->name + " of " + describe(*relation));
}

void DropPlan::addDependentsOfColumn(const RelationPtr& relation, int16_t attribute, const std::string& reason) {
   const Snapshot& snapshot = editor_.snapshot();
   for (const RelationPtr& dependent : snapshot.dependentsOf(relation->oid))
      for (const Dependency& dependency : dependent->dependsOn)
         if (dependency.relation == relation->oid && dependency.attribute == attribute) addCascaded(dependent, reason);
   addPolicies(relation->oid, attribute, reason);
   addRules(relation->oid, attribute, reason);
   addForeignKeys(
       [&](const Constraint& c) { return c.foreignRelation == relation->oid && contains(c.foreignColumns, attribute); },
       reason);
   for (const RelationPtr& index : snapshot.indexesOf(relation->oid)) {
      if (!index->index->has(attribute)) continue;
      addInternal(index);
      const Constraint* owner = relation->constraintOf(index->oid);
      if (owner == nullptr) continue;
      // A key goes with its columns, without a word; not so a constraint whose expression reads the column.
      const bool isKey = contains(index->index->columns, attribute) || contains(index->index->included, attribute);
      parts_.push_back({relation->oid,
                        owner->name,
                        0,
                        isKey ? std::string() : "constraint " + owner->name + " on " + describe(*relation),
                        reason,
                        0,
                        {},
                        isKey});
   }
   for (const RelationPtr& other : snapshot.relations())
      if (other->sequence && other->sequence->ownerRelation == relation->oid &&
          other->sequence->ownerAttribute == attribute)
         addInternal(other);
}

void DropPlan::refuse(const std::string& what) const {
   std::string detail;
   const auto line = [&](const std::string& description, const std::string& reason) {
      detail += (detail.empty() ? "" : "\n") + description + " depends on " + reason;
   };
   for (const Fallen& fallen : fallen_)
      if (fallen.isCascaded) line(describe(*fallen.relation), fallen.reason);
   for (const FallenPart& part : parts_)
      if (!part.isInternal) line(part.description, part.reason);
   for (const auto& [statistics, reason] : statistics_)
      line(describe(*statistics), reason);
   if (detail.empty()) return;
   const std::string because = what.empty() ? "desired object(s) because other objects depend on them"
                                            : what + " because other objects depend on it";
   throw SqlError(sqlstate::dependentObjectsStillExist, "cannot drop " + because)
       .detail(detail)
       .hint("Use DROP ... CASCADE to drop the dependent objects too.");
}

Dropped DropPlan::execute() {
   Dropped dropped;
   for (const FallenPart& part : parts_) {
      Relation changed = editor_.copyOf(part.relation);
      if (part.column != 0) {
         dropColumnOf(changed, part.column);
         editor_.dropStatisticsOn(part.relation, part.column);
         editor_.remove(
             {ObjectKind::Comment, editor_.working_.database(), class_oid::pgClass, part.relation, part.column});
      } else if (!part.policy.empty()) {
         if (const Policy* policy = changed.findPolicy(part.policy))
            editor_.removeComments(class_oid::pgPolicy, policy->oid);
         std::erase_if(changed.policies, [&](const Policy& policy) { return policy.name == part.policy; });
      } else if (!part.rule.empty()) {
         if (const Rule* rule = changed.findRule(part.rule)) editor_.removeComments(class_oid::pgRewrite, rule->oid);
         std::erase_if(changed.rules, [&](const Rule& rule) { return rule.name == part.rule; });
      } else if (part.defaultOf != 0) {
         Column& column = changed.columns[static_cast<size_t>(part.defaultOf) - 1];
         column.dropDefault();
      } else {
         std::erase_if(changed.constraints, [&](const Constraint& c) { return c.name == part.constraint; });
      }
      if (!part.isInternal) dropped.items.push_back({nullptr, part.description, true, false});
      editor_.put(std::make_shared<const Relation>(std::move(changed)));
   }
   std::vector<Dropped::Item> items;
   for (const Fallen& fallen : fallen_)
      items.push_back({fallen.relation, describe(*fallen.relation), fallen.isCascaded, fallen.isInternal});
   for (const Fallen& fallen : fallen_) {
      for (const Constraint& constraint : fallen.relation->constraints)
         editor_.removeComments(class_oid::pgConstraint, constraint.oid);
      for (const Policy& policy : fallen.relation->policies)
         editor_.removeComments(class_oid::pgPolicy, policy.oid);
      for (const Rule& rule : fallen.relation->rules)
         editor_.removeComments(class_oid::pgRewrite, rule.oid);
      editor_.removeComments(class_oid::pgClass, fallen.relation->oid);
      for (const Oid type : {fallen.relation->rowType, fallen.relation->rowTypeArray})
         if (type != invalidOid) editor_.removeComments(class_oid::pgType, type);
      editor_.dropStatisticsOn(fallen.relation->oid, 0);
      editor_.remove(keyOf(*fallen.relation));
   }
   for (const auto& [statistics, reason] : statistics_) {
      dropped.items.push_back({nullptr, describe(*statistics), true, false});
      editor_.dropStatistics(*statistics);
   }
   dropped.items.insert(dropped.items.begin(), items.begin(), items.end());
   return dropped;
}

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
   return dropTogether({}, relations, behavior);
}

Dropped CatalogEditor::dropSchema(Oid schema, DropBehavior behavior) {
   return dropTogether(std::span(&schema, 1), {}, behavior);
}

Dropped CatalogEditor::dropTogether(std::span<const Oid> schemas, std::span<const Oid> relations,
                                    DropBehavior behavior) {
   DropPlan plan(*this);
   std::string what;
   for (const Oid oid : relations) {
      copyOf(oid); // throws for system relations
      const RelationPtr relation = working_.relation(oid);
      if (const std::string owner = plan.requiredBy(*relation); !owner.empty())
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop " + plan.describe(*relation) + " because " + owner + " requires it")
             .hint("You can drop " + owner + " instead.");
      plan.addTarget(relation);
      what = plan.describe(*relation);
   }
   for (const Oid oid : schemas) {
      const SchemaPtr schema = working_.schema(oid);
      if (!schema) throwInternal("schema to drop does not exist");
      if (oid < firstUserOid && oid != publicSchema)
         throw SqlError(sqlstate::dependentObjectsStillExist,
                        "cannot drop schema " + schema->name + " because it is required by the database system");
      what = "schema " + schema->name;
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
   }
   plan.close();
   const bool isOne = schemas.size() + relations.size() == 1;
   if (behavior == DropBehavior::Restrict) plan.refuse(isOne ? what : std::string());
   Dropped dropped = plan.execute();
   for (const Oid oid : schemas) {
      // The loop above skips owned sequences. A sequence whose table is in another schema is dropped here.
      for (const RelationPtr& relation : working_.relations())
         if (relation->schema == oid) remove(keyOf(*relation));
      for (const auto& defaults : working_.defaultAcls())
         if (defaults->schema == oid) removeDefaultAcl(*defaults);
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
