#include "catalog/object/operator.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/function_text.hpp"

namespace ouzel::catalog {

Operator::Operator(OperatorDefinition definition)
   : CatalogObject(ObjectKind::Operator), OperatorDefinition(std::move(definition)) {
   info_.oid = oid;
   info_.name = name;
   info_.schema = schema;
   info_.left = left.oid;
   info_.right = right.oid;
   info_.result = result.oid;
   info_.function = function;
   info_.commutator = commutator;
   info_.negator = negator;
   info_.canMerge = canMerge;
   info_.canHash = canHash;
   info_.restrictEstimator = restrictEstimator;
   info_.joinEstimator = joinEstimator;
}

std::string operatorKey(std::string_view name, Oid left, Oid right) {
   std::string key(name);
   key += '\0'; // no name has one: the operators of a name follow one another
   return key + std::to_string(left) + ' ' + std::to_string(right);
}

std::vector<OperatorPtr> operatorsNamed(const Snapshot& snapshot, const SearchPath& path, std::string_view schema,
                                        std::string_view name) {
   std::vector<OperatorPtr> found;
   const auto append = [&](Oid in) {
      for (OperatorPtr& op : snapshot.findOperators(in, name))
         found.push_back(std::move(op));
   };
   if (schema.empty()) {
      for (const Oid one : path.schemas)
         if (one != path.temporary) append(one); // operators there need their schema
   } else if (schema == "pg_temp" && path.temporary != invalidOid) {
      append(path.temporary);
   } else if (const SchemaPtr named = snapshot.findSchema(schema)) {
      requirePrivilege(snapshot, path, *named, privilege::usage);
      append(named->oid);
   }
   return found;
}

const OperatorInfo* findExactOperator(const Snapshot& snapshot, std::span<const Oid> schemas, std::string_view name,
                                      Oid left, Oid right) {
   for (const Oid schema : schemas) {
      const OperatorInfo* builtin = schema == pgCatalogSchema ? builtins().findOperator(name, left, right) : nullptr;
      if (builtin) return builtin;
      if (const OperatorPtr own = snapshot.findOperator(schema, name, left, right)) return &own->info();
   }
   return nullptr;
}

bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Operator& op) {
   const OperatorInfo* found = findExactOperator(snapshot, path.schemas, op.name, op.left.named(), op.right.named());
   return found && found->oid == op.oid;
}

std::string signatureOf(const Snapshot& snapshot, const SearchPath& path, const Operator& op) {
   const SchemaPtr schema = isVisible(snapshot, path, op) ? nullptr : snapshot.schema(op.schema);
   const auto operand = [&](const SqlType& type) {
      return type.oid == invalidOid ? std::string("NONE") : typeText(snapshot, path, type.named());
   };
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + op.name + "(" + operand(op.left) + "," +
          operand(op.right) + ")";
}

const OperatorInfo* operatorInfo(const Snapshot& snapshot, Oid oid) {
   if (oid < firstUserOid) return builtins().operatorByOid(oid);
   const OperatorPtr found = snapshot.op(oid);
   return found ? &found->info() : nullptr;
}

} // namespace ouzel::catalog
