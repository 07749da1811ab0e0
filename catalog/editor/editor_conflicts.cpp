#include <algorithm>

#include "catalog/builtin/extension_types.hpp"
#include "catalog/editor/editor.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/sql_error.hpp"

// What another transaction has changed meanwhile must not break what this one has made.

namespace ouzel::catalog {

namespace {

[[noreturn, gnu::cold]] void throwConcurrent() {
   throw SqlError(sqlstate::tRSerializationFailure, "could not serialize access due to concurrent update");
}

/// The object that has this object's name in a snapshot, or null.
ObjectPtr sameName(const Snapshot& snapshot, const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database: return snapshot.findDatabase(static_cast<const Database&>(object).name);
   case ObjectKind::Role: return snapshot.findRole(static_cast<const Role&>(object).name);
   case ObjectKind::Schema: {
      const auto& schema = static_cast<const Schema&>(object);
      return snapshot.inDatabase(schema.database).findSchema(schema.name);
   }
   case ObjectKind::Relation: {
      const auto& relation = static_cast<const Relation&>(object);
      return snapshot.inDatabase(relation.database).findRelation(relation.schema, relation.name);
   }
   case ObjectKind::Server: {
      const auto& server = static_cast<const ForeignServer&>(object);
      return snapshot.inDatabase(server.database).findServer(server.name);
   }
   case ObjectKind::ForeignWrapper: {
      const auto& wrapper = static_cast<const ForeignWrapper&>(object);
      return snapshot.inDatabase(wrapper.database).findWrapper(wrapper.name);
   }
   case ObjectKind::Statistics: {
      const auto& statistics = static_cast<const Statistics&>(object);
      return snapshot.inDatabase(statistics.database).findStatistics(statistics.schema, statistics.name);
   }
   case ObjectKind::Collation: {
      const auto& collation = static_cast<const Collation&>(object);
      return snapshot.inDatabase(collation.database).findCollation(collation.schema, collation.name);
   }
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate: {
      const auto& part = static_cast<const TextSearchObject&>(object);
      return snapshot.inDatabase(part.database).findTextSearch(part.kind, part.schema, part.name);
   }
   case ObjectKind::Function: {
      const auto& function = static_cast<const Function&>(object);
      return snapshot.inDatabase(function.database).findFunction(function.schema, function.name, function.inputTypes());
   }
   case ObjectKind::Operator: {
      const auto& op = static_cast<const Operator&>(object);
      return snapshot.inDatabase(op.database).findOperator(op.schema, op.name, op.left.named(), op.right.named());
   }
   case ObjectKind::Cast: {
      const auto& cast = static_cast<const Cast&>(object);
      return snapshot.inDatabase(cast.database).findCast(cast.source.named(), cast.target.named());
   }
   case ObjectKind::Extension: {
      const auto& extension = static_cast<const Extension&>(object);
      return snapshot.inDatabase(extension.database).findExtension(extension.name);
   }
   case ObjectKind::PreparedTransaction:
      return snapshot.findPrepared(static_cast<const PreparedTransaction&>(object).name);
   case ObjectKind::Comment:
   case ObjectKind::Settings:
   case ObjectKind::DefaultAcl:
   case ObjectKind::SystemAcl:
   case ObjectKind::LargeObject:
   case ObjectKind::LargeObjectPages: break;
   }
   return nullptr;
}

/// Throws 40001 if something in the snapshot needs a wrapper or a server that has been dropped.
void requireUnused(const Snapshot& snapshot, const CatalogObject& dropped) {
   if (dropped.kind == ObjectKind::ForeignWrapper) {
      const auto& wrapper = static_cast<const ForeignWrapper&>(dropped);
      for (const ServerPtr& server : snapshot.inDatabase(wrapper.database).servers())
         if (server->wrapper == wrapper.oid) throwConcurrent();
   }
   if (dropped.kind == ObjectKind::Server) {
      const auto& server = static_cast<const ForeignServer&>(dropped);
      for (const RelationPtr& relation : snapshot.relationsOfDatabase(server.database))
         if (relation->foreign && relation->foreign->server == server.oid) throwConcurrent();
   }
}

/// Throws 40001 if the wrapper, server or function that an object of foreign data needs is not in the snapshot.
void requireForeignParts(const Snapshot& snapshot, const CatalogObject& object) {
   if (object.kind == ObjectKind::Server) {
      const auto& server = static_cast<const ForeignServer&>(object);
      if (!snapshot.inDatabase(server.database).wrapper(server.wrapper)) throwConcurrent();
   }
   if (object.kind == ObjectKind::ForeignWrapper) {
      const auto& wrapper = static_cast<const ForeignWrapper&>(object);
      const Snapshot view = snapshot.inDatabase(wrapper.database);
      if (wrapper.validator >= firstUserOid && !view.function(wrapper.validator)) throwConcurrent();
   }
   if (object.kind == ObjectKind::Relation) {
      const auto& relation = static_cast<const Relation&>(object);
      if (relation.foreign && !snapshot.inDatabase(relation.database).server(relation.foreign->server))
         throwConcurrent();
   }
}

/// Whether a column has the row type of `type`, or the domain that it is, or an array of them.
bool hasColumnOf(const Relation& relation, const Relation& type) {
   if (type.rowType == invalidOid) return false;
   return std::any_of(relation.columns.begin(), relation.columns.end(), [&](const Column& column) {
      return !column.isDropped && ((column.type.oid & ~userArrayBit) == type.rowType ||
                                   (column.type.domain & ~userArrayBit) == type.rowType);
   });
}

} // namespace

