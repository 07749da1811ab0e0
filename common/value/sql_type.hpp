#pragma once
#include <cstdint>
#include <string>

#include "common/value/physical_type.hpp"

// SQL types as clients see them: PostgreSQL's OIDs and type modifiers.

namespace ouzel {

using Oid = uint32_t;
inline constexpr Oid invalidOid = 0;
inline constexpr Oid defaultCollation = 100; ///< pg_collation "default"; "C" is 950, "POSIX" 951

namespace oid {
inline constexpr Oid boolean = 16, bytea = 17, character = 18 /* "char" */, name = 19, int8 = 20, int2 = 21,
                     int2vector = 22, int4 = 23, regproc = 24, text = 25, oid = 26, tid = 27, xid = 28, cid = 29,
                     oidvector = 30, json = 114, xml = 142, pgNodeTree = 194, float4 = 700, float8 = 701, unknown = 705,
                     money = 790, aclitem = 1033, bpchar = 1042, varchar = 1043, date = 1082, time = 1083,
                     timestamp = 1114, timestamptz = 1184, interval = 1186, timetz = 1266, bit = 1560, varbit = 1562,
                     numeric = 1700, refcursor = 1790, regprocedure = 2202, regoper = 2203, regoperator = 2204,
                     regclass = 2205, regtype = 2206, record = 2249, cstring = 2275, any = 2276, anyarray = 2277,
                     voidType = 2278, trigger = 2279, internal = 2281, anyelement = 2283, recordArray = 2287,
                     anynonarray = 2776, uuid = 2950, anyenum = 3500, jsonb = 3802, anyrange = 3831,
                     regnamespace = 4089, regrole = 4096, regcollation = 4191, xid8 = 5069, anycompatible = 5077,
                     anycompatiblearray = 5078, anycompatiblenonarray = 5079, boolArray = 1000, byteaArray = 1001,
                     charArray = 1002, nameArray = 1003, int2Array = 1005, int4Array = 1007, textArray = 1009,
                     bpcharArray = 1014, varcharArray = 1015, int8Array = 1016, float4Array = 1021, float8Array = 1022,
                     oidArray = 1028, aclitemArray = 1034, timestampArray = 1115, dateArray = 1182, timeArray = 1183,
                     timestamptzArray = 1185, intervalArray = 1187, numericArray = 1231, uuidArray = 2951;
} // namespace oid

/// True for regclass and the other reg types: OIDs that are shown as the names of their objects.
constexpr bool isRegType(Oid type) {
   return type == oid::regproc || type == oid::regprocedure || type == oid::regoper || type == oid::regoperator ||
          type == oid::regclass || type == oid::regtype || type == oid::regnamespace || type == oid::regrole ||
          type == oid::regcollation;
}

/// Objects of users have OIDs from here on.
inline constexpr Oid firstUserOid = 16384;
/// The OID of a type that users made says what the type is, so that no catalog is needed to handle its values. An
/// array's is that of its elements with the highest bit. One without the four highest bits is a row type's.
inline constexpr Oid userArrayBit = 0x8000'0000, userTypeKinds = 0xf000'0000, userDomainKind = 0x1000'0000,
                     userEnumKind = 0x2000'0000, userRangeKind = 0x3000'0000, userMultirangeKind = 0x4000'0000;

/// True for record and the row types of users' relations, whose values are those of row.hpp. The row types of system
/// catalogs have no values of their own: such a row is a record.
constexpr bool isRowValue(Oid type) {
   return type == oid::record || (type >= firstUserOid && (type & userTypeKinds) == 0);
}

/// True for the types of CREATE TYPE ... AS ENUM. Their values are codes of labels, which are integers in the order of
/// the labels (common/type/enum_labels.hpp).
constexpr bool isEnumType(Oid type) {
   return (type & userTypeKinds) == userEnumKind;
}

/// True for the types of CREATE TYPE ... AS RANGE and for their multirange types; the built-in ones are in
/// range_types.hpp.
constexpr bool isUserRange(Oid type) {
   return (type & userTypeKinds) == userRangeKind;
}
constexpr bool isUserMultirange(Oid type) {
   return (type & userTypeKinds) == userMultirangeKind;
}

/// A type as RowDescription shows it. typmod -1: none. collation 0: not collatable.
struct SqlType {
   Oid oid = oid::unknown;
   int32_t typmod = -1;
   Oid collation = invalidOid;
   /// The domain whose checks the values have passed, or the array type of such a domain; 0: none. The other members
   /// are those of the domain's base type, so that whoever does not ask handles values of a domain as those of its
   /// base.
   Oid domain = invalidOid;

   /// Whether the values are of one kind. Does not ask for domains.
   bool operator==(const SqlType& other) const {
      return oid == other.oid && typmod == other.typmod && collation == other.collation;
   }
   /// What pg_typeof() says.
   Oid named() const { return domain ? domain : oid; }
};

/// The type, or the base type of the domain that it is.
constexpr SqlType withoutDomain(SqlType type) {
   type.domain = invalidOid;
   return type;
}

/// numeric(p, s) packs its modifier as ((p << 16) | (s & 0x7ff)) + 4; varchar(n), bpchar(n) as n + 4.
struct NumericModifier {
   int32_t precision; ///< 1..1000
   int32_t scale;     ///< -1000..1000
};
constexpr NumericModifier numericModifier(int32_t typmod) {
   const int32_t packed = typmod - 4;
   return {(packed >> 16) & 0xffff, ((packed & 0x7ff) ^ 1024) - 1024};
}
constexpr int32_t numericTypmod(int32_t precision, int32_t scale) {
   return ((precision << 16) | (scale & 0x7ff)) + 4;
}

/// The representation of a type's values in tables, and in a running plan unless the plan proves a narrower one:
/// numeric(p, s) with 0 <= s <= p is I64 up to p = 18 and I128 up to p = 38; every other numeric is Decimal. A scaled
/// column cannot store NaN, so that storing NaN in a numeric(p, s) column throws 0A000, unlike PostgreSQL.
Representation storedRepresentation(const SqlType& type);

/// Element type of an array type, and the array type of an element type; 0 if there is none.
Oid arrayElementType(Oid arrayType);
Oid arrayTypeOf(Oid elementType);

/// Name as format_type() prints it: "integer", "numeric(15,2)", "character varying(25)", "timestamp with time zone".
/// Types of users print as "???"; the catalog has their names.
std::string formatType(const SqlType& type);

} // namespace ouzel
