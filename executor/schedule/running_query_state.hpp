#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>

#include "executor/materialize/batch_builder.hpp"
#include "executor/pipeline/memory_grant.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "executor/schedule/pipeline_run.hpp"
#include "executor/schedule/scheduler.hpp"
#include "io/spill/spill.hpp"

namespace ouzel::executor {

/// A running query as workers see it: the steps still to do, the pipeline being run, the rows waiting for the client.
/// Made by the session's thread; runSlice() and offer() come from workers; next() from the session's thread, which runs
/// small plans itself.
class RunningQueryState final : public Schedulable {
public:
   static constexpr size_t queueBatchesMax = 8;

   RunningQueryState(const sql::plan::Plan& plan, ExecutionContext& context);
   ~RunningQueryState() override;

   std::unique_ptr<OwnedBatch> next();
   uint64_t affectedRows() const { return affected_.load(); }
   uint64_t writtenRows() const { return written_.load(); }
   const std::vector<OperatorProfile>& profile() const { return profile_; }

   Outcome runSlice() override;
   void wake();
   /// By the one worker that finds out that the running pipeline has asked for all it needs.
   void foresee();
   /// Rows were written; by the main statement (isMain) they count for the command tag.
   void addWritten(uint64_t rows, bool isMain) {
      written_ += rows;
      if (isMain) affected_ += rows;
   }
   /// For the result sink: false when the queue is full and `force` is not set.
   bool offer(std::unique_ptr<OwnedBatch>& batch, bool force);
   bool hasRoom();
   QueryBudget& budget() { return budget_; }
   io::SpillSpace& spill();

private:
   void start();
   bool isSmall(const sql::plan::Node& node) const;
   void advance();
   void fail(std::exception_ptr error);
   void stop();

   const sql::plan::Plan& plan_;
   ExecutionContext& execution_;
   QueryContext context_;
   const std::function<void()> checkCancelled_ = [this] { context_.checkCancelled(); };
   QueryBudget budget_;
   std::once_flag spillMade_;
   std::unique_ptr<io::SpillSpace> spill_;
   PlanBuilder builder_;
   std::vector<OperatorProfile> profile_;
   bool isStarted_ = false, runsHere_ = false, isScheduled_ = false;

   std::mutex mutex_; // guards what follows
   std::condition_variable changed_;
   std::deque<Step> steps_;
   std::unique_ptr<Pipeline> pipeline_;
   std::shared_ptr<PipelineRun> run_; // shared by the workers inside it
   std::deque<std::unique_ptr<OwnedBatch>> queue_;
   bool hasEnded_ = false;
   std::exception_ptr error_;
   std::atomic<uint64_t> affected_{0}, written_{0};
   std::vector<std::unique_ptr<Pipeline>> finished_; // operators of later pipelines refer to them
};

} // namespace ouzel::executor
