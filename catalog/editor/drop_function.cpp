#include "catalog/editor/drop_plan.hpp"
#include "catalog/object/function_text.hpp"

// What falls with a function, all whose text calls it, and the functions that fall with a type.

namespace ouzel::catalog {

std::string DropPlan::describe(const Function& function) const {
   const bool isAggregate = function.functionKind == FunctionKind::Aggregate; // as PostgreSQL, a function
   return std::string(routineNoun(isAggregate ? FunctionKind::Function : function.functionKind)) + " " +
          signatureOf(editor_.snapshot(), editor_.searchPath_, function);
}

void DropPlan::add(const FunctionPtr& function, bool isCascaded, const std::string& reason) {
   for (const FallenFunction& fallen : functions_)
      if (fallen.function == function) return;
   functions_.push_back({function, isCascaded, reason});
}

void DropPlan::addFunctionsReading(const Dependency& needed, const std::string& reason) {
   for (const FunctionPtr& function : editor_.snapshot().functions())
      if (std::any_of(function->dependsOn.begin(), function->dependsOn.end(), [&](const Dependency& read) {
             return read.relation == needed.relation && (needed.attribute == 0 || read.attribute == needed.attribute);
          }))
         addCascaded(function, reason);
}

void DropPlan::addFunctionsOfType(const FallenType& type, const std::string& reason) {
   for (const FunctionPtr& function : editor_.snapshot().functions()) {
      bool hasType = type.is(function->returnType);
      for (const FunctionParameter& parameter : function->parameters)
         hasType = hasType || type.is(parameter.type);
      if (function->aggregate)
         for (const SqlType& state : {function->aggregate->stateType, function->aggregate->movingStateType})
            hasType = hasType || type.is(state);
      if (hasType) addCascaded(function, reason);
   }
}

void DropPlan::followTexts(Oid oid, const std::string& reason) {
   const Names names = [oid](const std::string& text) { return callsFunction(text, oid); };
   for (const RelationPtr& relation : editor_.snapshot().relations())
      if (!has(relation->oid)) addCallers(names, relation, reason);
   for (const StatisticsPtr& statistics : editor_.snapshot().allStatistics())
      if (std::any_of(statistics->expressions.begin(), statistics->expressions.end(), names))
         addCascaded(statistics, reason);
   for (const FunctionPtr& other : editor_.snapshot().functions())
      if (other->oid != oid &&
          (std::binary_search(other->calls.begin(), other->calls.end(), oid) ||
           std::any_of(other->parameters.begin(), other->parameters.end(),
                       [&](const FunctionParameter& parameter) { return names(parameter.defaultExpr); })))
         addCascaded(other, reason);
}

void DropPlan::follow(const Function& function) {
   const std::string reason = describe(function);
   followTexts(function.oid, reason);
   addTriggers([&](const Relation&, const Trigger& trigger) { return trigger.function == function.oid; }, reason);
   addEventTriggers(function.oid, reason);
   addOperatorsCalling(function.oid, reason);
   addWrappersCalling(function.oid, reason);
   for (const FunctionPtr& other : editor_.snapshot().functions()) {
      if (!other->aggregate) continue;
      const std::vector<Oid> used = other->aggregate->functions();
      if (std::find(used.begin(), used.end(), function.oid) != used.end()) addCascaded(other, reason);
   }
}

void DropPlan::addEventTriggers(Oid function, const std::string& reason) {
   for (const EventTrigger& trigger : editor_.snapshot().database(editor_.snapshot().database())->eventTriggers)
      if (trigger.function == function) eventTriggers_.emplace_back(trigger, reason);
}

void DropPlan::dropEventTriggers(Dropped& dropped) {
   if (eventTriggers_.empty()) return;
   Database changed = *editor_.working_.database(editor_.working_.database());
   for (const auto& [trigger, reason] : eventTriggers_) {
      dropped.items.push_back({nullptr, "event trigger " + trigger.name, true, false});
      editor_.removeComments(class_oid::pgEventTrigger, trigger.oid);
      std::erase_if(changed.eventTriggers, [&](const EventTrigger& one) { return one.oid == trigger.oid; });
   }
   editor_.replaceDatabase(std::move(changed));
}

void DropPlan::addTarget(const Language& language) {
   languages_.push_back(language);
   for (const FunctionPtr& function : editor_.snapshot().functions())
      if (function->declaredLanguage == language.oid) addCascaded(function, "language " + language.name);
}

void DropPlan::dropLanguages(Dropped& dropped) {
   if (languages_.empty()) return;
   Database changed = *editor_.working_.database(editor_.working_.database());
   for (const Language& language : languages_) {
      dropped.items.push_back({nullptr, "language " + language.name, false, true});
      editor_.removeComments(class_oid::pgLanguage, language.oid);
      std::erase_if(changed.languages, [&](const Language& one) { return one.oid == language.oid; });
   }
   editor_.replaceDatabase(std::move(changed));
}

void DropPlan::addCallers(const Names& names, const RelationPtr& relation, const std::string& reason) {
   if (relation->index) {
      const IndexDefinition& index = *relation->index;
      if (names(index.predicate) || std::any_of(index.expressions.begin(), index.expressions.end(), names))
         addIndex(relation, reason);
      return;
   }
   const bool isKey = relation->partitionKey && std::any_of(relation->partitionKey->expressions.begin(),
                                                            relation->partitionKey->expressions.end(), names);
   if (isKey || names(relation->definition)) return addCascaded(relation, reason);
   for (const Column& column : relation->columns) {
      if (column.generated == '\0' || !names(column.defaultExpr)) continue;
      std::string description = "column " + column.name + " of " + describe(*relation);
      addDependentsOfColumn(relation, column.attribute, description);
      parts_.push_back({relation->oid, {}, 0, std::move(description), reason, column.attribute});
   }
   addTextsNaming(names, *relation, reason);
}

} // namespace ouzel::catalog
