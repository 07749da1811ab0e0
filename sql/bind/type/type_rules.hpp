#pragma once
#include <span>
#include <string>

#include "catalog/builtin/builtin.hpp"
#include "common/value/sql_type.hpp"

// PostgreSQL's rules about types alone, without expressions: categories, existing casts, polymorphism.

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
/// Whether inputs of these types say what a polymorphic type of the result stands for.
bool isDetermined(Oid result, std::span<const Oid> inputs);
/// The types of which one input has to be, for messages.
std::string_view determiningTypes(Oid result);
/// Row types of relations and record.
bool isRowType(Oid type);
/// Element type of a true array, invalidOid for everything else.
Oid elementType(Oid array);
/// Array type over an element type, invalidOid if there is none.
Oid arrayType(Oid element);
/// A type with its default collation, as expressions have it.
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

/// True if polymorphic parameters can take these argument types.
bool isGenericConsistent(std::span<const Oid> actual, std::span<const Oid> declared);
/// Resolves the polymorphic types of a call and gives the actual result type. In `declared` the types of unknown and
/// anycompatible arguments become the types that the arguments are cast to. Throws 42804, 42704.
Oid enforceGenericConsistency(std::span<const Oid> actual, std::span<Oid> declared, Oid result);

/// The common type of UNION columns, CASE branches and so on, from types alone: unknown counts as any type; invalidOid
/// when there is none.
Oid commonTypeOf(std::span<const Oid> types);
/// One step of commonTypeOf: the better of two known types; invalidOid if their categories differ.
Oid betterCommonType(Oid soFar, Oid next);

} // namespace ouzel::sql
