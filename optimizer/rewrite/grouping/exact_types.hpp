#pragma once
#include "common/value/sql_type.hpp"

namespace ouzel::optimizer {

/// Whether equal values of the type are the same in every respect. Not so 1.0 and 1.00, or -0 and 0.
inline bool isExact(const SqlType& type) {
   switch (type.oid) {
   case oid::boolean:
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::oid:
   case oid::date:
   case oid::time:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::uuid: return true;
   default: return false;
   }
}

} // namespace ouzel::optimizer
