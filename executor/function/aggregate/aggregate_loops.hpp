#pragma once
#include "executor/function/aggregate/aggregate.hpp"
#include "executor/function/families.hpp"

// Makes aggregate kernels out of small policies. Include in .cpp files only.
//
// A policy has   using State, using Input (element type of the argument)
//                static void add(State&, const Input&, Arena&)      one value that is not NULL
//                static void merge(State& into, const State& from, Arena&)
//                static void finish(const State&, uint32_t row, FunctionContext&, ResultVector&)
// must have      static constexpr uint32_t strings[]     where the state holds StringViews, if it does
// may have       using Accumulation     the same for policies with the same State, add() and merge()
// and            static void addDense(State&, const Input* values, uint32_t count)   contiguous values without NULLs

namespace ouzel::executor {

/// Call `body(i, value)` for each live row i whose value is not NULL.
template <typename T, typename Body>
inline void forEachValue(const Vector& vector, Selection rows, Body&& body) {
   const T* values = vector.values<T>();
   const uint32_t count = rows.count();
   if (vector.encoding == Encoding::Flat && !vector.mayHaveNulls()) {
      if (rows.isDense()) {
         for (uint32_t i = 0; i < count; ++i)
            body(i, values[i]);
      } else {
         const RowIndex* list = rows.rows();
         for (uint32_t i = 0; i < count; ++i)
            body(i, values[list[i]]);
      }
   } else if (!vector.mayHaveNulls()) {
      for (uint32_t i = 0; i < count; ++i)
         body(i, values[vector.positionOf(rows.row(i))]);
   } else {
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t position = vector.positionOf(rows.row(i));
         if (isValidBit(vector.validity, position)) body(i, values[position]);
      }
   }
}

template <typename State>
inline State& stateAt(std::byte* state) {
   return *reinterpret_cast<State*>(state);
}
template <typename State>
inline const State& stateAt(const std::byte* state) {
   return *reinterpret_cast<const State*>(state);
}

template <typename Accumulation>
inline constexpr char accumulationTag = 0; // only the address is used

template <typename P>
struct AggregateLoops {
   using State = typename P::State;
   using Input = typename P::Input;
   static_assert(std::is_trivially_copyable_v<State> && std::is_trivially_destructible_v<State>);

   static void initialize(std::byte* state) { new (state) State(); }
   static void update(const AggregateInput& input, std::byte* const* states) {
      forEachValue<Input>(input.args[0], input.rows, [&](uint32_t i, const Input& value) {
         P::add(stateAt<State>(states[i]), value, input.arena);
      });
   }
   static void updateOne(const AggregateInput& input, std::byte* state) {
      const Vector& arg = input.args[0];
      if (arg.encoding == Encoding::Constant && arg.isNull(0)) return; // documents without the path, in many vectors
      State local = stateAt<State>(state); // a copy, so that the loop keeps the state in registers
      if constexpr (requires { P::addDense(local, static_cast<const Input*>(nullptr), 0u); }) {
         if (arg.encoding == Encoding::Flat && !arg.mayHaveNulls() && input.rows.isDense()) {
            P::addDense(local, arg.values<Input>(), input.rows.count());
            stateAt<State>(state) = local;
            return;
         }
      }
      forEachValue<Input>(arg, input.rows, [&](uint32_t, const Input& value) { P::add(local, value, input.arena); });
      stateAt<State>(state) = local;
   }
   static void combine(std::byte* const* into, const std::byte* const* from, uint32_t count, Arena& arena) {
      for (uint32_t i = 0; i < count; ++i)
         P::merge(stateAt<State>(into[i]), stateAt<State>(from[i]), arena);
   }
   static void finalize(const std::byte* const* states, uint32_t count, FunctionContext& context,
                        ResultVector& result) {
      for (uint32_t i = 0; i < count; ++i)
         P::finish(stateAt<State>(states[i]), i, context, result);
   }
   static constexpr std::span<const uint32_t> strings = [] {
      if constexpr (requires { P::strings; })
         return std::span<const uint32_t>(P::strings);
      else
         return std::span<const uint32_t>();
   }();
   static constexpr const void* accumulation = [] {
      if constexpr (requires { typename P::Accumulation; })
         return static_cast<const void*>(&accumulationTag<typename P::Accumulation>);
      else
         return static_cast<const void*>(nullptr);
   }();
   static constexpr AggregateKernel kernel{sizeof(State), initialize, update,  updateOne,   combine,
                                           finalize,      false,      strings, accumulation};
};

template <typename P>
inline constexpr const AggregateKernel* aggregateOf = &AggregateLoops<P>::kernel;

// Each family finds its kernel by name and first argument. Null: the aggregate belongs to another family.
struct AggregateRequest {
   std::string_view name;
   std::span<const SqlType> argTypes;
   std::span<const Representation> args;
   Representation result;
};
const AggregateKernel* findSumAggregate(const AggregateRequest& request);
const AggregateKernel* findQuotientAggregate(const AggregateRequest& request);
const AggregateKernel* findIntervalAggregate(const AggregateRequest& request);
const AggregateKernel* findExtremeAggregate(const AggregateRequest& request);
const AggregateKernel* findBitAggregate(const AggregateRequest& request);
const AggregateKernel* findStatisticalAggregate(const AggregateRequest& request);
const AggregateKernel* findJsonAggregate(const AggregateRequest& request);
const AggregateKernel* findOrderedAggregate(const AggregateRequest& request);
const AggregateKernel* findPercentileAggregate(const AggregateRequest& request);
const AggregateKernel* findRangeAggregate(const AggregateRequest& request);
const AggregateKernel* findXmlAggregate(const AggregateRequest& request);
const AggregateKernel* findHypotheticalAggregate(const AggregateRequest& request);

} // namespace ouzel::executor
