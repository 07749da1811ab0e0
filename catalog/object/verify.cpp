#include "catalog/object/verify.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/database_of.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/search_path.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

namespace ouzel::catalog {

namespace {

/// Collects the damage of one relation.
class Verifier {
public:
   /// `place`: the name of the relation's database; empty: the one from which the catalog is seen.
   Verifier(const Snapshot& snapshot, const Relation& relation, std::string place, std::vector<std::string>& found)
      : snapshot_(snapshot), relation_(relation), place_(std::move(place)), found_(found) {}

   void verify() {
      if (!snapshot_.schema(relation_.schema)) report("", "its schema is missing");
      for (const Constraint& constraint : relation_.constraints)
         verifyConstraint(constraint);
      if (relation_.index) verifyIndex(*relation_.index);
      if (relation_.range && !snapshot_.relationOfType(relation_.range->partner))
         report("", "the range type or multirange type that belongs to it is missing");
      if (relation_.ofType != invalidOid && !snapshot_.relationOfType(relation_.ofType))
         report("", "the type of it is missing");
      if (relation_.foreign && !snapshot_.server(relation_.foreign->server)) report("", "its server is missing");
      verifyParents();
      for (const Column& column : relation_.columns) {
         if (column.defaultSequence != invalidOid && !isSequence(column.defaultSequence))
            report("", "the sequence of the default of column " + quoteIdentifier(column.name) + " is missing");
         if (!std::all_of(column.relationsInDefault.begin(), column.relationsInDefault.end(),
                          [this](Oid named) { return hasColumn(named, 0); }))
            report("", "a relation that the default of column " + quoteIdentifier(column.name) + " names is missing");
         if (!column.isDropped && !hasCollation(column.type.collation))
            report("", "the collation of column " + quoteIdentifier(column.name) + " is missing");
      }
      for (const Dependency& dependency : relation_.dependsOn)
         if (!hasColumn(dependency.relation, dependency.attribute))
            report("", "a table or column that it reads is missing");
      for (const Policy& policy : relation_.policies)
         for (const Dependency& dependency : policy.dependsOn)
            if (!hasColumn(dependency.relation, dependency.attribute))
               report("policy " + quoteIdentifier(policy.name) + " on ", "a table or column that it reads is missing");
      verifyCalls();
      for (const Trigger& trigger : relation_.triggers) {
         const std::string what = "trigger " + quoteIdentifier(trigger.name) + " on ";
         if (!snapshot_.function(trigger.function) && !builtins().function(trigger.function))
            report(what, "its function is missing");
         for (const Dependency& dependency : trigger.dependsOn)
            if (!hasColumn(dependency.relation, dependency.attribute))
               report(what, "a table or column that it reads is missing");
      }
      for (const Rule& rule : relation_.rules)
         for (const Dependency& dependency : rule.dependsOn)
            if (!hasColumn(dependency.relation, dependency.attribute))
               report("rule " + quoteIdentifier(rule.name) + " on ", "a table or column that it uses is missing");
      if (relation_.sequence && relation_.sequence->ownerRelation != invalidOid &&
          !hasColumn(relation_.sequence->ownerRelation, relation_.sequence->ownerAttribute))
         report("", "the column that owns it is missing");
   }

private:
   void verifyCalls() {
      forEachText(relation_, [&](const std::string& text) {
         forEachCall(text, [&](Oid called) {
            if (!snapshot_.function(called) && !snapshot_.op(called))
               report("", "a function or operator that it calls is missing");
         });
      });
   }
   void report(const std::string& what, const std::string& problem) {
      found_.push_back(what + std::string(relationKindName(relation_)) + " " + quoteIdentifier(relation_.name) +
                       (place_.empty() ? "" : " of database " + quoteIdentifier(place_)) + ": " + problem);
   }
   bool isSequence(Oid oid) const {
      const RelationPtr found = snapshot_.relation(oid);
      return found && found->sequence.has_value();
   }
   bool hasCollation(Oid oid) const { return oid < firstUserOid || snapshot_.collation(oid); }
   bool hasColumn(Oid oid, int16_t attribute) const {
      const RelationPtr found = snapshot_.relation(oid);
      return found && (attribute <= 0 || found->column(attribute) != nullptr);
   }
   bool haveColumns(Oid oid, const std::vector<int16_t>& attributes) const {
      return std::all_of(attributes.begin(), attributes.end(),
                         [&](int16_t attribute) { return hasColumn(oid, attribute); });
   }
   /// Whether `index` is a unique index of `table` over these columns.
   bool isUniqueIndex(Oid index, Oid table, const std::vector<int16_t>& columns) const {
      const RelationPtr found = snapshot_.relation(index);
      return found && found->index && found->index->table == table &&
             (found->index->isUnique || found->index->isPrimary) && found->index->columns.size() == columns.size() &&
             std::is_permutation(columns.begin(), columns.end(), found->index->columns.begin());
   }
   bool isExclusion(Oid index, Oid table) const {
      const RelationPtr found = snapshot_.relation(index);
      return found && found->index && found->index->table == table &&
             found->index->operators.size() == found->index->columns.size();
   }
   void verifyConstraint(const Constraint& constraint) {
      const std::string name = "constraint " + quoteIdentifier(constraint.name) + " on ";
      if (!haveColumns(relation_.oid, constraint.columns)) report(name, "a column of it is missing");
      const bool ownsIndex = constraint.ownsIndex(), excludes = constraint.kind == ConstraintKind::Exclusion;
      if (excludes && !isExclusion(constraint.index, relation_.oid)) report(name, "its index is missing");
      if (ownsIndex && !excludes && !isUniqueIndex(constraint.index, relation_.oid, constraint.columns))
         report(name, "its index is missing");
      if (!ownsIndex && constraint.index != invalidOid) report(name, "it has an index");
      if (constraint.kind == ConstraintKind::ForeignKey) {
         const RelationPtr parent = snapshot_.relation(constraint.foreignRelation);
         if (!parent || parent->relationKind != RelationKind::Table)
            report(name, "the table that it references is missing");
         else if (constraint.columns.size() != constraint.foreignColumns.size() ||
                  !isUniqueIndex(constraint.referencedIndex, parent->oid, constraint.foreignColumns))
            report(name, "its unique index of table " + quoteIdentifier(parent->name) + " is missing");
      }
   }
   void verifyParents() {
      for (const Oid oid : relation_.parents) {
         const RelationPtr parent = snapshot_.relation(oid);
         if (!parent)
            report("", "a table that it inherits from is missing");
         else if (relation_.isPartition() != parent->partitionKey.has_value())
            report("", "it is a partition of a table without partitions, or no partition of one with them");
         else if (const AttributeMap attributes = attributesIn(*parent, relation_))
            for (const Column& column : parent->columns)
               if (!column.isDropped && (*attributes)[static_cast<size_t>(column.attribute - 1)] == 0)
                  report("", "the inherited column " + quoteIdentifier(column.name) + " is missing");
      }
      if (relation_.isPartition() && relation_.parents.size() != 1) report("", "it is a partition of no one table");
      if (relation_.partitionKey && !haveColumns(relation_.oid, relation_.partitionKey->columns))
         report("", "a column of its partition key is missing");
      if (relation_.partitionKey &&
          !std::all_of(relation_.partitionKey->collations.begin(), relation_.partitionKey->collations.end(),
                       [this](Oid oid) { return hasCollation(oid); }))
         report("", "a collation of its partition key is missing");
   }
   void verifyIndex(const IndexDefinition& index) {
      const RelationPtr table = snapshot_.relation(index.table);
      if (!table)
         report("", "its table is missing");
      else if (!haveColumns(index.table, index.columns))
         report("", "a column of it is missing");
      else if (index.isPrimary && !table->constraintOf(relation_.oid))
         report("", "its primary key constraint is missing");
   }

