#include "common/type/sql_type.hpp"

namespace ouzel {

Representation storedRepresentation(const SqlType& type) {
   switch (type.oid) {
      case oid::boolean: return {PhysicalType::Bool, 0};
      case oid::int2: return {PhysicalType::I16, 0};
      case oid::int4:
      case oid::date: return {PhysicalType::I32, 0};
      case oid::oid:
      case oid::xid:
      case oid::cid:
      case oid::regproc:
      case oid::regprocedure:
      case oid::regoper:
      case oid::regoperator:
      case oid::regclass:
      case oid::regtype:
      case oid::regnamespace:
      case oid::regrole: // unsigned 32 bits do not fit an I32's order
      case oid::xid8:
      case oid::money:
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
