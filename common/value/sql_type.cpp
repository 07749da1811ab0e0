#include "common/value/sql_type.hpp"

#include "common/value/form_oids.hpp"
#include "common/value/object_names.hpp"
#include "common/value/range_types.hpp"

namespace ouzel {

namespace {

struct ArrayPair {
   Oid array, element;
};
/// pg_type's typarray of every built-in base type that has one.
constexpr ArrayPair arrayPairs[] = {
    {1000, 16},   {1001, 17},   {1002, 18},   {1003, 19},   {1016, 20},   {1005, 21},   {1006, 22},   {1007, 23},
    {1008, 24},   {1009, 25},   {1028, 26},   {1010, 27},   {1011, 28},   {1012, 29},   {1013, 30},   {199, 114},
    {143, 142},   {1017, 600},  {1018, 601},  {1019, 602},  {1020, 603},  {1027, 604},  {629, 628},   {651, 650},
    {1021, 700},  {1022, 701},  {719, 718},   {775, 774},   {791, 790},   {1040, 829},  {1041, 869},  {1034, 1033},
    {1014, 1042}, {1015, 1043}, {1182, 1082}, {1183, 1083}, {1115, 1114}, {1185, 1184}, {1187, 1186}, {1270, 1266},
    {1561, 1560}, {1563, 1562}, {1231, 1700}, {2201, 1790}, {2207, 2202}, {2208, 2203}, {2209, 2204}, {2210, 2205},
    {2211, 2206}, {2951, 2950}, {2949, 2970}, {3221, 3220}, {3643, 3614}, {3645, 3615}, {3644, 3642}, {3735, 3734},
    {3770, 3769}, {3807, 3802}, {4073, 4072}, {4090, 4089}, {4097, 4096}, {4192, 4191}, {5039, 5038}, {271, 5069},
    {1263, 2275}, {2287, 2249}, {3905, 3904}, {3907, 3906}, {3909, 3908}, {3911, 3910}, {3913, 3912}, {3927, 3926},
    {9201, 9200}, {9203, 9202}, {9205, 9204}, {9207, 9206}, {9209, 9208}, {9211, 9210}, {9213, 9212}, {6150, 4451},
    {6151, 4532}, {6152, 4533}, {6153, 4534}, {6155, 4535}, {6157, 4536},
};

struct TypeName {
   Oid oid;
   const char* name;
};
constexpr TypeName plainNames[] = {
    {oid::boolean, "boolean"},
    {oid::bytea, "bytea"},
    {oid::character, "\"char\""},
    {oid::name, "name"},
    {oid::int8, "bigint"},
    {oid::int2, "smallint"},
    {oid::int2vector, "int2vector"},
    {oid::int4, "integer"},
    {oid::regproc, "regproc"},
    {oid::text, "text"},
    {oid::oid, "oid"},
    {oid::tid, "tid"},
    {oid::xid, "xid"},
    {oid::cid, "cid"},
    {oid::oidvector, "oidvector"},
    {oid::json, "json"},
    {oid::xml, "xml"},
    {oid::pgNodeTree, "pg_node_tree"},
    {oid::float4, "real"},
    {oid::float8, "double precision"},
    {oid::unknown, "unknown"},
    {oid::point, "point"},
    {oid::box, "box"},
    {oid::lseg, "lseg"},
    {oid::line, "line"},
    {oid::path, "path"},
    {oid::polygon, "polygon"},
    {oid::circle, "circle"},
    {oid::cidr, "cidr"},
    {oid::macaddr8, "macaddr8"},
    {oid::money, "money"},
    {oid::macaddr, "macaddr"},
    {oid::inet, "inet"},
    {oid::aclitem, "aclitem"},
    {oid::date, "date"},
    {oid::refcursor, "refcursor"},
    {9200, "vector"}, // base_type/vector.hpp
    {9202, "hstore"}, // base_type/hstore.hpp
    {9204, "citext"}, // base_type/citext.hpp
    {9206, "ltree"},  // base_type/ltree.hpp
    {9208, "lquery"}, // base_type/ltree_query.hpp
    {9210, "ltxtquery"},
    {9212, "cube"},    // base_type/cube.hpp
    {9214, "ghstore"}, // these: builtin/extension_types.hpp
    {9216, "gtrgm"},
    {9218, "intbig_gkey"},
    {9270, "ltree_gist"},
    {9272, "gbtreekey2"},
    {9274, "gbtreekey4"},
    {9276, "gbtreekey8"},
    {9278, "gbtreekey16"},
    {9280, "gbtreekey32"},
    {9282, "gbtreekey_var"},
    {oid::regprocedure, "regprocedure"},
    {oid::regoper, "regoper"},
    {oid::regoperator, "regoperator"},
    {oid::regclass, "regclass"},
    {oid::regtype, "regtype"},
    {oid::record, "record"},
    {oid::cstring, "cstring"},
    {oid::any, "\"any\""},
    {oid::anyarray, "anyarray"},
    {oid::voidType, "void"},
    {oid::trigger, "trigger"},
    {oid::internal, "internal"},
    {oid::anyelement, "anyelement"},
    {oid::anynonarray, "anynonarray"},
    {oid::uuid, "uuid"},
    {oid::pgLsn, "pg_lsn"},
    {oid::pgSnapshot, "pg_snapshot"},
    {oid::txidSnapshot, "txid_snapshot"},
    {oid::pgNdistinct, "pg_ndistinct"},
    {oid::pgDependencies, "pg_dependencies"},
    {oid::pgMcvList, "pg_mcv_list"},
    {3614, "tsvector"}, // base_type/ts_vector.hpp
    {3615, "tsquery"},
    {3642, "gtsvector"},
    {3734, "regconfig"},
    {3769, "regdictionary"},
    {oid::anyenum, "anyenum"},
    {oid::jsonb, "jsonb"},
    {oid::anyrange, "anyrange"},
    {4537, "anymultirange"},
    {4538, "anycompatiblemultirange"},
    {5080, "anycompatiblerange"},
    {4072, "jsonpath"},
    {oid::regnamespace, "regnamespace"},
    {oid::regrole, "regrole"},
    {oid::regcollation, "regcollation"},
    {oid::xid8, "xid8"},
    {oid::anycompatible, "anycompatible"},
    {oid::anycompatiblearray, "anycompatiblearray"},
    {oid::anycompatiblenonarray, "anycompatiblenonarray"},
};

std::string inParentheses(int32_t value) {
   return '(' + std::to_string(value) + ')';
}

/// Names of time types with a precision: "timestamp(3) without time zone".
std::string timeName(const char* base, int32_t typmod, const char* tail) {
   return std::string(base) + (typmod >= 0 ? inParentheses(typmod) : "") + tail;
}

std::string intervalName(int32_t typmod) {
   std::string name = "interval";
   if (typmod < 0) return name;
   constexpr int32_t month = 1 << 1, year = 1 << 2, day = 1 << 3, hour = 1 << 10, minute = 1 << 11, second = 1 << 12;
   switch ((typmod >> 16) & 0x7fff) {
   case year: name += " year"; break;
   case month: name += " month"; break;
   case day: name += " day"; break;
   case hour: name += " hour"; break;
   case minute: name += " minute"; break;
   case second: name += " second"; break;
   case year | month: name += " year to month"; break;
   case day | hour: name += " day to hour"; break;
   case day | hour | minute: name += " day to minute"; break;
   case day | hour | minute | second: name += " day to second"; break;
   case hour | minute: name += " hour to minute"; break;
   case hour | minute | second: name += " hour to second"; break;
   case minute | second: name += " minute to second"; break;
   default: break;
   }
   if ((typmod & 0xffff) != 0xffff) name += inParentheses(typmod & 0xffff);
   return name;
}

} // namespace

Oid arrayElementType(Oid arrayType) {
   if ((arrayType & userArrayBit) != 0) return arrayType & ~userArrayBit;
   for (const ArrayPair& pair : arrayPairs)
      if (pair.array == arrayType) return pair.element;
   return invalidOid;
}

Oid arrayTypeOf(Oid elementType) {
   if (elementType >= firstUserOid) return (elementType & userArrayBit) == 0 ? elementType | userArrayBit : invalidOid;
   for (const ArrayPair& pair : arrayPairs)
      if (pair.element == elementType) return pair.array;
   return invalidOid;
}

std::string formatType(const SqlType& type) {
   const int32_t typmod = type.typmod;
   switch (type.oid) {
   case invalidOid: return "-";
   case oid::numeric: {
      if (typmod < 4) return "numeric";
      const NumericModifier m = numericModifier(typmod);
      return "numeric(" + std::to_string(m.precision) + ',' + std::to_string(m.scale) + ')';
   }
   case oid::varchar: return typmod >= 4 ? "character varying" + inParentheses(typmod - 4) : "character varying";
   case oid::bpchar: return typmod >= 4 ? "character" + inParentheses(typmod - 4) : "bpchar";
   case oid::bit: return typmod >= 0 ? "bit" + inParentheses(typmod) : "\"bit\"";
   case oid::varbit: return typmod >= 0 ? "bit varying" + inParentheses(typmod) : "bit varying";
   case oid::time: return timeName("time", typmod, " without time zone");
   case oid::timetz: return timeName("time", typmod, " with time zone");
   case oid::timestamp: return timeName("timestamp", typmod, " without time zone");
   case oid::timestamptz: return timeName("timestamp", typmod, " with time zone");
   case oid::interval: return intervalName(typmod);
   default: break;
   }
   for (const TypeName& plain : plainNames)
      if (plain.oid == type.oid) return plain.name;
   if (const RangeType* range = findRangeType(type.oid); range && range->name) return range->name;
   if (const RangeType* range = findMultirangeType(type.oid); range && range->name) return range->multirangeName;
   if (const Oid element = arrayElementType(type.oid)) return formatType({element, typmod, invalidOid}) + "[]";
   return "???";
}

Representation storedRepresentation(const SqlType& type) {
   if (isObjectName(type.oid)) return {PhysicalType::I64, 0}; // as oid: unsigned 32 bits do not fit an I32's order
   if (isEnumType(type.oid)) return {PhysicalType::I64, 0};
   switch (type.oid) {
   case oid::boolean: return {PhysicalType::Bool, 0};
   case oid::int2: return {PhysicalType::I16, 0};
   case oid::int4:
   case oid::date: return {PhysicalType::I32, 0};
   case oid::oid:
   case oid::xid:
   case oid::cid:
   case oid::xid8:
   case oid::money:
   case oid::macaddr:
   case oid::macaddr8:
   case oid::pgLsn:
   case oid::tid:
   case oid::int8:
   case oid::time:
   case oid::timestamp:
   case oid::timestamptz: return {PhysicalType::I64, 0};
   case oid::uuid: return {PhysicalType::I128, 0};
   case oid::float4: return {PhysicalType::F32, 0};
   case oid::float8: return {PhysicalType::F64, 0};
   case oid::interval: return {PhysicalType::Interval, 0};
   case oid::numeric: {
      if (type.typmod < 0) return {PhysicalType::Decimal, 0};
      const NumericModifier m = numericModifier(type.typmod);
      if (m.scale < 0 || m.scale > m.precision || m.precision > 38) return {PhysicalType::Decimal, 0};
      return {m.precision <= 18 ? PhysicalType::I64 : PhysicalType::I128, static_cast<uint8_t>(m.scale)};
   }
   default: return {PhysicalType::String, 0};
   }
}

} // namespace ouzel