   const Snapshot& snapshot_;
   const Relation& relation_;
   const std::string place_;
   std::vector<std::string>& found_;
};

void verify(const Snapshot& snapshot, const Statistics& statistics, std::vector<std::string>& found) {
   const RelationPtr table = snapshot.relation(statistics.table);
   const auto hasAll = [&](const std::vector<int16_t>& attributes) {
      return std::all_of(attributes.begin(), attributes.end(),
                         [&](int16_t attribute) { return table->column(attribute) != nullptr; });
   };
   const char* problem = !snapshot.schema(statistics.schema) ? "its schema is missing"
                         : !table                            ? "its table is missing"
                         : !hasAll(statistics.columns) || !hasAll(statistics.columnsRead)
                             ? "a column that it needs is missing"
                             : nullptr;
   if (problem) found.push_back("statistics object " + quoteIdentifier(statistics.name) + ": " + problem);
}

void verify(const Snapshot& snapshot, const Function& function, std::vector<std::string>& found) {
   const auto has = [&](Oid type) { return type < firstUserOid || snapshot.relationOfType(type); };
   const char* problem =
       !snapshot.schema(function.schema) ? "its schema is missing"
       : !has(function.returnType.named()) || !std::all_of(function.parameters.begin(), function.parameters.end(),
                                                           [&](const auto& one) { return has(one.type.named()); })
           ? "a type that it has is missing"
           : nullptr;
   if (function.aggregate)
      for (const Oid used : function.aggregate->functions())
         if (!functionInfo(snapshot, used)) problem = "a function that it calls is missing";
   for (const Oid called : function.calls)
      if (!snapshot.function(called) && !snapshot.op(called))
         problem = "a function or operator that it calls is missing";
   for (const Dependency& read : function.dependsOn)
      if (!snapshot.relation(read.relation)) problem = "a relation that it uses is missing";
   if (problem)
      found.push_back(std::string(routineNoun(function.functionKind)) + " " + quoteIdentifier(function.name) + ": " +
                      problem);
}

[[noreturn]] void throwIndexLost(const Relation& table, const Constraint& constraint) {
   throw SqlError(sqlstate::indexCorrupted,
                  "constraint \"" + constraint.name + "\" of relation \"" + table.name + "\" has lost its index")
       .hint("Use ALTER TABLE ... DROP CONSTRAINT ... CASCADE, remove duplicate rows, and add the constraint again.");
}

} // namespace

std::vector<std::string> findDamage(const Snapshot& snapshot) {
   std::vector<std::string> found;
   for (const DatabasePtr& database : snapshot.databases()) {
      const Snapshot inside = snapshot.inDatabase(database->oid);
      for (const RelationPtr& relation : inside.relations())
         Verifier(inside, *relation, database->oid == snapshot.database() ? "" : database->name, found).verify();
      for (const StatisticsPtr& statistics : inside.allStatistics())
         verify(inside, *statistics, found);
      for (const FunctionPtr& function : inside.functions())
         verify(inside, *function, found);
      for (const OperatorPtr& op : inside.operators())
         if (!inside.schema(op->schema) || (!op->isShell() && !functionInfo(inside, op->function)))
            found.push_back("operator " + op->name + ": its schema or its function is missing");
      for (const CastPtr& cast : inside.casts())
         if (cast->method == CastMethod::Function && !functionInfo(inside, cast->function))
            found.push_back("cast " + std::to_string(cast->oid) + ": its function is missing");
      for (const ExtensionPtr& extension : inside.extensions())
         if (!inside.schema(extension->schema))
            found.push_back("extension " + quoteIdentifier(extension->name) + ": its schema is missing");
      for (const ServerPtr& server : inside.servers())
         if (!inside.wrapper(server->wrapper))
            found.push_back("server " + quoteIdentifier(server->name) + ": its foreign-data wrapper is missing");
      for (const ForeignWrapperPtr& wrapper : inside.wrappers())
         for (const Oid function : {wrapper->handler, wrapper->validator})
            if (function != invalidOid && !functionInfo(inside, function))
               found.push_back("foreign-data wrapper " + quoteIdentifier(wrapper->name) + ": a function is missing");
      verifyTextSearch(inside, found);
      for (const CollationPtr& collation : inside.collations())
         if (!inside.schema(collation->schema))
            found.push_back("collation " + quoteIdentifier(collation->name) + ": its schema is missing");
   }
   for (const ObjectPtr& object : snapshot.allObjects())
      if (const Oid database = databaseOf(*object); database != invalidOid && !snapshot.database(database))
         found.push_back("an object of the missing database " + std::to_string(database) + " was left behind");
   return found;
}

void requireOwnIndexes(const Snapshot& snapshot, const Relation& table) {
   for (const Constraint& constraint : table.constraints)
      if (constraint.index != invalidOid && !snapshot.relation(constraint.index)) throwIndexLost(table, constraint);
}

RelationPtr requireReferencedIndex(const Snapshot& snapshot, const Relation& child, const Constraint& foreignKey) {
   DCHECK(foreignKey.kind == ConstraintKind::ForeignKey);
   RelationPtr index = snapshot.relation(foreignKey.referencedIndex);
   if (!index) throwIndexLost(child, foreignKey);
   return index;
}

} // namespace ouzel::catalog
