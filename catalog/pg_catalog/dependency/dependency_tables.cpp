#include <algorithm>
#include <set>

#include "catalog/builtin/extension_classes.hpp"
#include "catalog/builtin/extension_types.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/range_constructors.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_depend: what the objects of a snapshot need, as PostgreSQL records it. Built-in objects, which nobody can drop,
// have no rows. A class whose objects have columns of user types, say, gets its rows from one function here.

namespace ouzel::catalog {

namespace {

using namespace class_oid;

/// An object that needs another one, or the one that is needed.
struct Address {
   Oid classOid = invalidOid, object = invalidOid;
   int32_t attribute = 0;
};

class DependencyRows {
public:
   DependencyRows(const SystemContext& context, RowBuilder& row)
      : context_(context), snapshot_(context.snapshot), row_(row) {}

   void run() {
      for (const RelationPtr& relation : snapshot_.relations()) {
         if (relation->rowType != invalidOid) addType(*relation);
         addConstraints(*relation);
         if (relation->isOnlyType()) continue;
         addClass(*relation);
         addDefaults(*relation);
         addView(*relation);
         addPolicies(*relation);
         addRules(*relation);
         addTriggers(*relation);
         if (relation->index) addIndex(*relation);
         if (relation->sequence && relation->sequence->ownerRelation != invalidOid)
            add({pgClass, relation->oid},
                {pgClass, relation->sequence->ownerRelation, relation->sequence->ownerAttribute},
                relation->sequence->isIdentity ? 'i' : 'a');
      }
      for (const FunctionPtr& function : snapshot_.functions())
         addFunction(*function);
      for (const OperatorPtr& op : snapshot_.operators())
         addOperator(*op);
      for (const CastPtr& cast : snapshot_.casts())
         addCast(*cast);
      for (const StatisticsPtr& statistics : snapshot_.allStatistics())
         addStatistics(*statistics);
      for (const EventTrigger& trigger : snapshot_.database(snapshot_.database())->eventTriggers)
         add({pgEventTrigger, trigger.oid}, {pgProc, trigger.function}, 'n');
      for (const Language& language : snapshot_.database(snapshot_.database())->languages)
         for (const Oid handler : {plpgsqlCallHandler, language.inlineHandler, language.validator})
            if (handler != invalidOid) add({pgLanguage, language.oid}, {pgProc, handler}, 'n');
      addShared();
   }

private:
   void add(const Address& object, const Address& needed, char kind) {
      row_.oid(object.classOid).oid(object.object).int4(object.attribute);
      row_.oid(needed.classOid).oid(needed.object).int4(needed.attribute).letter(kind).emit();
   }

   /// The functions and operators of users that a stored text calls.
   void addCalls(const Address& object, const std::string& text) {
      std::set<Oid> called;
      forEachCall(text, [&](Oid oid) { called.insert(oid); });
      for (const Oid oid : called)
         add(object, {snapshot_.function(oid) ? pgProc : pgOperator, oid}, 'n');
   }

   /// A type that a user or an extension made.
   void addUsedType(const Address& object, Oid type) {
      if (type >= firstUserOid || extensionType(type) != nullptr) add(object, {pgType, type}, 'n');
   }
   void addUsedTypes(const Address& object, const std::set<Oid>& types) {
      for (const Oid type : types)
         addUsedType(object, type);
   }

   /// What is read: a whole relation only if none of its columns is.
   void addReads(const Address& object, const std::vector<Dependency>& reads) {
      for (const Dependency& read : reads) {
         const auto isColumnOfIt = [&](const Dependency& other) {
            return other.relation == read.relation && other.attribute != 0;
         };
         if (read.attribute == 0 && std::any_of(reads.begin(), reads.end(), isColumnOfIt)) continue;
         addRead(object, read);
      }
   }
   /// An index that is read stands for the key whose columns determine the others, as GROUP BY may need it.
   void addRead(const Address& object, const Dependency& read) {
      const RelationPtr found = snapshot_.relation(read.relation);
      const RelationPtr table = found && found->index ? snapshot_.relation(found->index->table) : nullptr;
      if (const Constraint* key = table ? table->constraintOf(read.relation) : nullptr)
         add(object, {pgConstraint, key->oid}, 'n');
      else
         add(object, {pgClass, read.relation, read.attribute}, 'n');
   }

