#pragma once
#include <deque>
#include <exception>

#include "common/sync/mutex.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "executor/schedule/pipeline_run.hpp"
#include "executor/schedule/scheduler.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::executor {

/// A running query as workers see it: the steps still to do, the pipeline that runs, and the queue of result batches.
///
/// The session's thread makes this object and calls next(). Workers call runSlice(), and operators inside the slice
/// call the QueryContext part (offer(), wake(), ...). For a small plan (isSmall()) the session's thread calls
/// runSlice() itself, from next(). One step runs at a time; the worker that ends a pipeline advances to the next step.
class RunningQueryState final : public QueryContext, public Schedulable {
public:
   static constexpr size_t queueBatchesMax = 8;

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
   bool hasRoom() override;
   void offer(std::unique_ptr<OwnedBatch> batch) override;

private:
   bool isSmall(const sql::plan::Node& node) const;
   void advance();
   void fail(std::exception_ptr error);
   void stop();

   const std::function<void()> checkCancelled_ = [this] { checkCancelled(); };
   QueryBudget budget_;
   std::once_flag spillMade_;
   std::unique_ptr<io::SpillSpace> spill_;
   PlanBuilder builder_;
   std::vector<OperatorProfile> profile_;
   bool isStarted_ = false, runsHere_ = false, isScheduled_ = false;

   Mutex mutex_;
   CondVar changed_;
   std::deque<Step> steps_ GUARDED_BY(mutex_);
   std::shared_ptr<PipelineRun> run_ GUARDED_BY(mutex_); // also owned by the workers inside it
   std::deque<std::unique_ptr<OwnedBatch>> queue_ GUARDED_BY(mutex_);
   bool hasEnded_ GUARDED_BY(mutex_) = false;
   std::exception_ptr error_ GUARDED_BY(mutex_);
   std::atomic<uint64_t> affected_{0}, written_{0};
};

} // namespace ouzel::executor
