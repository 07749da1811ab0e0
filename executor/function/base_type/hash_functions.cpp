#include "common/hash/lookup3.hpp"
#include "common/type/blanks.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// PostgreSQL's hash functions: hashtext(), hashint4extended(), ... Their values are those of PostgreSQL.

namespace ouzel::executor {

namespace {

uint64_t hashOfText(StringView text, uint64_t seed) {
   return lookup3(text.view(), seed);
}
uint64_t hashOfCharacters(StringView text, uint64_t seed) {
   return lookup3(trimTrailingBlanks(text.view()), seed);
}
template <typename T>
uint64_t hashOfShortInteger(T value, uint64_t seed) {
   return lookup3(static_cast<uint32_t>(value), seed);
}
uint64_t hashOfDecimal(DecimalView value, uint64_t seed) {
   return lookup3OfDecimal(value, seed);
}
template <typename T>
uint64_t hashOfFloat(T value, uint64_t seed) {
   return lookup3OfFloat(static_cast<double>(value), seed);
}
uint64_t hashOfUuid(int128 value, uint64_t seed) {
   const uint128 bits = static_cast<uint128>(value) ^ (uint128{1} << 127); // see physical_type.hpp
   char bytes[sizeof(bits)];
   for (size_t i = 0; i < sizeof(bytes); ++i)
      bytes[i] = static_cast<char>(bits >> (120 - 8 * i));
   return lookup3(std::string_view(bytes, sizeof(bytes)), seed);
}

template <auto hash, typename T>
int32_t shortHash(T value) {
   return static_cast<int32_t>(static_cast<uint32_t>(hash(value, 0)));
}
template <auto hash, typename T>
int64_t seededHash(T value, int64_t seed) {
   return static_cast<int64_t>(hash(value, static_cast<uint64_t>(seed)));
}

template <typename T, uint64_t (*hash)(T, uint64_t)>
void add(std::string_view name, std::string_view extendedName) {
   addKernel<shortHash<hash, T>>(name, totalKernel);
   addKernel<seededHash<hash, T>>(extendedName, totalKernel);
}

} // namespace

void registerHashFunctions() {
   add<StringView, hashOfText>("hashtext", "hashtextextended");
   add<StringView, hashOfText>("hashname", "hashnameextended");
   add<StringView, hashOfCharacters>("hashbpchar", "hashbpcharextended");
   add<int16_t, hashOfShortInteger>("hashint2", "hashint2extended");
   add<int32_t, hashOfShortInteger>("hashint4", "hashint4extended");
   add<int64_t, lookup3OfInteger>("hashint8", "hashint8extended");
   add<int64_t, hashOfShortInteger>("hashoid", "hashoidextended");
   add<float, hashOfFloat>("hashfloat4", "hashfloat4extended");
   add<double, hashOfFloat>("hashfloat8", "hashfloat8extended");
   add<DecimalView, hashOfDecimal>("hash_numeric", "hash_numeric_extended");
   add<int64_t, lookup3OfInteger>("timestamp_hash", "timestamp_hash_extended");
   add<int64_t, lookup3OfInteger>("time_hash", "time_hash_extended");
   add<int128, hashOfUuid>("uuid_hash", "uuid_hash_extended");
}

} // namespace ouzel::executor