void CatalogEditor::throwNameTaken(const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database:
      throw SqlError(sqlstate::duplicateDatabase,
                     "database \"" + static_cast<const Database&>(object).name + "\" already exists");
   case ObjectKind::Role:
      throw SqlError(sqlstate::duplicateObject,
                     "role \"" + static_cast<const Role&>(object).name + "\" already exists");
   case ObjectKind::Schema:
      throw SqlError(sqlstate::duplicateSchema,
                     "schema \"" + static_cast<const Schema&>(object).name + "\" already exists");
   case ObjectKind::Relation:
      throw SqlError(sqlstate::duplicateTable,
                     "relation \"" + static_cast<const Relation&>(object).name + "\" already exists");
   case ObjectKind::Server:
      throw SqlError(sqlstate::duplicateObject,
                     "server \"" + static_cast<const ForeignServer&>(object).name + "\" already exists");
   case ObjectKind::ForeignWrapper:
      throw SqlError(sqlstate::duplicateObject,
                     "foreign-data wrapper \"" + static_cast<const ForeignWrapper&>(object).name + "\" already exists");
   case ObjectKind::Statistics:
      throw SqlError(sqlstate::duplicateObject,
                     "statistics object \"" + static_cast<const Statistics&>(object).name + "\" already exists");
   case ObjectKind::Collation:
      throw SqlError(sqlstate::duplicateObject,
                     "collation \"" + static_cast<const Collation&>(object).name + "\" already exists");
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate:
      throw SqlError(sqlstate::duplicateObject, std::string(textSearchWord(object.kind)) + " \"" +
                                                    static_cast<const TextSearchObject&>(object).name +
                                                    "\" already exists");
   case ObjectKind::Function:
      throw SqlError(sqlstate::duplicateFunction, "function \"" + static_cast<const Function&>(object).name +
                                                      "\" already exists with same argument types");
   case ObjectKind::Operator:
      throw SqlError(sqlstate::duplicateFunction,
                     "operator " + static_cast<const Operator&>(object).name + " already exists");
   case ObjectKind::Extension:
      throw SqlError(sqlstate::duplicateObject,
                     "extension \"" + static_cast<const Extension&>(object).name + "\" already exists");
   case ObjectKind::Cast: throw SqlError(sqlstate::duplicateObject, "cast already exists");
   case ObjectKind::PreparedTransaction:
      throw SqlError(sqlstate::duplicateObject, "transaction identifier \"" +
                                                    static_cast<const PreparedTransaction&>(object).name +
                                                    "\" is already in use");
   case ObjectKind::LargeObject: // PostgreSQL finds it by an index
      throw SqlError(sqlstate::uniqueViolation,
                     "duplicate key value violates unique constraint \"pg_largeobject_metadata_oid_index\"")
          .detail("Key (oid)=(" + std::to_string(static_cast<const LargeObject&>(object).oid) + ") already exists.")
          .table("pg_catalog", "pg_largeobject_metadata")
          .constraint("pg_largeobject_metadata_oid_index");
   case ObjectKind::Comment:
   case ObjectKind::Settings:
   case ObjectKind::DefaultAcl:
   case ObjectKind::SystemAcl:
   case ObjectKind::LargeObjectPages: break;
   }
   throwConcurrent();
}