   void addType(const Relation& r) {
      const Address type{pgType, r.rowType}, relation{pgClass, r.oid};
      const bool isComposite = r.relationKind == RelationKind::Composite;
      if (isComposite)
         add(relation, type, 'i');
      else if (!r.isOnlyType())
         add(type, relation, 'i');
      if (isComposite || r.isOnlyType()) add(type, {pgNamespace, r.schema}, 'n');
      if (r.rowTypeArray != invalidOid) add({pgType, r.rowTypeArray}, type, 'i');
      if (r.relationKind == RelationKind::Multirange) add(type, {pgType, r.range->partner}, 'i');
      addConstructors(r);
      if (r.relationKind != RelationKind::Domain && r.relationKind != RelationKind::Range) return;
      addUsedType(type, r.columns[0].type.named());
      addCalls(type, r.columns[0].defaultExpr);
      if (r.range && r.range->difference >= firstUserOid) add(type, {pgProc, r.range->difference}, 'n');
   }

   void addConstructors(const Relation& r) {
      const Address type{pgType, r.rowType};
      for (const FunctionInfo& constructor : listedRangeConstructors(r)) {
         const Address function{pgProc, constructor.oid};
         add(function, {pgNamespace, r.schema}, 'n');
         add(function, type, 'i');
         std::set<Oid> types(constructor.argTypes.begin(), constructor.argTypes.end());
         types.insert(r.rowType);
         addUsedTypes(function, types);
      }
      if (r.relationKind != RelationKind::Multirange) return;
      const FunctionInfo& function = listedRangeConstructors(r)[1];
      for (const Address& needed : {Address{pgProc, function.oid}, Address{pgType, function.argTypes[0]}, type})
         add({pgCast, castToMultirange(r)}, needed, 'i');
   }

   void addClass(const Relation& r) {
      const Address relation{pgClass, r.oid};
      if (r.relationKind != RelationKind::Composite && !r.index) add(relation, {pgNamespace, r.schema}, 'n');
      for (const Oid parent : r.parents)
         add(relation, {pgClass, parent}, r.isPartition() ? 'a' : 'n');
      addUsedType(relation, r.ofType);
      if (r.index || r.sequence) return;
      for (const Column& column : r.columns)
         if (!column.isDropped) addUsedType({pgClass, r.oid, column.attribute}, column.type.named());
      if (!r.partitionKey) return;
      for (const int16_t attribute : r.partitionKey->columns)
         if (attribute != 0) add({pgClass, r.oid, attribute}, relation, 'i');
   }

   void addDefaults(const Relation& r) {
      for (const Column& column : r.columns) {
         if (!column.hasDefault()) continue;
         const Address value{pgAttrdef, column.defaultOid};
         add(value, {pgClass, r.oid, column.attribute}, column.generated ? 'i' : 'a');
         if (column.defaultSequence != invalidOid) add(value, {pgClass, column.defaultSequence}, 'n');
         for (const Oid named : column.relationsInDefault)
            add(value, {pgClass, named}, 'n');
         addCalls(value, column.defaultExpr);
         if (!column.generated || context_.state == nullptr) continue;
         for (const int16_t attribute : context_.state->generatedFrom(r, column))
            add(value, {pgClass, r.oid, attribute}, 'n');
      }
   }

   /// A part of a foreign key, for one partition of the table that it references.
   void addForeignKeyPart(const Relation& r, const Constraint& part) {
      const Address constraint{pgConstraint, part.oid};
      for (const int16_t attribute : part.columns)
         add(constraint, {pgClass, r.oid, attribute}, 'a');
      for (const int16_t attribute : part.foreignColumns)
         add(constraint, {pgClass, part.foreignRelation, attribute}, 'n');
      if (part.referencedIndex != invalidOid) add(constraint, {pgClass, part.referencedIndex}, 'n');
      add(constraint, {pgConstraint, part.parentConstraint}, 'i');
   }

