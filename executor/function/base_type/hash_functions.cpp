#include "catalog/object/partition_hash.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// PostgreSQL's hash functions: hashtext(), hashint4extended(), ... Their values are those of PostgreSQL.

namespace ouzel::executor {

namespace {

template <Oid type, typename T>
uint64_t hashOf(T given, uint64_t seed) {
   Value value;
   if constexpr (std::is_same_v<T, StringView> || std::is_same_v<T, DecimalView>) {
      const StringView bytes = given;
      value = Value::string(std::string(bytes.view()));
   } else if constexpr (std::is_same_v<T, int128>) { // a uuid, see physical_type.hpp
      const uint128 bits = static_cast<uint128>(given) ^ (static_cast<uint128>(1) << 127);
      std::string bytes;
      for (int shift = 120; shift >= 0; shift -= 8)
         bytes.push_back(static_cast<char>(bits >> shift));
      value = Value::string(std::move(bytes));
   } else if constexpr (std::is_floating_point_v<T>) {
      value = Value::real(PhysicalType::F64, given);
   } else {
      value = Value::integer(PhysicalType::I64, given);
   }
   return catalog::seededHash(SqlType{type, -1, invalidOid}, value, seed);
}

template <Oid type, typename T>
int32_t shortHash(T value) {
   return static_cast<int32_t>(static_cast<uint32_t>(hashOf<type>(value, 0)));
}
template <Oid type, typename T>
int64_t seeded(T value, int64_t seed) {
   return static_cast<int64_t>(hashOf<type>(value, static_cast<uint64_t>(seed)));
}

template <Oid type, typename T>
void add(std::string_view name, std::string_view extendedName) {
   addKernel<shortHash<type, T>>(name, totalKernel);
   addKernel<seeded<type, T>>(extendedName, totalKernel);
}

} // namespace

void registerHashFunctions() {
   add<oid::text, StringView>("hashtext", "hashtextextended");
   add<oid::name, StringView>("hashname", "hashnameextended");
   add<oid::bpchar, StringView>("hashbpchar", "hashbpcharextended");
   add<oid::int2, int16_t>("hashint2", "hashint2extended");
   add<oid::int4, int32_t>("hashint4", "hashint4extended");
   add<oid::int8, int64_t>("hashint8", "hashint8extended");
   add<oid::oid, int64_t>("hashoid", "hashoidextended");
   add<oid::float4, float>("hashfloat4", "hashfloat4extended");
   add<oid::float8, double>("hashfloat8", "hashfloat8extended");
   add<oid::numeric, DecimalView>("hash_numeric", "hash_numeric_extended");
   add<oid::timestamp, int64_t>("timestamp_hash", "timestamp_hash_extended");
   add<oid::time, int64_t>("time_hash", "time_hash_extended");
   add<oid::bytea, int128>("uuid_hash", "uuid_hash_extended");
}

} // namespace ouzel::executor
