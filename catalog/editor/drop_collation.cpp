#include "catalog/editor/drop_plan.hpp"
#include "catalog/object/collation_text.hpp"

// What falls with a collation: columns, types, views, indexes, and all whose text names it.

namespace ouzel::catalog {

void DropPlan::add(const CollationPtr& collation, bool isCascaded, const std::string& reason) {
   for (FallenCollation& fallen : collations_)
      if (fallen.collation == collation) return;
   collations_.push_back({collation, isCascaded, reason});
}

void DropPlan::follow(const Collation& collation) {
   const std::string reason = describe(collation);
   const SchemaPtr schema = editor_.snapshot().schema(collation.schema);
   const std::string schemaName = schema ? schema->name : std::string();
   for (const RelationPtr& relation : editor_.snapshot().relations())
      if (!has(relation->oid) && usesCollation(*relation, collation, schemaName))
         addDependentOf(collation, relation, reason);
   for (const StatisticsPtr& statistics : editor_.snapshot().allStatistics())
      if (std::any_of(statistics->expressions.begin(), statistics->expressions.end(),
                      [&](const std::string& text) { return namesCollation(text, schemaName, collation.name); }))
         addCascaded(statistics, reason);
}

void DropPlan::addIndex(const RelationPtr& index, const std::string& reason) {
   if (index->index->parentIndex != invalidOid) return addInternal(index); // the parent says it
   const RelationPtr table = editor_.snapshot().relation(index->index->table);
   const Constraint* owner = table ? table->constraintOf(index->oid) : nullptr;
   if (!owner) return addCascaded(index, reason);
   addInternal(index);
   parts_.push_back({table->oid, owner->name, 0, "constraint " + owner->name + " on " + describe(*table), reason});
}

void DropPlan::addDependentOf(const Collation& collation, const RelationPtr& relation, const std::string& reason) {
   const auto isCollated = [&](const Column& column) {
      return !column.isDropped && column.type.collation == collation.oid;
   };
   const SchemaPtr schema = editor_.snapshot().schema(collation.schema);
   const auto names = [&](const std::string& text) {
      return schema && namesCollation(text, schema->name, collation.name);
   };
   const std::vector<Column>& columns = relation->columns;
   const bool hasCollated = std::any_of(columns.begin(), columns.end(), isCollated);
   const bool isType = relation->isOnlyType(), isView = !relation->definition.empty();
   bool isKey = false;
   if (const auto& key = relation->partitionKey)
      isKey = std::find(key->collations.begin(), key->collations.end(), collation.oid) != key->collations.end() ||
              std::any_of(key->expressions.begin(), key->expressions.end(), names);
   if (relation->index) return addIndex(relation, reason);
   if (isKey || ((isType || isView) && hasCollated) || names(relation->definition))
      return addCascaded(relation, reason);
   for (const Column& column : columns) {
      const bool isGenerated = column.generated != '\0' && names(column.defaultExpr);
      if (!isCollated(column) && !isGenerated) continue;
      const bool isComposite = relation->relationKind == RelationKind::Composite;
      std::string description =
          "column " + column.name + " of " + (isComposite ? "composite " : "") + describe(*relation);
      addDependentsOfColumn(relation, column.attribute, description);
      parts_.push_back({relation->oid, {}, 0, std::move(description), reason, column.attribute});
   }
   addTextsNaming(names, *relation, reason);
}

void DropPlan::addTextsNaming(const Names& names, const Relation& relation, const std::string& reason) {
   const std::string whole = describe(relation);
   const auto falls = [&](int16_t attribute) {
      return std::any_of(parts_.begin(), parts_.end(), [&](const FallenPart& part) {
         return part.relation == relation.oid && part.column == attribute;
      });
   };
   for (const Column& column : relation.columns)
      if (column.generated == '\0' && !falls(column.attribute) && names(column.defaultExpr))
         parts_.push_back(
             {relation.oid, {}, column.attribute, "default value for column " + column.name + " of " + whole, reason});
   for (const Constraint& constraint : relation.constraints)
      if (names(constraint.expression) && std::none_of(constraint.columns.begin(), constraint.columns.end(), falls))
         parts_.push_back({relation.oid, constraint.name, 0,
                           "constraint " + constraint.name + (relation.isOnlyType() ? "" : " on " + whole), reason});
   for (const Policy& policy : relation.policies)
      if (names(policy.usingExpr) || names(policy.checkExpr))
         parts_.push_back({relation.oid, {}, 0, "policy " + policy.name + " on " + whole, reason, 0, policy.name});
   for (const Rule& rule : relation.rules)
      if (names(rule.condition) || std::any_of(rule.actions.begin(), rule.actions.end(), names)) {
         parts_.push_back({relation.oid, {}, 0, "rule " + rule.name + " on " + whole, reason});
         parts_.back().rule = rule.name;
      }
   addTriggers([&](const Relation& table,
                   const Trigger& trigger) { return table.oid == relation.oid && names(trigger.condition); },
               reason);
}

} // namespace ouzel::catalog
