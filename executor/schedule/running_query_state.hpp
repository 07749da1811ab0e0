#pragma once
#include <deque>
#include <exception>
#include <optional>

#include "common/memory/memory_wait.hpp"
#include "common/sync/mutex.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "executor/pipeline/query_tally.hpp"
#include "executor/schedule/expected_progress.hpp"
#include "executor/schedule/pipeline_run.hpp"
#include "executor/schedule/result_queue.hpp"
#include "executor/schedule/scheduler.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::executor {

/// A running query as workers see it: the steps still to do, the pipeline that runs, and the queue of result batches.
///
/// The session's thread makes this object and calls next(). Workers call runSlice(), and operators inside the slice
/// call the QueryContext part (offer(), wake(), ...). For a small plan (isSmall()) the session's thread calls
/// runSlice() itself, from next(). One step runs at a time; the worker that ends a pipeline advances to the next step.
///
/// Operators are destroyed, and their memory and disk space returned, as soon as the last pipeline has ended or the
/// query has failed and all workers have left it. Then only the queue is left for the client.
///
/// A client that rests, with an open cursor for instance, leaves the workers waiting and the operators as they are. If
/// another query is short of memory then, workers run ahead of the client: the rest of the result goes to disk
/// (giveBack()). The client notices nothing: rows come in the same order, and an error after the rows before it.
class RunningQueryState final : public QueryContext, public Schedulable, public MemoryWaiter {
public:
   RunningQueryState(const sql::plan::Plan& plan, ExecutionContext& context);
   ~RunningQueryState() override;

   void start();
   std::unique_ptr<OwnedBatch> next();
   uint64_t affectedRows() const { return affected_.load(); }
   uint64_t writtenRows() const { return written_.load(); }
   const std::vector<OperatorProfile>& profile() const { return profile_; }

   Outcome runSlice() override;

   QueryBudget& budget() override { return budget_; }
   io::SpillSpace& spill() override;
   void wake() override;
   void foresee() override;
   uint32_t workers() const override;
   void addWritten(uint64_t rows, bool isMain) override {
      written_ += rows;
      if (isMain) affected_ += rows;
      if (execution.written) *execution.written += rows;
   }
   bool waitForMemory(uint32_t times) override;
   bool hasRoom() override;
   void offer(std::unique_ptr<OwnedBatch> batch) override;

private:
   std::unique_ptr<OwnedBatch> take();
   size_t giveBack(size_t missing);
   void leave(std::shared_ptr<PipelineRun> run);
   void release();
   bool isSmall(const sql::plan::Node& node) const;
   void expect(Step& step);
   void advance();
   void fail(std::exception_ptr error);
   void stop();

   const std::function<void()> checkCancelled_ = [this] { checkCancelled(); };
   const std::shared_ptr<QueryTally> tally_ = QueryTallyScope::current(); ///< may be null
   QueryBudget budget_;
   std::once_flag spillMade_;
   std::unique_ptr<io::SpillSpace> spill_;
   PlanBuilder builder_;
   std::vector<OperatorProfile> profile_;
   bool isStarted_ = false, runsHere_ = false, isScheduled_ = false;
   std::optional<bool> mayRunAhead_;                    // of giveBack()
   std::shared_ptr<QueryProgress> progress_;            // null: the query is small, or nobody asks
   std::vector<const sql::plan::Node*> nodesByProfile_; // with progress_

   Mutex mutex_;
   CondVar changed_;
   std::deque<Step> steps_ GUARDED_BY(mutex_);
   std::shared_ptr<PipelineRun> run_ GUARDED_BY(mutex_); // also owned by the workers inside it
   uint32_t inside_ GUARDED_BY(mutex_) = 0;              // workers in runSlice()
   ResultQueue queue_;
   bool hasEnded_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
   std::atomic<uint64_t> affected_{0}, written_{0};
   std::atomic<bool> isReleased_{false}; // release() was called
};

} // namespace ouzel::executor
