#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/pipeline/query_context.hpp"

namespace ouzel::executor {

class RunningQueryState; // schedule/running_query_state.hpp

/// A plan while it runs. Made and used by one session thread; its pipelines run on the scheduler's workers, or on the
/// session's thread when the plan reads few rows.
class RunningQuery {
public:
   /// `plan` must outlive this object. Nothing runs before the first next().
   RunningQuery(const sql::plan::Plan& plan, ExecutionContext& context);
   /// Stops the query, and waits until no worker is inside it.
   ~RunningQuery();

   /// Starts the plan; without it the first next() does.
   void start();
   /// The next rows of the result in order, columns as in plan.output; null at the end.
   /// Waits for the workers; the workers stop (Blocked) while the queue of batches is full. Throws the first error of
   /// any worker, after all workers have left the query. A DML plan without RETURNING gives no rows; see
   /// affectedRows().
   std::unique_ptr<OwnedBatch> next();
   /// Rows inserted, updated or deleted by the main statement, once next() has returned null.
   uint64_t affectedRows() const;
   uint64_t writtenRows() const; ///< as affectedRows(), data-modifying WITH queries included
   /// One entry per plan node, in preorder from plan.root. Valid once next() has returned null.
   const std::vector<OperatorProfile>& profile() const;

private:
   std::unique_ptr<RunningQueryState> state_;
};

} // namespace ouzel::executor
