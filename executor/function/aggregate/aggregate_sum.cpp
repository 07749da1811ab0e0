#include <cmath>

#include "common/error/sql_error.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"
#include "executor/function/aggregate/decimal_accumulator.hpp"
#include "executor/function/float_overflow.hpp"

// count, sum, avg.

namespace ouzel::executor {

namespace {

// ---- count ----

void initializeCount(std::byte* state) {
   stateAt<int64_t>(state) = 0;
}
void updateCount(const AggregateInput& input, std::byte* const* states) {
   const uint32_t count = input.rows.count();
   if (input.args.empty() || !input.args[0].mayHaveNulls()) {
      for (uint32_t i = 0; i < count; ++i)
         ++stateAt<int64_t>(states[i]);
      return;
   }
   for (uint32_t i = 0; i < count; ++i)
      stateAt<int64_t>(states[i]) += input.args[0].isNull(input.rows.row(i)) ? 0 : 1;
}
void updateCountOne(const AggregateInput& input, std::byte* state) {
   const uint32_t count = input.rows.count();
   if (input.args.empty() || !input.args[0].mayHaveNulls()) {
      stateAt<int64_t>(state) += count;
      return;
   }
   int64_t found = 0;
   for (uint32_t i = 0; i < count; ++i)
      found += input.args[0].isNull(input.rows.row(i)) ? 0 : 1;
   stateAt<int64_t>(state) += found;
}
void combineCount(std::byte* const* into, const std::byte* const* from, uint32_t count, Arena&) {
   for (uint32_t i = 0; i < count; ++i)
      stateAt<int64_t>(into[i]) += stateAt<int64_t>(from[i]);
}
void finalizeCount(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
   int64_t* out = result.values<int64_t>();
   for (uint32_t i = 0; i < count; ++i)
      out[i] = stateAt<int64_t>(states[i]);
}
constexpr AggregateKernel countKernel{.stateSize = sizeof(int64_t),
                                      .initialize = initializeCount,
                                      .update = updateCount,
                                      .updateOne = updateCountOne,
                                      .combine = combineCount,
                                      .finalize = finalizeCount,
                                      .ignoresValues = true};

// ---- integers and scaled numerics ----

/// Sum and count of integers of up to 32 bits: the sum of 2^32 rows fits.
struct NarrowState {
   int64_t sum = 0, count = 0;
};
template <typename T>
struct NarrowSum {
   using State = NarrowState;
   using Input = T;
   using Accumulation = NarrowSum;
   static void add(State& s, T value, Arena&) {
      s.sum += value;
      ++s.count;
   }
   static void addDense(State& s, const T* values, uint32_t count) {
      int64_t sum = 0;
      for (uint32_t i = 0; i < count; ++i)
         sum += values[i];
      s.sum += sum;
      s.count += count;
   }
   static void merge(State& into, const State& from, Arena&) {
      into.sum += from.sum;
      into.count += from.count;
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<int64_t>()[row] = s.sum;
   }
};
template <typename T>
struct NarrowAverage : NarrowSum<T> {
   static void finish(const NarrowState& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<StringView>()[row] = decimal::divideScaled(s.sum, 0, s.count, result.strings());
   }
};

struct alignas(16) WideState {
   int128 sum = 0;
   int64_t count = 0;
};
template <typename T>
struct WideSum {
   using State = WideState;
   using Input = T;
   using Accumulation = WideSum;
   static void add(State& s, T value, Arena&) {
      s.sum += value;
      ++s.count;
   }
   static void addDense(State& s, const T* values, uint32_t count) {
      if constexpr (sizeof(T) == 8) {
         // Sums the lower and upper halves separately: neither overflows within a batch, and the loop vectorises.
         uint64_t low = 0;
         int64_t high = 0;
         for (uint32_t i = 0; i < count; ++i) {
            low += static_cast<uint32_t>(values[i]);
            high += static_cast<int32_t>(values[i] >> 32);
         }
         s.sum += (static_cast<int128>(high) << 32) + static_cast<int128>(low);
      } else {
         for (uint32_t i = 0; i < count; ++i)
            s.sum += values[i];
      }
      s.count += count;
   }
   static void merge(State& into, const State& from, Arena&) {
      into.sum += from.sum;
      into.count += from.count;
   }
};
/// The result is I128, or Decimal if lowering did not choose a scaled result.
template <typename T, int32_t scale = 0>
struct WideSumResult : WideSum<T> {
   static void finish(const WideState& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      if (result.type() == PhysicalType::I128) {
         result.values<int128>()[row] = s.sum;
      } else {
         result.values<StringView>()[row] = decimal::fromInt128(s.sum, scale, result.strings());
      }
   }
};
/// avg of a scaled numeric. The scale is a template parameter, so that states do not need a member for it.
template <typename T, int32_t scale>
struct WideAverage : WideSum<T> {
   static void finish(const WideState& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<StringView>()[row] = decimal::divideScaled(s.sum, scale, s.count, result.strings());
   }
};

/// sum(money) is of type money.
struct MoneySum : WideSum<int64_t> {
   static void finish(const WideState& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      if (s.sum != static_cast<int64_t>(s.sum)) throw SqlError(sqlstate::numericValueOutOfRange, "money out of range");
      result.values<int64_t>()[row] = static_cast<int64_t>(s.sum);
   }
};

constexpr int32_t scalesMax = 39; // a scaled numeric has at most 38 digits

template <template <typename, int32_t> typename Policy, typename T, size_t... scale>
const AggregateKernel* byScale(int32_t wanted, std::index_sequence<scale...>) {
   static constexpr const AggregateKernel* kernels[] = {aggregateOf<Policy<T, static_cast<int32_t>(scale)>>...};
   return kernels[wanted];
}
template <template <typename, int32_t> typename Policy>
const AggregateKernel* scaledKernel(Representation arg) {
   if (arg.scale >= scalesMax) return nullptr;
   const auto scales = std::make_index_sequence<scalesMax>{};
   return arg.physical == PhysicalType::I64 ? byScale<Policy, int64_t>(arg.scale, scales)
                                            : byScale<Policy, int128>(arg.scale, scales);
}

// ---- decimals ----

struct DecimalSum {
   using State = DecimalAccumulator;
   static constexpr uint32_t strings[] = {offsetof(DecimalAccumulator, big)};
   using Input = StringView;
   static void add(State& s, const StringView& value, Arena& arena) { s.add(value, arena); }
   static void merge(State& into, const State& from, Arena& arena) { into.merge(from, arena); }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<StringView>()[row] = s.total(result.strings());
   }
};
struct DecimalAverage : DecimalSum {
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<StringView>()[row] = s.average(result.strings());
   }
};

