#pragma once
#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "executor/function/aggregate/aggregate_loops.hpp"

// Makes kernels of aggregates that get their rows in order and keep what they need of them. Include in .cpp files only.

namespace ouzel::executor {

/// A growing array of bytes in an arena. Doubles its capacity. May be moved by copying the struct's bytes.
struct Growing {
   char* data = nullptr;
   uint64_t size = 0, capacity = 0;

   char* extend(uint64_t bytes, Arena& arena) {
      if (size + bytes > capacity) {
         capacity = std::max<uint64_t>(size + bytes, std::max<uint64_t>(64, capacity * 2));
         char* room = static_cast<char*>(arena.allocate(capacity, 16));
         if (size > 0) std::memcpy(room, data, size);
         data = room;
      }
      char* target = data + size;
      size += bytes;
      return target;
   }
   void append(std::string_view bytes, Arena& arena) {
      if (!bytes.empty()) std::memcpy(extend(bytes.size(), arena), bytes.data(), bytes.size());
   }
};

inline void combineNever(std::byte* const*, const std::byte* const*, uint32_t, Arena&) {
   throwInternal("an ordered aggregate cannot be combined");
}

/// Makes a kernel of a policy with static void add(State&, const AggregateInput&, uint32_t row).
template <typename P>
struct OrderedLoops {
   using State = typename P::State;
   static void initialize(std::byte* state) { new (state) State(); }
   static void update(const AggregateInput& input, std::byte* const* states) {
      for (uint32_t i = 0; i < input.rows.count(); ++i)
         P::add(stateAt<State>(states[i]), input, input.rows.row(i));
   }
   static void updateOne(const AggregateInput& input, std::byte* state) {
      forEachRow(input.rows, [&](uint32_t row) { P::add(stateAt<State>(state), input, row); });
   }
   static void finalize(const std::byte* const* states, uint32_t count, FunctionContext&, ResultVector& result) {
      for (uint32_t i = 0; i < count; ++i)
         P::finish(stateAt<State>(states[i]), i, result);
   }
   static constexpr AggregateKernel kernel{sizeof(State), initialize, update, updateOne, combineNever, finalize, true};
};

template <typename P>
inline constexpr const AggregateKernel* orderedKernel = &OrderedLoops<P>::kernel;

} // namespace ouzel::executor