   void addConstraints(const Relation& r) {
      for (const Constraint& part : foreignKeyParts(context_.snapshot, r))
         addForeignKeyPart(r, part);
      for (const Constraint& c : r.constraints) {
         const Address constraint{pgConstraint, c.oid};
         if (r.isOnlyType()) add(constraint, {pgType, r.rowType}, 'a');
         for (const int16_t attribute : c.columns) {
            if (r.isOnlyType()) break;
            add(constraint, {pgClass, r.oid, attribute}, 'a');
            if (c.kind == ConstraintKind::Check) add(constraint, {pgClass, r.oid, attribute}, 'n');
         }
         if (c.columns.empty() && !r.isOnlyType()) add(constraint, {pgClass, r.oid}, 'a');
         addCalls(constraint, c.expression);
         if (c.index != invalidOid) add({pgClass, c.index}, constraint, 'i');
         if (const RelationPtr index = snapshot_.relation(c.index); index && index->index)
            for (const int16_t attribute : index->index->included)
               add(constraint, {pgClass, r.oid, attribute}, 'a');
         for (const int16_t attribute : c.foreignColumns)
            add(constraint, {pgClass, c.foreignRelation, attribute}, 'n');
         if (c.referencedIndex != invalidOid) add(constraint, {pgClass, c.referencedIndex}, 'n');
         if (c.parentConstraint == invalidOid) continue;
         add(constraint, {pgConstraint, c.parentConstraint}, 'P');
         add(constraint, {pgClass, r.oid}, 'S');
      }
   }

   void addView(const Relation& r) {
      if (r.definition.empty() || r.sequence) return;
      const Address rule{pgRewrite, viewRuleOf(r.oid)};
      add(rule, {pgClass, r.oid}, 'i');
      add(rule, {pgClass, r.oid}, 'n');
      addReads(rule, r.dependsOn);
      addCalls(rule, r.definition);
   }

   void addPolicies(const Relation& r) {
      for (const Policy& policy : r.policies) {
         const Address address{pgPolicy, policy.oid};
         add(address, {pgClass, r.oid}, 'a');
         addReads(address, policy.dependsOn);
         addCalls(address, policy.usingExpr + " " + policy.checkExpr);
      }
   }

   void addRules(const Relation& r) {
      for (const Rule& rule : r.rules) {
         const Address address{pgRewrite, rule.oid};
         add(address, {pgClass, r.oid}, 'a');
         if (rule.actions.empty()) add(address, {pgClass, r.oid}, 'n');
         addReads(address, rule.dependsOn);
         std::string texts = rule.condition;
         for (const std::string& action : rule.actions)
            texts += " " + action;
         addCalls(address, texts);
      }
   }

   void addTriggers(const Relation& r) {
      forEachTriggerUse(r, [&](Oid trigger, Oid refClass, Oid reference, int32_t attribute, char kind) {
         add({pgTrigger, trigger}, {refClass, reference, attribute}, kind);
      });
      for (const Trigger& trigger : r.triggers) {
         addCalls({pgTrigger, trigger.oid}, trigger.condition);
         if (!trigger.isConstraint()) continue;
         add({pgConstraint, trigger.constraint}, {pgTrigger, trigger.oid}, 'i');
         add({pgConstraint, trigger.constraint}, {pgClass, r.oid}, 'a');
      }
   }

   void addIndex(const Relation& r) {
      const Address relation{pgClass, r.oid};
      const IndexDefinition& index = *r.index;
      const RelationPtr table = snapshot_.relation(index.table);
      if (table && table->constraintOf(r.oid) == nullptr) {
         const auto isColumn = [](int16_t attribute) { return attribute != 0; };
         if (std::none_of(index.columns.begin(), index.columns.end(), isColumn))
            add(relation, {pgClass, table->oid}, 'a');
         for (const Column& column : table->columns)
            if (!column.isDropped && index.has(column.attribute))
               add(relation, {pgClass, table->oid, column.attribute}, 'a');
      }
      std::string texts = index.predicate;
      for (const std::string& expression : index.expressions)
         texts += " " + expression;
      addCalls(relation, texts);
      for (const Oid used : index.classes)
         if (extensionClass(used)) add(relation, {pgOpclass, used}, 'n');
      if (index.parentIndex == invalidOid) return;
      add(relation, {pgClass, index.parentIndex}, 'P');
      add(relation, {pgClass, index.table}, 'S');
   }

