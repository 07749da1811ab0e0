#pragma once
#include <string>
#include <string_view>

#include "catalog/builtin/builtin.hpp"

namespace ouzel::catalog {

class Snapshot;

/// A row of pg_opclass.
struct OperatorClassInfo {
   Oid oid, method, family, input;
   std::string_view name;
   bool isDefault;
   Oid keyType; ///< of what an index stores; invalidOid: the column's type
};

/// The OID of an access method; invalidOid if there is none of this name.
Oid accessMethod(std::string_view name);
/// Null if there is no such class.
const OperatorClassInfo* operatorClass(Oid oid);
const OperatorClassInfo* findOperatorClass(Oid method, std::string_view name);
/// Whether it takes values of the type, or of one that is cast to its own without a change.
bool acceptsType(const OperatorClassInfo& one, Oid type);
/// The class that a key column of the type names; invalidOid if that is the default one. Throws 42704 if the method has
/// none of this name, 42804 if it does not accept the type.
Oid namedOperatorClass(const std::string& method, const std::string& name, Oid type);
/// The default class of a method for values of a type; null if there is none.
const OperatorClassInfo* defaultOperatorClass(Oid method, Oid type);
/// The type of what an index of the class stores of values of a type, with an element of an array for anyelement.
Oid storedKeyType(const OperatorClassInfo& one, Oid type);
/// A class of an extension that the database has, for a key column of the type; an empty name: the default one. Null:
/// there is none. Throws 42804 if the named one does not accept the type.
const OperatorClassInfo* madeOperatorClass(const Snapshot& snapshot, Oid method, std::string_view name, Oid type);
/// Its number among the operators of a family (pg_amop.amopstrategy); 0 if it is none of them.
int operatorStrategy(Oid family, Oid op);
std::string operatorClassName(Oid oid);
/// invalidOid: the family that a method would have for a type that it does not take itself.
std::string operatorFamilyName(Oid family, Oid method);
inline constexpr Oid anyMultirange = 4537; ///< pg_type's row
/// Whether a polymorphic type stands for the type: anyrange for int4range.
bool standsFor(Oid polymorphic, Oid type);

/// The default btree operator class of a type (pg_index.indclass); invalidOid if there is none.
Oid defaultOperatorClass(Oid type);

} // namespace ouzel::catalog
