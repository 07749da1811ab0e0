#include "executor/function/aggregate/aggregate_loops.hpp"

// bool_and, bool_or, every, bit_and, bit_or, bit_xor.

namespace ouzel::executor {

namespace {

enum class BitOp : uint8_t { And, Or, Xor };

template <typename T>
struct BitState {
   T value{};
   bool isSet = false;
};
template <typename T, BitOp op>
struct BitAggregate {
   using Input = T;
   using State = BitState<T>;
   static void add(State& s, T value, Arena&) {
      if (!s.isSet) {
         s = {value, true};
      } else if constexpr (op == BitOp::And) {
         s.value = static_cast<T>(s.value & value);
      } else if constexpr (op == BitOp::Or) {
         s.value = static_cast<T>(s.value | value);
      } else {
         s.value = static_cast<T>(s.value ^ value);
      }
   }
   static void merge(State& into, const State& from, Arena& arena) {
      if (from.isSet) add(into, from.value, arena);
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<T>()[row] = s.value;
   }
};

template <BitOp op>
const AggregateKernel* integerKernel(const AggregateRequest& request) {
   switch (request.argTypes[0].oid) {
   case oid::int2: return aggregateOf<BitAggregate<int16_t, op>>;
   case oid::int4: return aggregateOf<BitAggregate<int32_t, op>>;
   case oid::int8: return aggregateOf<BitAggregate<int64_t, op>>;
   default: return nullptr;
   }
}

} // namespace

const AggregateKernel* findBitAggregate(const AggregateRequest& request) {
   if (request.args.size() != 1) return nullptr;
   if (request.name == "bool_and" || request.name == "every") return aggregateOf<BitAggregate<uint8_t, BitOp::And>>;
   if (request.name == "bool_or") return aggregateOf<BitAggregate<uint8_t, BitOp::Or>>;
   if (request.name == "bit_and") return integerKernel<BitOp::And>(request);
   if (request.name == "bit_or") return integerKernel<BitOp::Or>(request);
   if (request.name == "bit_xor") return integerKernel<BitOp::Xor>(request);
   return nullptr;
}

} // namespace ouzel::executor
