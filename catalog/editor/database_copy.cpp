#include "catalog/editor/database_copy.hpp"

#include <algorithm>

#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/regclass_text.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"

namespace ouzel::catalog {

DatabaseCopy::DatabaseCopy(const Snapshot& source, Oid target, const OidSource& oids)
   : source_(source), target_(target), oids_(oids) {
   for (const RelationPtr& relation : source.relations())
      number(*relation);
   for (const ForeignWrapperPtr& wrapper : source.wrappers())
      number(wrapper->oid);
   for (const ServerPtr& server : source.servers())
      number(server->oid);
   for (const StatisticsPtr& statistics : source.allStatistics())
      number(statistics->oid);
}

void DatabaseCopy::number(Oid oid) {
   if (oid != invalidOid) copies_.emplace(oid, oids_());
}

void DatabaseCopy::number(const Relation& relation) {
   number(relation.oid);
   for (const Column& column : relation.columns)
      number(column.defaultOid);
   for (const Constraint& constraint : relation.constraints)
      number(constraint.oid);
   for (const Policy& policy : relation.policies)
      number(policy.oid);
   for (const Rule& rule : relation.rules)
      number(rule.oid);
   for (const Trigger& trigger : relation.triggers) {
      number(trigger.oid);
      number(trigger.constraint);
   }
}

Oid DatabaseCopy::copied(Oid oid) const {
   const auto found = copies_.find(oid);
   return found == copies_.end() ? oid : found->second;
}

std::string DatabaseCopy::copied(const std::string& sql) const {
   return replaceRegclasses(sql, [&](Oid oid) { return std::optional(std::to_string(copied(oid))); });
}

std::vector<Publication> DatabaseCopy::copied(std::vector<Publication> publications) const {
   for (Publication& publication : publications)
      for (PublicationTable& published : publication.tables) {
         published.table = copied(published.table);
         published.filter = copied(published.filter);
      }
   return publications;
}

void DatabaseCopy::renumber(std::vector<Dependency>& reads) const {
   for (Dependency& read : reads)
      read.relation = copied(read.relation);
}

void DatabaseCopy::renumber(Column& column) const {
   column.defaultExpr = copied(column.defaultExpr);
   column.defaultOid = copied(column.defaultOid);
   column.defaultSequence = copied(column.defaultSequence);
   for (Oid& relation : column.relationsInDefault)
      relation = copied(relation);
}

void DatabaseCopy::renumber(Constraint& constraint) const {
   constraint.expression = copied(constraint.expression);
   for (Oid* oid : {&constraint.oid, &constraint.index, &constraint.foreignRelation, &constraint.referencedIndex,
                    &constraint.parentConstraint})
      *oid = copied(*oid);
}

void DatabaseCopy::renumber(Policy& policy) const {
   policy.oid = copied(policy.oid);
   policy.usingExpr = copied(policy.usingExpr);
   policy.checkExpr = copied(policy.checkExpr);
   renumber(policy.dependsOn);
}

void DatabaseCopy::renumber(Rule& rule) const {
   rule.oid = copied(rule.oid);
   rule.condition = copied(rule.condition);
   for (std::string& action : rule.actions)
      action = copied(action);
   renumber(rule.dependsOn);
}

void DatabaseCopy::renumber(Trigger& trigger) const {
   for (Oid* oid : {&trigger.oid, &trigger.function, &trigger.constraint, &trigger.constraintRelation, &trigger.parent})
      *oid = copied(*oid);
   trigger.condition = copied(trigger.condition);
   renumber(trigger.dependsOn);
}

void DatabaseCopy::renumber(IndexDefinition& index) const {
   index.table = copied(index.table);
   index.parentIndex = copied(index.parentIndex);
   index.predicate = copied(index.predicate);
   for (std::string& expression : index.expressions)
      expression = copied(expression);
}

std::shared_ptr<Relation> DatabaseCopy::copy(const Relation& relation) const {
   auto copy = std::make_shared<Relation>(relation);
   copy->database = target_;
   copy->oid = copied(copy->oid);
   copy->identityIndex = copied(copy->identityIndex);
   for (Oid& parent : copy->parents)
      parent = copied(parent);
   for (Column& column : copy->columns)
      renumber(column);
   for (Constraint& constraint : copy->constraints)
      renumber(constraint);
   for (Policy& policy : copy->policies)
      renumber(policy);
   copy->definition = copied(copy->definition);
   renumber(copy->dependsOn);
   if (copy->index) renumber(*copy->index);
   if (copy->sequence) copy->sequence->ownerRelation = copied(copy->sequence->ownerRelation);
   for (Rule& rule : copy->rules)
      renumber(rule);
   for (Trigger& trigger : copy->triggers)
      renumber(trigger);
   if (copy->foreign) copy->foreign->server = copied(copy->foreign->server);
   if (copy->partitionKey)
      for (std::string& expression : copy->partitionKey->expressions)
         expression = copied(expression);
   return copy;
}

std::vector<ObjectPtr> DatabaseCopy::make(const CompleteCopy& complete) {
   std::vector<ObjectPtr> objects;
   const auto add = [&]<typename Object>(const Object& original, const auto& change) {
      auto copy = std::make_shared<Object>(original);
      change(*copy);
      objects.push_back(std::move(copy));
   };
   for (const SchemaPtr& schema : source_.schemas())
      add(*schema, [&](Schema& copy) { copy.database = target_; });
   for (const CollationPtr& collation : source_.collations()) // before what has them
      add(*collation, [&](Collation& copy) { copy.database = target_; });
   for (const ObjectKind kind : textSearchKinds)
      for (const TextSearchPtr& object : source_.textSearchObjects(kind))
         add(*object, [&](TextSearchObject& copy) { copy.database = target_; });
   for (const RelationPtr& relation : source_.relations()) {
      std::shared_ptr<Relation> made = copy(*relation);
      if (complete) complete(*relation, *made);
      objects.push_back(std::move(made));
   }
   for (const ForeignWrapperPtr& wrapper : source_.wrappers())
      add(*wrapper, [&](ForeignWrapper& copy) {
         copy.database = target_;
         copy.oid = copied(copy.oid);
      });
   for (const ServerPtr& server : source_.servers())
      add(*server, [&](ForeignServer& copy) {
         copy.database = target_;
         copy.oid = copied(copy.oid);
         copy.wrapper = copied(copy.wrapper);
         for (ForeignServer::Mapping& mapping : copy.mappings)
            mapping.oid = oids_();
      });
   for (const StatisticsPtr& statistics : source_.allStatistics())
      add(*statistics, [&](Statistics& copy) {
         copy.database = target_;
         copy.oid = copied(copy.oid);
         copy.table = copied(copy.table);
         for (std::string& expression : copy.expressions)
            expression = copied(expression);
      });
   for (const FunctionPtr& function : source_.functions()) {
      FunctionDefinition copy = *function;
      copy.database = target_;
      for (FunctionParameter& parameter : copy.parameters)
         parameter.defaultExpr = copied(parameter.defaultExpr);
      renumber(copy.dependsOn);
      objects.push_back(std::make_shared<const Function>(std::move(copy)));
   }
   for (const OperatorPtr& op : source_.operators()) {
      OperatorDefinition copy = *op;
      copy.database = target_;
      objects.push_back(std::make_shared<const Operator>(std::move(copy)));
   }
   for (const CastPtr& cast : source_.casts())
      add(*cast, [&](Cast& copy) { copy.database = target_; });
   for (const ExtensionPtr& extension : source_.extensions())
      add(*extension, [&](Extension& copy) {
         copy.database = target_;
         for (Extension::Member& member : copy.members)
            if (member.kind == ObjectKind::Relation || member.kind == ObjectKind::ForeignWrapper)
               member.oid = copied(member.oid);
         std::sort(copy.members.begin(), copy.members.end());
      });
   for (const LargeObjectPtr& object : source_.largeObjects())
      add(*object, [&](LargeObject& copy) { copy.database = target_; });
   for (const auto& defaults : source_.defaultAcls())
      add(*defaults, [&](DefaultAcl& copy) {
         copy.database = target_;
         copy.oid = oids_();
      });
   for (const auto& privileges : source_.systemAcls())
      add(*privileges, [&](SystemAcl& copy) { copy.database = target_; });
   for (const auto& comment : source_.comments())
      if (comment->object.a == source_.database())
         add(*comment, [&](Comment& copy) {
            copy.object.a = target_;
            if (copy.object.b != class_oid::pgLargeObject) copy.object.c = copied(copy.object.c);
         });
   return objects;
}

} // namespace ouzel::catalog