// ---- floats: added in row order, as PostgreSQL does, so that small results agree to the last digit ----

template <typename T>
struct FloatState {
   T sum = 0;
   int64_t count = 0;
};
template <typename T>
struct FloatSum {
   using State = FloatState<T>;
   using Input = T;
   static void add(State& s, T value, Arena&) {
      const T sum = s.sum + value;
      if (std::isinf(sum) && !std::isinf(s.sum) && !std::isinf(value)) [[unlikely]]
         throwOverflow();
      s.sum = sum;
      ++s.count;
   }
   static void merge(State& into, const State& from, Arena&) {
      into.sum += from.sum;
      into.count += from.count;
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<T>()[row] = s.sum;
   }
};
template <typename T>
struct FloatAverage {
   using State = FloatState<double>;
   using Input = T;
   static void add(State& s, T value, Arena& arena) { FloatSum<double>::add(s, static_cast<double>(value), arena); }
   static void merge(State& into, const State& from, Arena& arena) { FloatSum<double>::merge(into, from, arena); }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<double>()[row] = s.sum / static_cast<double>(s.count);
   }
};

const AggregateKernel* findSum(Oid type, Representation arg) {
   switch (type) {
   case oid::int2: return aggregateOf<NarrowSum<int16_t>>;
   case oid::int4: return aggregateOf<NarrowSum<int32_t>>;
   case oid::int8: return aggregateOf<WideSumResult<int64_t>>;
   case oid::money: return aggregateOf<MoneySum>;
   case oid::float4: return aggregateOf<FloatSum<float>>;
   case oid::float8: return aggregateOf<FloatSum<double>>;
   case oid::numeric:
      return arg.physical == PhysicalType::Decimal ? aggregateOf<DecimalSum> : scaledKernel<WideSumResult>(arg);
   default: return nullptr;
   }
}

const AggregateKernel* findAverage(Oid type, Representation arg) {
   switch (type) {
   case oid::int2: return aggregateOf<NarrowAverage<int16_t>>;
   case oid::int4: return aggregateOf<NarrowAverage<int32_t>>;
   case oid::int8: return aggregateOf<WideAverage<int64_t, 0>>;
   case oid::float4: return aggregateOf<FloatAverage<float>>;
   case oid::float8: return aggregateOf<FloatAverage<double>>;
   case oid::numeric:
      return arg.physical == PhysicalType::Decimal ? aggregateOf<DecimalAverage> : scaledKernel<WideAverage>(arg);
   default: return nullptr;
   }
}

} // namespace

const AggregateKernel* findSumAggregate(const AggregateRequest& request) {
   if (request.name == "count") return &countKernel;
   if (request.args.size() != 1) return nullptr;
   if (request.name == "sum") return findSum(request.argTypes[0].oid, request.args[0]);
   if (request.name == "avg") return findAverage(request.argTypes[0].oid, request.args[0]);
   return nullptr;
}

} // namespace ouzel::executor
