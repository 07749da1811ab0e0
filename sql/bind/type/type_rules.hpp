#pragma once
#include <span>
#include <string>

#include "catalog/builtin/builtin.hpp"
#include "common/value/sql_type.hpp"

// PostgreSQL's rules about types as such: categories, which casts exist, polymorphism. No expressions here.

namespace ouzel::sql {

enum class CoercionContext : uint8_t { Implicit, Assignment, Explicit };

enum class CoercionPath : uint8_t {
   None,
   Function, ///< call `function`
   Relabel,  ///< same bytes
   Array,    ///< element by element
   InOut,    ///< through text
};
struct Coercion {
   CoercionPath path = CoercionPath::None;
   const catalog::FunctionInfo* function = nullptr;
};

char typeCategory(Oid type);
bool isPreferredType(Oid type);
bool isPolymorphic(Oid type);
bool isAnyCompatible(Oid type);
bool isPseudoType(Oid type);
/// Row types of relations and record.
bool isRowType(Oid type);
/// Element type of a true array, invalidOid for everything else.
Oid elementType(Oid array);
/// Array type over an element type, invalidOid if there is none.
Oid arrayType(Oid element);
/// A type as expressions have it: with its collation.
SqlType plainType(Oid type, int32_t typmod = -1);
/// format_type(): "integer", "numeric(10,2)", "text[]".
std::string typeName(const SqlType& type);
inline std::string typeName(Oid type) {
   return typeName(SqlType{type, -1, invalidOid});
}

Coercion findCoercion(Oid target, Oid source, CoercionContext context);
bool canCoerce(std::span<const Oid> inputs, std::span<const Oid> targets, CoercionContext context);
inline bool canCoerce(Oid input, Oid target, CoercionContext context) {
   return canCoerce(std::span(&input, 1), std::span(&target, 1), context);
}
/// True if values of the type take a length or precision: varchar, numeric, timestamp and their arrays.
bool hasTypmodCoercion(Oid type);

/// Could polymorphic arguments be made consistent?
bool isGenericConsistent(std::span<const Oid> actual, std::span<const Oid> declared);
/// Resolve polymorphic arguments and the result: `declared` becomes what unknown and anycompatible arguments shall be
/// cast to; gives the actual result type. Throws 42804, 42704.
Oid enforceGenericConsistency(std::span<const Oid> actual, std::span<Oid> declared, Oid result);

/// The common type of UNION columns, CASE branches and so on, from types alone: unknown counts as any type; invalidOid
/// when there is none.
Oid commonTypeOf(std::span<const Oid> types);
/// One step of it: the better of two known types; invalidOid if their categories differ.
Oid betterCommonType(Oid soFar, Oid next);

} // namespace ouzel::sql
