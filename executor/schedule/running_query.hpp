#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/pipeline/query_context.hpp"

namespace ouzel::executor {

class RunningQueryState; // schedule/running_query_state.hpp

/// One plan being run. Made and used by one session thread; its pipelines run on the scheduler's workers.
class RunningQuery {
public:
   /// `plan` must outlive this. Nothing runs yet.
   RunningQuery(const sql::plan::Plan& plan, ExecutionContext& context);
   /// Cancels, and waits until no worker touches this any more.
   ~RunningQuery();

   /// Lets workers begin; next() does so when nothing else did.
   void start();
   /// The next rows of the result in order, columns as in plan.output; null at the end. Waits while workers are busy;
   /// they stop (Blocked) while a few batches wait here to be fetched. Throws the first error of any worker after all
   /// of them stopped. A DML plan without RETURNING gives no rows; see affectedRows().
   std::unique_ptr<OwnedBatch> next();
   /// Rows inserted, updated or deleted, once next() has returned null.
   uint64_t affectedRows() const;
   uint64_t writtenRows() const; ///< the same with rows that data-modifying WITH queries wrote
   /// Valid after the end; preorder over plan.root.
   const std::vector<OperatorProfile>& profile() const;

private:
   std::unique_ptr<RunningQueryState> state_;
};

} // namespace ouzel::executor
