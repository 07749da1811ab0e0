#include <cmath>
#include <cstring>

#include "common/hash/hash.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// The methods of TABLESAMPLE. A row's hash with the seed decides, so that the same seed chooses the same rows.

namespace ouzel::executor {

namespace {

/// Rows that SYSTEM takes or leaves together, about as many as a page of PostgreSQL has.
constexpr int64_t rowsTogether = 128;

bool isChosen(int64_t number, std::optional<float> percentage, std::optional<double> seed) {
   if (!percentage) throw SqlError(sqlstate::invalidTablesampleArgument, "TABLESAMPLE parameter cannot be null");
   if (!(*percentage >= 0 && *percentage <= 100))
      throw SqlError(sqlstate::invalidTablesampleArgument, "sample percentage must be between 0 and 100");
   if (!seed) throw SqlError(sqlstate::invalidTablesampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null");
   uint64_t bits;
   static_assert(sizeof bits == sizeof *seed);
   std::memcpy(&bits, &*seed, sizeof bits);
   const uint64_t hash = hashU64(static_cast<uint64_t>(number) ^ hashU64(bits));
   return std::ldexp(static_cast<double>(hash >> 11), -53) < static_cast<double>(*percentage) / 100;
}

bool sampleRows(std::optional<int64_t> row, std::optional<float> percentage, std::optional<double> seed) {
   return isChosen(row.value_or(0), percentage, seed);
}
bool sampleBlocks(std::optional<int64_t> row, std::optional<float> percentage, std::optional<double> seed) {
   return isChosen(row.value_or(0) / rowsTogether, percentage, seed);
}

/// A number of the statement; `sample` tells the samples of one statement apart.
double sampleSeed(int32_t sample, KernelEnv& env) {
   const uint64_t hash = hashU64(static_cast<uint64_t>(env.context.statementStart) + static_cast<uint64_t>(sample));
   return static_cast<double>(hash >> 11);
}

} // namespace

void registerSample() {
   addKernel<sampleRows>("ouzel_sample_rows");
   addKernel<sampleBlocks>("ouzel_sample_blocks");
   addKernel<sampleSeed>("ouzel_sample_seed", totalKernel);
}

} // namespace ouzel::executor
