#include <cstddef>

#include "common/base_type/bit_string.hpp"
#include "common/error/sql_error.hpp"
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

/// A bit string of the group, which is changed in place.
struct BitStringState {
   StringView value;
   bool isSet = false;
};
template <BitOp op>
struct BitStringAggregate {
   using Input = StringView;
   using State = BitStringState;
   static constexpr uint32_t strings[] = {offsetof(BitStringState, value)};

   static uint64_t combined(uint64_t a, uint64_t b) {
      if constexpr (op == BitOp::And) return a & b;
      if constexpr (op == BitOp::Or) return a | b;
      return a ^ b;
   }
   static void add(State& s, const StringView& value, Arena& arena) {
      if (!s.isSet) {
         s = {arena.copyString(value.view()), true};
         return;
      }
      const BitView a(s.value.view()), b(value.view());
      if (a.size() != b.size()) {
         constexpr const char* name = op == BitOp::And ? "AND" : op == BitOp::Or ? "OR" : "XOR";
         throw SqlError(sqlstate::stringDataLengthMismatch,
                        std::string("cannot ") + name + " bit strings of different sizes");
      }
      if (s.value.isInline()) { // one group, for which nothing is allocated
         s.value = makeBits(a.size(), arena, [&](uint32_t i) { return combined(a.group(i), b.group(i)); });
         return;
      }
      char* bytes = const_cast<char*>(s.value.data());
      for (uint32_t i = 0; i < a.groupCount(); ++i)
         putBitGroup(bytes, i, combined(a.group(i), b.group(i)));
   }
   static void merge(State& into, const State& from, Arena& arena) {
      if (from.isSet) add(into, from.value, arena);
   }
   static void finish(const State& s, uint32_t row, FunctionContext&, ResultVector& result) {
      if (!s.isSet) return result.setNull(row);
      result.values<StringView>()[row] = result.strings().copyString(s.value.view());
   }
};

template <BitOp op>
const AggregateKernel* integerKernel(const AggregateRequest& request) {
   switch (request.argTypes[0].oid) {
   case oid::int2: return aggregateOf<BitAggregate<int16_t, op>>;
   case oid::int4: return aggregateOf<BitAggregate<int32_t, op>>;
   case oid::int8: return aggregateOf<BitAggregate<int64_t, op>>;
   case oid::bit: return aggregateOf<BitStringAggregate<op>>;
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
