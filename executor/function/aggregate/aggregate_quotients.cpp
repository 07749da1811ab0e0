#include "common/error/sql_error.hpp"
#include "common/number/decimal_exact_divisor.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"

// sum(x / c) and avg(x / c) of scaled integers x and a constant c: sums of integers. Its arguments are x, c and the
// scale of x.

namespace ouzel::executor {

namespace {

using decimal::ExactDivisor;

struct alignas(16) QuotientState {
   int128 sum = 0;                   ///< in units of the divisor
   uint64_t classStart = UINT64_MAX; ///< magnitudes below it have quotients of a larger display scale
   int64_t count = 0;
   int32_t displayScale = 0, unitScale = 0;
};

void add(QuotientState& s, int64_t value, const ExactDivisor& divisor) {
   const uint64_t magnitude = ExactDivisor::magnitudeOf(value);
   if (magnitude < s.classStart) {
      const ExactDivisor::Class& found = divisor.classOf(magnitude);
      s.displayScale = std::max(s.displayScale, found.displayScale);
      s.classStart = magnitude == 0 ? s.classStart : found.start;
      s.unitScale = divisor.unitScale();
   }
   s.sum += divisor.divide(value);
   ++s.count;
}

ExactDivisor divisorOf(const AggregateInput& input) {
   const auto divisor = ExactDivisor::of(input.args[1].value<StringView>(0), input.args[2].value<int32_t>(0));
   if (!divisor) throwInternal("a sum of quotients by another divisor");
   return *divisor;
}

void initialize(std::byte* state) {
   new (state) QuotientState();
}
void update(const AggregateInput& input, std::byte* const* states) {
   const ExactDivisor divisor = divisorOf(input);
   forEachValue<int64_t>(input.args[0], input.rows,
                         [&](uint32_t i, int64_t value) { add(stateAt<QuotientState>(states[i]), value, divisor); });
}
void updateOne(const AggregateInput& input, std::byte* state) {
   const ExactDivisor divisor = divisorOf(input);
   QuotientState local = stateAt<QuotientState>(state);
   forEachValue<int64_t>(input.args[0], input.rows, [&](uint32_t, int64_t value) { add(local, value, divisor); });
   stateAt<QuotientState>(state) = local;
}
void combine(std::byte* const* into, const std::byte* const* from, uint32_t count, Arena&) {
   for (uint32_t i = 0; i < count; ++i) {
      auto& s = stateAt<QuotientState>(into[i]);
      const auto& other = stateAt<QuotientState>(from[i]);
      s.sum += other.sum;
      s.count += other.count;
      s.classStart = std::min(s.classStart, other.classStart);
      s.displayScale = std::max(s.displayScale, other.displayScale);
      s.unitScale = std::max(s.unitScale, other.unitScale);
   }
}

StringView totalOf(const QuotientState& s, Arena& arena) {
   return decimal::rescale(decimal::fromInt128(s.sum, s.unitScale, arena), s.displayScale, arena);
}
StringView averageOf(const QuotientState& s, Arena& arena) {
   return decimal::divide(totalOf(s, arena), decimal::fromInt64(s.count), arena);
}

template <StringView (*resultOf)(const QuotientState&, Arena&)>
void finalize(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
   for (uint32_t i = 0; i < count; ++i) {
      const auto& s = stateAt<QuotientState>(states[i]);
      if (s.count == 0)
         result.setNull(i);
      else
         result.values<StringView>()[i] = resultOf(s, result.strings());
   }
}

template <StringView (*resultOf)(const QuotientState&, Arena&)>
constexpr AggregateKernel kernel{.stateSize = sizeof(QuotientState),
                                 .initialize = initialize,
                                 .update = update,
                                 .updateOne = updateOne,
                                 .combine = combine,
                                 .finalize = finalize<resultOf>};

} // namespace

const AggregateKernel* findQuotientAggregate(const AggregateRequest& request) {
   if (request.args.size() != 3) return nullptr;
   return request.name == "sum" ? &kernel<totalOf> : request.name == "avg" ? &kernel<averageOf> : nullptr;
}

} // namespace ouzel::executor
