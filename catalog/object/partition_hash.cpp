#include "catalog/object/partition_hash.hpp"

#include "common/error/check.hpp"
#include "common/hash/lookup3.hpp"
#include "common/type/blanks.hpp"
#include "common/type/date_time_math.hpp"

namespace ouzel::catalog {

namespace {

constexpr uint64_t seed = 0x7A5B22367996DCFD;

uint64_t hashOf(const SqlType& type, const Value& value) {
   switch (type.oid) {
   case oid::boolean:
   case oid::int2:
   case oid::int4:
   case oid::oid:
   case oid::date: return lookup3(static_cast<uint32_t>(value.i64), seed);
   case oid::int8:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::time: return lookup3OfInteger(value.i64, seed);
   case oid::interval: return lookup3OfInteger(static_cast<int64_t>(intervalSpan(value.interval)), seed);
   case oid::float4:
   case oid::float8: return lookup3OfFloat(value.f64, seed);
   case oid::numeric: return lookup3OfDecimal(StringView(value.bytes), seed);
   case oid::bpchar: return lookup3(trimTrailingBlanks(value.bytes), seed);
   default: break;
   }
   return lookup3(std::string_view(value.bytes), seed);
}

} // namespace

bool hasPartitionHash(const SqlType& type) {
   switch (type.oid) {
   case oid::boolean:
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::oid:
   case oid::date:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::time:
   case oid::interval:
   case oid::float4:
   case oid::float8:
   case oid::numeric:
   case oid::text:
   case oid::varchar:
   case oid::bpchar:
   case oid::name:
   case oid::bytea: return true;
   default: return false;
   }
}

uint64_t partitionHash(std::span<const SqlType> types, std::span<const Value> values) {
   DCHECK(types.size() == values.size());
   uint64_t hash = 0;
   for (size_t i = 0; i < values.size(); ++i)
      if (!values[i].isNull) hash ^= hashOf(types[i], values[i]) + 0x49a0f4dd15e5a8e3 + (hash << 54) + (hash >> 7);
   return hash;
}

} // namespace ouzel::catalog
