#include "catalog/object/partition_hash.hpp"

#include <cmath>
#include <cstring>

#include "common/error/check.hpp"
#include "common/hash/lookup3.hpp"
#include "common/number/decimal.hpp"
#include "common/type/blanks.hpp"
#include "common/type/date_time_math.hpp"

namespace ouzel::catalog {

namespace {

constexpr uint64_t partitionSeed = 0x7A5B22367996DCFD;

uint64_t hashOfFloat(double value, uint64_t seed) {
   if (value == 0) return seed; // both zeros
   if (std::isnan(value)) value = std::nan("");
   char bytes[sizeof(value)];
   std::memcpy(bytes, &value, sizeof(value));
   return lookup3(std::string_view(bytes, sizeof(bytes)), seed);
}

/// By the digits of base 10,000, without the zeros at both ends, and the place of the first.
uint64_t hashOfNumeric(const std::string& bytes, uint64_t seed) {
   const StringView value(bytes);
   if (!decimal::isFinite(value)) return seed;
   std::string binary;
   decimal::appendBinary(binary, value);
   const auto word = [&](size_t i) {
      return static_cast<uint16_t>(static_cast<uint8_t>(binary[2 * i]) << 8 | static_cast<uint8_t>(binary[2 * i + 1]));
   };
   constexpr size_t headWords = 4; // digits, weight, sign, scale
   size_t first = headWords, end = headWords + word(0);
   int weight = static_cast<int16_t>(word(1));
   while (first < end && word(first) == 0) {
      ++first;
      --weight;
   }
   while (first < end && word(end - 1) == 0)
      --end;
   if (first == end) return seed - 1;
   std::string digits;
   for (size_t i = first; i < end; ++i) {
      const uint16_t digit = word(i);
      digits.push_back(static_cast<char>(digit & 0xff));
      digits.push_back(static_cast<char>(digit >> 8));
   }
   return lookup3(digits, seed) ^ static_cast<uint64_t>(static_cast<int64_t>(weight));
}

} // namespace

uint64_t seededHash(const SqlType& type, const Value& value, uint64_t seed) {
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
   case oid::float8: return hashOfFloat(value.f64, seed);
   case oid::numeric: return hashOfNumeric(value.bytes, seed);
   case oid::bpchar: return lookup3(trimTrailingBlanks(value.bytes), seed);
   default: break;
   }
   return lookup3(std::string_view(value.bytes), seed);
}

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
      if (!values[i].isNull)
         hash ^= seededHash(types[i], values[i], partitionSeed) + 0x49a0f4dd15e5a8e3 + (hash << 54) + (hash >> 7);
   return hash;
}

} // namespace ouzel::catalog
