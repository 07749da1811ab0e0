#pragma once
#include "common/value/sql_type.hpp"

// Which types are ranges, which are multiranges, and over what.

namespace ouzel {

/// A range type and its multirange type, as pg_range has them.
struct RangeType {
   Oid range, multirange, subtype;
   bool isDiscrete; ///< has a canonical function: [1,3] is [1,4)
   const char* name;
   const char* multirangeName;
};

inline constexpr RangeType rangeTypes[] = {
    {3904, 4451, oid::int4, true, "int4range", "int4multirange"},
    {3906, 4532, oid::numeric, false, "numrange", "nummultirange"},
    {3908, 4533, oid::timestamp, false, "tsrange", "tsmultirange"},
    {3910, 4534, oid::timestamptz, false, "tstzrange", "tstzmultirange"},
    {3912, 4535, oid::date, true, "daterange", "datemultirange"},
    {3926, 4536, oid::int8, true, "int8range", "int8multirange"},
};

/// The range type with this OID; null: the type is no range.
constexpr const RangeType* findRangeType(Oid type) {
   for (const RangeType& each : rangeTypes)
      if (each.range == type) return &each;
   return nullptr;
}
/// The same of a multirange's OID.
constexpr const RangeType* findMultirangeType(Oid type) {
   for (const RangeType& each : rangeTypes)
      if (each.multirange == type) return &each;
   return nullptr;
}

} // namespace ouzel
