#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "executor/function/registry.hpp"

// Aggregate functions as vectorised kernels. A state has a fixed size, lies in a row of a hash table, and may be moved
// by copying its bytes.

namespace ouzel::executor {

class FoldProgram; // executor/operator/fold/fold_program.hpp

struct AggregateInput {
   /// One vector per argument; empty for count(*). Ordered-set aggregates: the WITHIN GROUP columns in order, then the
   /// direct arguments.
   std::span<const Vector> args;
   Selection rows; ///< live rows that passed FILTER; kernels skip NULL arguments themselves
   FunctionContext& context;
   Arena& arena;                           ///< for variable-size parts; lives as long as the states
   std::span<const SqlType> argTypes = {}; ///< types of args; used by array_agg and percentile arrays
   /// The directions of ORDER BY or WITHIN GROUP, by column; used by hypothetical-set aggregates.
   std::span<const uint8_t> descending = {}, nullsFirst = {};
   FoldProgram* fold = nullptr; ///< of an aggregate of a user
};

/// The functions of an aggregate. A state has `stateSize` bytes, aligned to 8 (to 16 if it has an int128), and no
/// pointers into itself. Variable-size parts live in the arena that update() gets.
struct AggregateKernel {
   uint32_t stateSize = 0;
   void (*initialize)(std::byte* state) = nullptr;
   /// states[i] belongs to the i-th live row (rows.row(i)).
   void (*update)(const AggregateInput& input, std::byte* const* states) = nullptr;
   /// Update one state with all rows: the fast path without groups.
   void (*updateOne)(const AggregateInput& input, std::byte* state) = nullptr;
   void (*combine)(std::byte* const* into, const std::byte* const* from, uint32_t count, Arena& arena) = nullptr;
   /// Write the results of states[0..count) to positions 0..count-1.
   void (*finalize)(const std::byte* const* states, uint32_t count, FunctionContext& context,
                    ResultVector& result) = nullptr;
   /// The state depends on the order of rows or grows as the result does (string_agg, array_agg, percentile, mode). The
   /// operator stores the input rows, sorts them by ORDER BY, and calls update() in that order. combine() is never
   /// called.
   bool ordered = false;
   /// Offsets of the StringViews in the state whose bytes may lie elsewhere. Unless `ordered`, the state has no other
   /// pointers.
   std::span<const uint32_t> strings = {};
   /// Kernels with the same accumulation (not null) differ only in finalize(): sum and avg of one type.
   const void* accumulation = nullptr;
   /// Of `ordered` kernels, unless null: called with all rows of the groups, in any order, before the first update().
   void (*expect)(const AggregateInput& input, std::byte* const* states) = nullptr;
   /// The arguments' values do not matter, only which of them are NULL.
   bool ignoresValues = false;
};

/// Find the kernel of PostgreSQL's aggregate `name` (pg_proc.proname) for these argument representations and types.
/// Null: not supported. Scaled numerics have kernels of their own (sum over I64 of scale s gives I128 of scale s).
const AggregateKernel* findAggregate(std::string_view name, std::span<const SqlType> argTypes,
                                     std::span<const Representation> args, Representation result);

} // namespace ouzel::executor
