#pragma once
#include <atomic>
#include <memory>

#include "executor/function/aggregate/aggregate.hpp"
#include "executor/operator/window/window_partition.hpp"

// What a window call computes, one partition at a time.

namespace ouzel::executor {

/// Values of one window call for all rows in sort order. Workers write different rows; strings lie in their arenas.
struct WindowResult {
   PhysicalType type = PhysicalType::I64;
   LargeMemory values, nulls; ///< nulls: one byte a row, so that workers do not share words
   std::atomic<bool> hasNulls{false};

   void allocate(uint64_t rows, Reservation& memory);
   std::byte* at(uint64_t row) const { return values.as<std::byte>() + row * physicalSize(type); }
   void setNull(uint64_t row) {
      nulls.as<uint8_t>()[row] = 1;
      hasNulls.store(true, std::memory_order_relaxed);
   }
   template <typename T>
   void set(uint64_t row, T value) const {
      std::memcpy(at(row), &value, sizeof value);
   }
};

/// A window call with its arguments among the stored columns.
struct WindowCallPlan {
   std::string_view source; ///< pg_proc.prosrc of a window function; empty: an aggregate
   const AggregateKernel* kernel = nullptr;
   std::vector<uint32_t> args;
   std::vector<SqlType> argTypes;
   std::vector<PhysicalType> argPhysical;
   uint32_t filter = UINT32_MAX; ///< stored boolean column
   PhysicalType type = PhysicalType::I64;
};

/// One worker's computation of one call. Keeps its scratch from partition to partition.
class WindowEvaluator {
public:
   virtual ~WindowEvaluator() = default;
   /// Fill the results of the block's rows. Strings of the result go to `strings` when they are new, or of a paged
   /// partition.
   virtual void evaluate(const WindowPartition& partition, const WindowFrames& frames, const WindowBlock& block,
                         WindowResult& result, Arena& strings) = 0;
};
/// 0A000 for a function that is not known. `call` outlives the evaluator.
std::unique_ptr<WindowEvaluator> makeWindowEvaluator(const WindowCallPlan& call, FunctionContext& context,
                                                     Reservation& memory);
/// window_aggregate.cpp
std::unique_ptr<WindowEvaluator> makeWindowAggregate(const WindowCallPlan& call, FunctionContext& context,
                                                     Reservation& memory);
/// Whether the function looks at frames (row_number and its like do not).
bool usesFrame(const WindowCallPlan& call);

} // namespace ouzel::executor
