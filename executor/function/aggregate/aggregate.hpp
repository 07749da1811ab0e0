#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "executor/function/registry.hpp"

// Aggregate functions as vectorised kernels over fixed-size, relocatable states that lie in hash table rows.

namespace ouzel::executor {

struct AggregateInput {
   /// One per argument; empty for count(*). Ordered-set aggregates: the WITHIN GROUP columns in order, then the direct
   /// arguments.
   std::span<const Vector> args;
   Selection rows; ///< live rows that passed FILTER; kernels skip NULL arguments themselves
   FunctionContext& context;
   Arena& arena;                           ///< lives as long as the states (the query, or the partition)
   std::span<const SqlType> argTypes = {}; ///< of args; only array_agg and percentile arrays look at them
   /// Of ORDER BY or WITHIN GROUP, by column; only hypothetical-set aggregates look at them.
   std::span<const uint8_t> descending = {}, nullsFirst = {};
};

/// A state is `stateSize` bytes, aligned to 8 (16 when it holds an int128), without pointers into itself. Variable-size
/// parts live in the arena given at update.
struct AggregateKernel {
   uint32_t stateSize = 0;
   void (*initialize)(std::byte* state) = nullptr;
   /// states[i] belongs to the i-th live row (rows.row(i)).
   void (*update)(const AggregateInput& input, std::byte* const* states) = nullptr;
   /// All rows into one state: the ungrouped fast path.
   void (*updateOne)(const AggregateInput& input, std::byte* state) = nullptr;
   void (*combine)(std::byte* const* into, const std::byte* const* from, uint32_t count, Arena& arena) = nullptr;
   /// Write the results of states[0..count) to positions 0..count-1.
   void (*finalize)(const std::byte* const* states, uint32_t count, FunctionContext& context,
                    ResultVector& result) = nullptr;
   /// Order-sensitive or unbounded state (string_agg, array_agg, percentile, mode): the operator materialises the input
   /// rows per group, sorts them by ORDER BY, and calls update in that order before finalize; never combined.
   bool ordered = false;
   /// Bytes of the state at which StringViews lie whose bytes may be elsewhere: all that the state points to, unless it
   /// is ordered.
   std::span<const uint32_t> strings = {};
   /// Kernels with the same one, not null, differ in finalize only: sum and avg of one type.
   const void* accumulation = nullptr;
};

/// Find the kernel of PostgreSQL aggregate `name` (pg_proc.proname) for these argument representations and types; null:
/// not supported. Scaled numerics have their own (sum over I64 scale s gives I128 of scale s).
const AggregateKernel* findAggregate(std::string_view name, std::span<const SqlType> argTypes,
                                     std::span<const Representation> args, Representation result);

} // namespace ouzel::executor
