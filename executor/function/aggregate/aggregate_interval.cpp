#include "common/type/date_time_math.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"

// sum and avg of intervals.

namespace ouzel::executor {

namespace {

struct IntervalState {
   Interval sum;
   int64_t count = 0;
};
struct IntervalSum {
   using State = IntervalState;
   using Input = Interval;
   static void add(State& s, const Interval& value, Arena&) {
      s.sum = addIntervals(s.sum, value);
      ++s.count;
   }
   static void merge(State& into, const State& from, Arena&) {
      into.sum = addIntervals(into.sum, from.sum);
      into.count += from.count;
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<Interval>()[row] = s.sum;
   }
};
struct IntervalAverage : IntervalSum {
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (s.count == 0) return result.setNull(row);
      result.values<Interval>()[row] = divideInterval(s.sum, static_cast<double>(s.count));
   }
};

} // namespace

const AggregateKernel* findIntervalAggregate(const AggregateRequest& request) {
   if (request.args.size() != 1 || request.argTypes[0].oid != oid::interval) return nullptr;
   if (request.name == "sum") return aggregateOf<IntervalSum>;
   if (request.name == "avg") return aggregateOf<IntervalAverage>;
   return nullptr;
}

} // namespace ouzel::executor