void CatalogEditor::checkAgainst(const Snapshot& newest, const Snapshot& result) const {
   for (const auto& [key, entry] : entries_) {
      const Change& change = entry.change;
      if (key.kind == ObjectKind::Comment || key.kind == ObjectKind::Settings) continue; // the last commit wins
      if (newest.object(key) != change.before) throwConcurrent();
      if (!change.after) {
         const Snapshot view = key.kind == ObjectKind::Schema ? result.inDatabase(key.a) : result;
         if (key.kind == ObjectKind::Relation &&
             (!view.dependentsOf(key.a).empty() || !view.withPoliciesReading(key.a).empty() ||
              !view.withRulesUsing(key.a).empty()))
            throwConcurrent();
         if (key.kind == ObjectKind::Relation && change.before)
            for (const RelationPtr& relation :
                 view.relationsOfDatabase(static_cast<const Relation&>(*change.before).database))
               if (hasColumnOf(*relation, static_cast<const Relation&>(*change.before))) throwConcurrent();
         if (key.kind == ObjectKind::Extension && change.before)
            for (const ExtensionType& made : extensionTypes())
               if (made.extension == static_cast<const Extension&>(*change.before).name)
                  for (const RelationPtr& relation : result.relationsOfDatabase(key.a))
                     for (const Column& column : relation->columns)
                        if (!column.isDropped &&
                            (column.type.oid == made.type.oid || column.type.oid == made.array.oid))
                           throwConcurrent();
         if (key.kind == ObjectKind::Role && !dependentsOfRole(view, key.a).empty()) throwConcurrent();
         if (key.kind == ObjectKind::Schema) {
            for (const RelationPtr& relation : view.relations())
               if (relation->schema == key.b) throwConcurrent();
            for (const StatisticsPtr& statistics : view.allStatistics())
               if (statistics->schema == key.b) throwConcurrent();
            for (const CollationPtr& collation : view.collations())
               if (collation->schema == key.b) throwConcurrent();
            for (const FunctionPtr& function : view.functions())
               if (function->schema == key.b) throwConcurrent();
            for (const OperatorPtr& op : view.operators())
               if (op->schema == key.b) throwConcurrent();
            for (const ExtensionPtr& extension : view.extensions())
               if (extension->schema == key.b) throwConcurrent();
         }
         if (key.kind == ObjectKind::Collation && change.before) {
            const auto& collation = static_cast<const Collation&>(*change.before);
            const SchemaPtr schema = base_.inDatabase(collation.database).schema(collation.schema);
            for (const RelationPtr& relation : result.relationsOfDatabase(collation.database))
               if (usesCollation(*relation, collation, schema ? schema->name : "")) throwConcurrent();
         }
         if (key.kind == ObjectKind::Function || key.kind == ObjectKind::Operator) {
            for (const RelationPtr& relation : result.relationsOfDatabase(key.a))
               forEachText(*relation, [&](const std::string& text) {
                  if (callsFunction(text, key.b)) throwConcurrent();
               });
            for (const FunctionPtr& function : view.functions())
               if (function->aggregate) {
                  const std::vector<Oid> used = function->aggregate->functions();
                  if (std::find(used.begin(), used.end(), key.b) != used.end()) throwConcurrent();
               }
            for (const OperatorPtr& op : view.operators())
               if (op->function == key.b) throwConcurrent();
            for (const CastPtr& cast : view.casts())
               if (cast->function == key.b) throwConcurrent();
            for (const ForeignWrapperPtr& wrapper : view.wrappers())
               if (wrapper->validator == key.b) throwConcurrent();
         }
         if (change.before) requireUnused(result, *change.before);
         continue;
      }
      const ObjectPtr holder = sameName(newest, *change.after);
      if (holder && keyOf(*holder) != key && !entries_.contains(keyOf(*holder))) throwNameTaken(*change.after);
      if (key.kind == ObjectKind::Statistics) {
         const auto& statistics = static_cast<const Statistics&>(*change.after);
         const Snapshot view = result.inDatabase(statistics.database);
         if (!view.schema(statistics.schema) || !view.relation(statistics.table)) throwConcurrent();
      }
      if (key.kind == ObjectKind::Collation) {
         const auto& collation = static_cast<const Collation&>(*change.after);
         if (!result.inDatabase(collation.database).schema(collation.schema)) throwConcurrent();
      }
      if (key.kind == ObjectKind::Function) {
         const auto& function = static_cast<const Function&>(*change.after);
         const Snapshot view = result.inDatabase(function.database);
         const auto isMissing = [&](Oid type) { return type >= firstUserOid && !view.relationOfType(type); };
         if (!view.schema(function.schema) || isMissing(function.returnType.named()) ||
             std::any_of(function.parameters.begin(), function.parameters.end(),
                         [&](const FunctionParameter& parameter) { return isMissing(parameter.type.named()); }))
            throwConcurrent();
         if (function.aggregate)
            for (const Oid used : function.aggregate->functions())
               if (used >= firstUserOid && !view.function(used)) throwConcurrent();
         for (const Oid called : function.calls)
            if (!view.function(called) && !view.op(called)) throwConcurrent();
         for (const Dependency& read : function.dependsOn)
            if (!view.relation(read.relation)) throwConcurrent();
      }
      if (key.kind == ObjectKind::Operator) {
         const auto& op = static_cast<const Operator&>(*change.after);
         const Snapshot view = result.inDatabase(op.database);
         if (!view.schema(op.schema) || (op.function >= firstUserOid && !view.function(op.function))) throwConcurrent();
         for (const SqlType& type : {op.left, op.right, op.result})
            if (type.named() >= firstUserOid && !view.relationOfType(type.named())) throwConcurrent();
      }
      if (key.kind == ObjectKind::Extension) {
         const auto& extension = static_cast<const Extension&>(*change.after);
         if (!result.inDatabase(extension.database).schema(extension.schema)) throwConcurrent();
      }
      requireForeignParts(result, *change.after);
      if (key.kind == ObjectKind::Cast) {
         const auto& cast = static_cast<const Cast&>(*change.after);
         const Snapshot view = result.inDatabase(cast.database);
         if (cast.function >= firstUserOid && !view.function(cast.function)) throwConcurrent();
         for (const SqlType& type : {cast.source, cast.target})
            if (type.named() >= firstUserOid && !view.relationOfType(type.named())) throwConcurrent();
      }
      if (key.kind != ObjectKind::Relation) continue;
      const auto& relation = static_cast<const Relation&>(*change.after);
      const Snapshot view = result.inDatabase(relation.database);
      if (!view.schema(relation.schema)) {
         const SchemaPtr old = base_.inDatabase(relation.database).schema(relation.schema);
         throw SqlError(sqlstate::undefinedSchema, "schema \"" + (old ? old->name : "") + "\" does not exist");
      }
      for (const Dependency& dependency : relation.dependsOn)
         if (!view.relation(dependency.relation)) throwConcurrent();
      forEachText(relation, [&](const std::string& text) {
         forEachCall(text, [&](Oid function) {
            if (!view.function(function) && !view.op(function)) throwConcurrent();
         });
      });
      for (const Policy& policy : relation.policies)
         if (!std::all_of(policy.dependsOn.begin(), policy.dependsOn.end(),
                          [&](const Dependency& read) { return view.relation(read.relation) != nullptr; }) ||
             !std::all_of(policy.roles.begin(), policy.roles.end(),
                          [&](Oid role) { return role == invalidOid || view.role(role) != nullptr; }))
            throwConcurrent();
      for (const Rule& rule : relation.rules)
         for (const Dependency& dependency : rule.dependsOn)
            if (!view.relation(dependency.relation)) throwConcurrent();
      for (const Column& column : relation.columns)
         for (const Oid type : {column.type.oid, column.type.domain})
            if (!column.isDropped && type >= firstUserOid && !view.relationOfType(type)) throwConcurrent();
      if (entry.temporary) continue; // of this session alone: nobody who drops a collation sees it
      for (const Column& column : relation.columns)
         if (const Oid collation = column.type.collation;
             !column.isDropped && collation >= firstUserOid && !view.collation(collation))
            throwConcurrent();
   }
}

} // namespace ouzel::catalog
