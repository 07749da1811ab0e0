#pragma once
#include "catalog/builtin/builtin.hpp"
#include "catalog/object/objects.hpp"
#include "catalog/object/search_path.hpp"

// The operators of CREATE OPERATOR.

namespace ouzel::catalog {

/// What an Operator is made of. ALTER changes a copy of it.
struct OperatorDefinition {
   Oid database = invalidOid, oid = invalidOid, schema = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   SqlType left{invalidOid, -1, invalidOid}, right = left; ///< left without an OID: a prefix operator
   SqlType result{invalidOid, -1,
                  invalidOid}; ///< no OID: a shell, which another operator names as its commutator or negator
   Oid function = invalidOid;  ///< of a user, or a built-in one
   Oid commutator = invalidOid, negator = invalidOid;
   Oid restrictEstimator = invalidOid, joinEstimator = invalidOid;
   bool canMerge = false, canHash = false;

   bool isShell() const { return function == invalidOid; }
};

/// CREATE OPERATOR. Copies of a database have the operators of the original under the same OIDs.
struct Operator : CatalogObject, OperatorDefinition {
   explicit Operator(OperatorDefinition definition);
   Operator(const Operator&) = delete;

   /// The operator as a row beside the built-in ones; valid while the object lives.
   const OperatorInfo& info() const { return info_; }

private:
   OperatorInfo info_{};
};

/// By what operators of one name and schema differ: the name and the types of the operands.
std::string operatorKey(std::string_view name, Oid left, Oid right);

/// The operators of users that a name means, shells too, in the order of the path. An empty schema: along the path.
std::vector<OperatorPtr> operatorsNamed(const Snapshot& snapshot, const SearchPath& path, std::string_view schema,
                                        std::string_view name);
/// The first operator, built-in or of a user, that has this name and just these operands (domains as themselves) in one
/// of the schemas; null: there is none. Valid while the snapshot lives.
const OperatorInfo* findExactOperator(const Snapshot& snapshot, std::span<const Oid> schemas, std::string_view name,
                                      Oid left, Oid right);
/// Whether the unqualified name and the operands find this operator.
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const Operator& op);
/// "===(integer,NONE)", as regoperator prints it: schema-qualified unless visible.
std::string signatureOf(const Snapshot& snapshot, const SearchPath& path, const Operator& op);
/// What an operator is, a built-in one or one of users; null: there is none. Valid while the snapshot lives.
const OperatorInfo* operatorInfo(const Snapshot& snapshot, Oid oid);

} // namespace ouzel::catalog
