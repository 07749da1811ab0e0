#pragma once
#include <atomic>
#include <memory>

#include "executor/function/aggregate/aggregate.hpp"
#include "executor/operator/window/window_partition.hpp"

// Window calls: functions and aggregates, computed one partition at a time.

namespace ouzel::executor {

/// The results of a window call for a sequence of rows in sort order. Workers may write different rows at the same
/// time; long strings lie in the workers' arenas.
struct WindowResult {
   PhysicalType type = PhysicalType::I64;
   LargeMemory values, nulls; ///< nulls: one byte per row, so that workers do not share words
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

/// A window call whose arguments are stored columns of the sort.
struct WindowCallPlan {
   std::string_view source; ///< pg_proc.prosrc of a window function; empty: an aggregate
   const AggregateKernel* kernel = nullptr;
   std::vector<uint32_t> args;
   std::vector<SqlType> argTypes;
   std::vector<PhysicalType> argPhysical;
   uint32_t filter = UINT32_MAX; ///< stored boolean column
   PhysicalType type = PhysicalType::I64;
   std::shared_ptr<FoldProgram> fold; ///< of an aggregate of a user
   uint32_t number = 0;               ///< of the call in its plan
   bool mayCombine = false;           ///< states of parts of the rows, combined, give the same result as one state
};

/// Computes a call for one worker. Keeps its scratch memory from partition to partition.
class WindowEvaluator {
public:
   virtual ~WindowEvaluator() = default;
   /// Set the results of the block's rows. Strings that are new, or that come from a paged partition, are copied to
   /// `strings`.
   virtual void evaluate(const WindowPartition& partition, const WindowFrames& frames, const WindowBlock& block,
                         WindowResult& result, Arena& strings) = 0;
   /// Of an aggregate whose state has no strings: add all rows of the partition to `state`.
   virtual void addAll(const WindowPartition& /*partition*/, std::byte* /*state*/) {}
};
/// Throws 0A000 for an unknown function. `call` outlives the evaluator.
std::unique_ptr<WindowEvaluator> makeWindowEvaluator(const WindowCallPlan& call, FunctionContext& context,
                                                     Reservation& memory);
/// The evaluator of an aggregate; in window_aggregate.cpp.
std::unique_ptr<WindowEvaluator> makeWindowAggregate(const WindowCallPlan& call, FunctionContext& context,
                                                     Reservation& memory);
/// Whether the result depends on the frame (for row_number, rank and others it does not).
bool usesFrame(const WindowCallPlan& call);

} // namespace ouzel::executor
