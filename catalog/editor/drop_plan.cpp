#include "catalog/editor/drop_plan.hpp"

#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"

// DROP: finds all objects that a DROP removes, and checks whether it may remove them.

namespace ouzel::catalog {

namespace {

bool contains(const std::vector<int16_t>& attributes, int16_t attribute) {
   return std::find(attributes.begin(), attributes.end(), attribute) != attributes.end();
}

} // namespace

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

void DropPlan::addTriggers(const NeedsOfTrigger& needs, const std::string& reason) {
   for (const RelationPtr& table : editor_.snapshot().relations()) {
      if (has(table->oid)) continue;
      for (const Trigger& trigger : table->triggers) {
         const bool isAdded = std::any_of(parts_.begin(), parts_.end(), [&](const FallenPart& part) {
            return part.relation == table->oid && part.trigger == trigger.name;
         });
         if (isAdded || !needs(*table, trigger)) continue;
         parts_.push_back({table->oid, {}, 0, "trigger " + trigger.name + " on " + describe(*table), reason});
         parts_.back().trigger = trigger.name;
         parts_.back().isInternal = trigger.parent != invalidOid; // falls with the one that it is a part of
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
   addFunctionsReading({relation->oid, 0}, reason);
   addTriggers(
       [&](const Relation&, const Trigger& trigger) {
          return trigger.constraintRelation == relation->oid || trigger.reads(relation->oid, 0);
       },
       reason);
   for (const RelationPtr& other : snapshot.relations())
      for (const Column& column : other->columns)
         if (column.defaultNeeds(relation->oid) && other->isOnlyType()) // a domain falls with its default
            addCascaded(other, reason);
         else if (column.defaultNeeds(relation->oid) && !has(other->oid) &&
                  !(other->oid == columnOwner_ && column.attribute == column_))
            parts_.push_back({other->oid,
                              {},
                              column.attribute,
                              "default value for column " + column.name + " of " + describe(*other),
                              reason});
}

void DropPlan::close() {
   for (size_t i = 0; i < collations_.size(); ++i)
      follow(*collations_[i].collation);
   for (size_t i = 0; i < textSearch_.size(); ++i)
      follow(*TextSearchPtr(textSearch_[i].object));
   for (bool isComplete = false; !isComplete;) {
      isComplete = true;
      for (size_t i = 0; i < fallen_.size(); ++i) {
         if (std::exchange(fallen_[i].isFollowed, true)) continue;
         isComplete = false;
         follow(i);
      }
      for (size_t i = 0; i < functions_.size(); ++i) {
         if (std::exchange(functions_[i].isFollowed, true)) continue;
         isComplete = false;
         const FunctionPtr function = functions_[i].function;
         follow(*function);
      }
      for (size_t i = 0; i < operators_.size(); ++i) {
         if (std::exchange(operators_[i].isFollowed, true)) continue;
         isComplete = false;
         const OperatorPtr op = operators_[i].op;
         follow(*op);
      }
      for (size_t i = 0; i < foreign_.size(); ++i) {
         if (std::exchange(foreign_[i].isFollowed, true)) continue;
         isComplete = false;
         follow(FallenForeign(foreign_[i]));
      }
   }
   // Forget parts of relations that are dropped themselves.
   std::erase_if(parts_, [&](const FallenPart& part) { return has(part.relation); });
   std::erase_if(statistics_, [&](const auto& fallen) { return has(fallen.first->table); });
   std::erase_if(published_, [&](const FallenPublished& fallen) { return has(fallen.published.table); });
}

void DropPlan::addColumnsOfType(const Relation& relation) {
   if (relation.rowType == invalidOid) return;
   addColumnsOfType({relation.rowType, relation.rowTypeArray}, relation.oid,
                    "type " + displayName(editor_.snapshot(), editor_.searchPath_, relation));
}

void DropPlan::addColumnsOfType(const FallenType& fallen, Oid relation, const std::string& reason) {
   addFunctionsOfType(fallen, reason);
   addOperatorsOfType(fallen, reason);
   for (const RelationPtr& other : editor_.snapshot().relations()) {
      if (other->oid == relation || has(other->oid)) continue;
      if (other->ofType == fallen.type) {
         addCascaded(other, reason);
         continue;
      }
      for (const Column& column : other->columns) {
         const bool isBase = fallen.type < firstUserOid && column.type.oid == fallen.type; // of a domain
         if (column.isDropped || !(fallen.is(column.type) || isBase)) continue;
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
   addTriggers(
       [&](const Relation& table, const Trigger& trigger) {
          return (table.oid == relation->oid && trigger.names(attribute)) || trigger.reads(relation->oid, attribute);
       },
       reason);
   addFunctionsReading({relation->oid, attribute}, reason);
   addPublished(*relation, attribute, reason);
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

std::vector<DropPlan::Line> DropPlan::cascadedLines() const {
   std::vector<Line> lines;
   const auto add = [&](std::string description, const std::string& reason) {
      lines.push_back({std::move(description), reason});
   };
   for (const FallenForeign& fallen : foreign_)
      if (fallen.isCascaded) add(fallen.description, fallen.reason);
   for (const Fallen& fallen : fallen_)
      if (fallen.isCascaded) add(describe(*fallen.relation), fallen.reason);
   for (const FallenPart& part : parts_)
      if (!part.isInternal) add(part.description, part.reason);
   for (const auto& [statistics, reason] : statistics_)
      add(describe(*statistics), reason);
   for (const FallenCollation& fallen : collations_)
      if (fallen.isCascaded) add(describe(*fallen.collation), fallen.reason);
   for (const FallenTextSearch& fallen : textSearch_)
      if (fallen.isCascaded) add(describe(*fallen.object), fallen.reason);
   for (const FallenFunction& fallen : functions_)
      if (fallen.isCascaded) add(describe(*fallen.function), fallen.reason);
   for (const auto& [trigger, reason] : eventTriggers_)
      add("event trigger " + trigger.name, reason);
   for (const FallenPublished& fallen : published_)
      add(fallen.description, fallen.reason);
   for (const FallenOperator& fallen : operators_)
      if (fallen.isCascaded) add(describe(*fallen.op), fallen.reason);
   for (const FallenCast& fallen : casts_)
      if (fallen.isCascaded) add(describe(*fallen.cast), fallen.reason);
   for (const FallenExtension& fallen : extensions_)
      if (fallen.isCascaded) add(describe(*fallen.extension), fallen.reason);
   return inTreeOrder(std::move(lines));
}

void DropPlan::refuse(const std::string& what) const {
   std::string detail;
   for (const Line& line : cascadedLines())
      detail += (detail.empty() ? "" : "\n") + line.description + " depends on " + line.reason;
   if (detail.empty()) return;
   const std::string because = what.empty() ? "desired object(s) because other objects depend on them"
                                            : what + " because other objects depend on it";
   throw SqlError(sqlstate::dependentObjectsStillExist, "cannot drop " + because)
       .detail(detail)
       .hint("Use DROP ... CASCADE to drop the dependent objects too.");
}

Dropped DropPlan::execute() {
   Dropped dropped;
   const std::vector<Line> lines = foreign_.empty() ? std::vector<Line>() : cascadedLines();
   // What falls is described while its types have names.
   std::vector<std::string> functions, operators, casts;
   for (const FallenFunction& fallen : functions_)
      functions.push_back(describe(*fallen.function));
   for (const FallenOperator& fallen : operators_)
      operators.push_back(describe(*fallen.op));
   for (const FallenCast& fallen : casts_)
      casts.push_back(describe(*fallen.cast));
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
      } else if (!part.trigger.empty()) {
         if (const Trigger* trigger = changed.findTrigger(part.trigger))
            editor_.removeComments(class_oid::pgTrigger, trigger->oid);
         std::erase_if(changed.triggers, [&](const Trigger& trigger) { return trigger.name == part.trigger; });
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
      editor_.removeComments(class_oid::pgRewrite, viewRuleOf(fallen.relation->oid));
      for (const Trigger& trigger : fallen.relation->triggers)
         editor_.removeComments(class_oid::pgTrigger, trigger.oid);
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
   for (const FallenCollation& fallen : collations_) {
      dropped.items.push_back({nullptr, describe(*fallen.collation), fallen.isCascaded, !fallen.isCascaded});
      editor_.removeCollation(*fallen.collation);
   }
   std::vector<std::string> textSearch;
   for (const FallenTextSearch& fallen : textSearch_)
      textSearch.push_back(describe(*fallen.object));
   for (size_t i = 0; i < textSearch_.size(); ++i) {
      dropped.items.push_back({nullptr, textSearch[i], textSearch_[i].isCascaded, !textSearch_[i].isCascaded});
      editor_.removeTextSearch(*textSearch_[i].object);
   }
   dropEventTriggers(dropped);
   dropPublished(dropped);
   for (size_t i = 0; i < functions_.size(); ++i) {
      const FallenFunction& fallen = functions_[i];
      dropped.items.push_back({nullptr, functions[i], fallen.isCascaded, !fallen.isCascaded});
      editor_.removeFunction(*fallen.function);
   }
   for (size_t i = 0; i < operators_.size(); ++i) {
      const FallenOperator& fallen = operators_[i];
      dropped.items.push_back({nullptr, operators[i], fallen.isCascaded, !fallen.isCascaded});
      // Another that fell may have been its commutator.
      if (const OperatorPtr newest = editor_.working_.op(fallen.op->oid)) editor_.removeOperator(*newest);
   }
   for (size_t i = 0; i < casts_.size(); ++i) {
      const FallenCast& fallen = casts_[i];
      dropped.items.push_back({nullptr, casts[i], fallen.isCascaded, !fallen.isCascaded});
      editor_.removeCast(*fallen.cast);
   }
   for (const FallenExtension& fallen : extensions_) {
      dropped.items.push_back({nullptr, describe(*fallen.extension), fallen.isCascaded, !fallen.isCascaded});
      editor_.removeExtension(*fallen.extension);
   }
   dropForeign(dropped);
   dropLanguages(dropped);
   dropped.items.insert(dropped.items.begin(), items.begin(), items.end());
   if (lines.empty()) return dropped;
   const auto place = [&](const Dropped::Item& item) {
      return std::find_if(lines.begin(), lines.end(),
                          [&](const Line& line) { return line.description == item.description; }) -
             lines.begin();
   };
   std::stable_sort(dropped.items.begin(), dropped.items.end(),
                    [&](const Dropped::Item& a, const Dropped::Item& b) { return place(a) < place(b); });
   return dropped;
}

} // namespace ouzel::catalog
