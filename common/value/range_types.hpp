#pragma once
#include "common/value/sql_type.hpp"

// Which types are ranges, which are multiranges, and over what.

namespace ouzel {

/// A range type and its multirange type, as pg_range has them.
struct RangeType {
   Oid range, multirange, subtype;
   bool isDiscrete; ///< has a canonical function: [1,3] is [1,4)
   /// Of built-in types; null: a user's type, whose name is in the catalog.
   const char* name;
   const char* multirangeName;
   Oid domain = invalidOid; ///< the domain over `subtype` that the bounds are of
};

inline constexpr RangeType rangeTypes[] = {
    {3904, 4451, oid::int4, true, "int4range", "int4multirange"},
    {3906, 4532, oid::numeric, false, "numrange", "nummultirange"},
    {3908, 4533, oid::timestamp, false, "tsrange", "tsmultirange"},
    {3910, 4534, oid::timestamptz, false, "tstzrange", "tstzmultirange"},
    {3912, 4535, oid::date, true, "daterange", "datemultirange"},
    {3926, 4536, oid::int8, true, "int8range", "int8multirange"},
};

// The types of CREATE TYPE ... AS RANGE. What one is never changes and no other type gets its OID, so that the process
// remembers all that it has seen, and values can be handled without a catalog.

/// A range type of a user with its multirange type. Thread-safe; the catalog calls it for each snapshot with the type.
void rememberRangeType(Oid range, Oid multirange, const SqlType& subtype);
/// The type that has this OID as its range's; null: it is not known. Without a lock.
const RangeType* rememberedRangeType(Oid range);
/// The same of a multirange's OID.
const RangeType* rememberedMultirangeType(Oid multirange);

/// The range type with this OID; null: the type is no range.
inline const RangeType* findRangeType(Oid type) {
   for (const RangeType& each : rangeTypes)
      if (each.range == type) return &each;
   return isUserRange(type) ? rememberedRangeType(type) : nullptr;
}
/// The same of a multirange's OID.
inline const RangeType* findMultirangeType(Oid type) {
   for (const RangeType& each : rangeTypes)
      if (each.multirange == type) return &each;
   return isUserMultirange(type) ? rememberedMultirangeType(type) : nullptr;
}

} // namespace ouzel
