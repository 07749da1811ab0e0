#pragma once
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/expression/program.hpp"
#include "executor/function/aggregate/aggregate.hpp"
#include "sql/algebra/fold.hpp"

namespace ouzel::executor {

/// The aggregate of a user, compiled: its kernel takes the rows in order and keeps one value for each group. One per
/// call of a plan, shared by its workers. Refers to the query's function context and charges a reservation of its own.
class FoldProgram {
public:
   FoldProgram(const sql::Fold& fold, FunctionContext& context, Reservation& memory);
   ~FoldProgram();
   FoldProgram(const FoldProgram&) = delete;

   /// Its update() needs AggregateInput::fold. Without a row, its result is NULL.
   static const AggregateKernel& kernel();
   /// AggregateKernel::update. The rows of different groups are computed side by side: a round has one of each.
   void update(const AggregateInput& input, std::byte* const* states);
   /// Whether rows can leave a state.
   bool canRemove() const { return inverseIndex_ != 0; }
   /// Takes rows out of a state, in order. False: its other rows have to be added anew. REQUIRES: canRemove().
   bool remove(const AggregateInput& input, std::byte* state);

private:
   struct Worker;
   class Lease;
   void begin(Worker& worker, std::byte* state, Arena& arena) const;
   bool hasNull(const AggregateInput& input, uint32_t row) const;

   const std::shared_ptr<const ExpressionProgram> program_;
   const PhysicalType type_; ///< of the state
   const size_t inputs_;
   const bool isStrict_, isMoving_, hasInitial_, hasFirst_;
   const uint32_t inverseIndex_; ///< 0: there is none
   FunctionContext& context_;
   Reservation memory_;
   Mutex mutex_;
   std::vector<std::unique_ptr<Worker>> idle_ GUARDED_BY(mutex_);
};

} // namespace ouzel::executor