   void addFunction(const Function& f) {
      const Address function{pgProc, f.oid};
      add(function, {pgNamespace, f.schema}, 'n');
      if (f.language == language_oid::plpgsql) add(function, {pgLanguage, f.shownLanguage()}, 'n');
      std::set<Oid> types{f.returnType.named()};
      std::string defaults;
      for (const FunctionParameter& parameter : f.parameters) {
         types.insert(parameter.type.named());
         defaults += " " + parameter.defaultExpr;
      }
      if (f.aggregate) {
         types.insert({f.aggregate->stateType.named(), f.aggregate->movingStateType.named()});
         const std::vector<Oid> used = f.aggregate->functions();
         for (const Oid part : std::set<Oid>(used.begin(), used.end()))
            if (part >= firstUserOid) add(function, {pgProc, part}, 'n');
      }
      addUsedTypes(function, types);
      addCalls(function, defaults);
      addReads(function, f.dependsOn);
      for (const Oid called : f.calls)
         add(function, {snapshot_.function(called) ? pgProc : pgOperator, called}, 'n');
   }

   void addOperator(const Operator& op) {
      const Address address{pgOperator, op.oid};
      add(address, {pgNamespace, op.schema}, 'n');
      addUsedTypes(address, {op.left.named(), op.right.named(), op.result.named()});
      if (op.function >= firstUserOid) add(address, {pgProc, op.function}, 'n');
   }

   void addCast(const Cast& cast) {
      const Address address{pgCast, cast.oid};
      addUsedTypes(address, {cast.source.named(), cast.target.named()});
      if (cast.function >= firstUserOid) add(address, {pgProc, cast.function}, 'n');
   }

   void addStatistics(const Statistics& s) {
      const Address statistics{pgStatisticExt, s.oid};
      add(statistics, {pgNamespace, s.schema}, 'n');
      for (const RelationPtr table = snapshot_.relation(s.table); const Column& column : table->columns)
         if (s.reads(column.attribute)) add(statistics, {pgClass, s.table, column.attribute}, 'a');
      if (s.columns.empty()) add(statistics, {pgClass, s.table}, 'a');
      for (const std::string& expression : s.expressions)
         addCalls(statistics, expression);
   }

   void addShared() {
      forEachCollationUse(snapshot_, [&](Oid classOid, Oid object, int32_t attribute, Oid refClass, Oid reference) {
         add({classOid, object, attribute}, {refClass, reference}, 'n');
      });
      forEachForeignUse(snapshot_, [&](Oid classOid, Oid object, Oid refClass, Oid reference) {
         add({classOid, object}, {refClass, reference}, 'n');
      });
      forEachTextSearchUse(snapshot_, [&](Oid classOid, Oid object, Oid refClass, Oid reference) {
         add({classOid, object}, {refClass, reference}, 'n');
      });
      forEachPublicationUse(snapshot_,
                            [&](Oid classOid, Oid object, Oid refClass, Oid reference, int32_t attribute, char kind) {
                               add({classOid, object}, {refClass, reference, attribute}, kind);
                            });
      forEachExtensionUse(snapshot_, [&](Oid classOid, Oid object, Oid refClass, Oid reference, char kind) {
         add({classOid, object}, {refClass, reference}, kind);
      });
   }

   const SystemContext& context_;
   const Snapshot& snapshot_;
   RowBuilder& row_;
};

void dependRows(const SystemContext& context, RowBuilder& row) {
   DependencyRows(context, row).run();
}

constexpr NamedProducer tables[] = {{"pg_depend", dependRows}};

} // namespace

std::span<const NamedProducer> dependencyProducers() {
   return tables;
}

} // namespace ouzel::catalog
