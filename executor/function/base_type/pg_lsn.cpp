#include "common/base_type/pg_lsn.hpp"

#include "common/number/decimal.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions and operators of pg_lsn.

namespace ouzel::executor {

namespace {

DecimalView difference(int64_t a, int64_t b, KernelEnv& env) {
   return decimal::fromInt128(static_cast<int128>(unsignedOf(a)) - static_cast<int128>(unsignedOf(b)), 0, env.strings);
}

int64_t checked(std::optional<int128> lsn) {
   if (!lsn || *lsn < 0 || *lsn > static_cast<int128>(UINT64_MAX))
      throw SqlError(sqlstate::invalidParameterValue, "pg_lsn out of range");
   return orderedUnsigned(static_cast<uint64_t>(*lsn));
}
/// The number, rounded. Nullopt: it is larger than any pg_lsn.
std::optional<int128> wholeNumber(DecimalView v) {
   if (!decimal::isFinite(v))
      throw SqlError(sqlstate::featureNotSupported,
                     std::string("cannot convert ") + (decimal::isNaN(v) ? "NaN" : "infinity") + " to pg_lsn");
   return decimal::toInt128(v, 0);
}
std::optional<int128> distance(DecimalView bytes, const char* use) {
   if (decimal::isNaN(bytes)) throw SqlError(sqlstate::featureNotSupported, std::string("cannot ") + use + " pg_lsn");
   return wholeNumber(bytes);
}
int64_t add(int64_t lsn, DecimalView bytes) {
   const auto moved = distance(bytes, "add NaN to");
   return checked(moved ? std::optional<int128>(static_cast<int128>(unsignedOf(lsn)) + *moved) : std::nullopt);
}
int64_t addReversed(DecimalView bytes, int64_t lsn) {
   return add(lsn, bytes);
}
int64_t subtract(int64_t lsn, DecimalView bytes) {
   const auto moved = distance(bytes, "subtract NaN from");
   return checked(moved ? std::optional<int128>(static_cast<int128>(unsignedOf(lsn)) - *moved) : std::nullopt);
}
int64_t fromNumeric(DecimalView v) {
   return checked(wholeNumber(v));
}
int64_t larger(int64_t a, int64_t b) {
   return a > b ? a : b;
}
int64_t smaller(int64_t a, int64_t b) {
   return a < b ? a : b;
}

} // namespace

void registerPgLsn() {
   addKernels<difference>({"pg_lsn_mi", "pg_wal_lsn_diff"}, totalKernel);
   addKernel<add>("pg_lsn_pli");
   addKernel<addReversed>("sql:numeric_pl_pg_lsn");
   addKernel<subtract>("pg_lsn_mii");
   addKernel<fromNumeric>("numeric_pg_lsn");
   addKernel<larger>("pg_lsn_larger", totalKernel);
   addKernel<smaller>("pg_lsn_smaller", totalKernel);
}

} // namespace ouzel::executor
