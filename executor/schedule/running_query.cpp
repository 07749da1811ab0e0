#include "executor/schedule/running_query.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/wait_scope.hpp"
#include "executor/operator/build.hpp"
#include "executor/schedule/result_sink.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "io/format/external_table.hpp"
#include "storage/table/table.hpp"

namespace ouzel::executor {

namespace {
constexpr int64_t sliceNanos = 1'000'000;
/// A plan whose scans read at most this many rows each runs on the session's thread: handing the plan to workers costs
/// more than it saves.
constexpr uint64_t smallPlanRows = 16'384;
} // namespace

io::SpillSpace& RunningQueryState::spill() {
   DCHECK(execution.spill != nullptr);
   std::call_once(spillMade_,
                  [&] { spill_ = std::make_unique<io::SpillSpace>(*execution.spill, execution.spillPolicy); });
   return *spill_;
}

uint32_t RunningQueryState::workers() const {
   const uint32_t all = execution.scheduler ? execution.scheduler->workerCount() : 1;
   return execution.settings.threads ? std::min(all, execution.settings.threads) : all;
}

RunningQueryState::RunningQueryState(const sql::plan::Plan& planToRun, ExecutionContext& context)
   : QueryContext(context, planToRun),
     budget_(*context.memory, context.memoryLimit, context.shares, context.settings.memory),
     builder_(*this, buildOperators) {}

RunningQueryState::~RunningQueryState() {
   stop();
}

void RunningQueryState::stop() {
   {
      const MutexLock lock(mutex_);
      hasEnded_ = true;
   }
   if (isScheduled_) {
      execution.scheduler->remove(*this);
      isScheduled_ = false;
   }
   std::shared_ptr<PipelineRun> run;
   const MutexLock lock(mutex_);
   run.swap(run_); // `run` is destroyed after the mutex is released
}

bool RunningQueryState::isSmall(const sql::plan::Node& node) const {
   const auto* scan = node.getIf<sql::plan::TableScan>();
   if (scan && !scan->looksUp()) {
      storage::Table* table = execution.table ? execution.table(scan->table.storageId) : nullptr;
      if (table && table->estimatedRows(*execution.snapshot) > smallPlanRows) return false;
   }
   const auto* computed = node.getIf<sql::plan::VirtualScan>();
   if (computed && computed->table.external && computed->table.external->estimatedRows() > smallPlanRows) return false;
   for (const auto& child : node.children)
      if (!isSmall(*child)) return false;
   for (const auto& cte : node.ctes())
      if (!isSmall(*cte.plan)) return false;
   return true;
}

void RunningQueryState::start() {
   DCHECK(!isStarted_);
   isStarted_ = true;
   builder_.numberNodes(*plan.root);
   profile_.resize(builder_.profileCount());
   if (execution.collectProfile)
      for (OperatorProfile& profile : profile_)
         profile.spill = std::make_unique<io::SpillTally>();
   std::vector<Stage> stages = builder_.produce(*plan.root);
   builder_.addPipeline(std::move(stages), builder_.own<ResultSink>(plan), UINT32_MAX);
   {
      const MutexLock lock(mutex_);
      for (Step& step : builder_.takeSteps())
         steps_.push_back(std::move(step));
   }
   runsHere_ = !execution.scheduler || isSmall(*plan.root);
   advance();
   if (!runsHere_) {
      isScheduled_ = true;
      execution.scheduler->add(*this);
   }
}

/// Goes on to the next pipeline, and runs the actions before it. Called by the thread that ended the previous pipeline,
/// so by one thread at a time.
void RunningQueryState::advance() {
   while (true) {
      Step step;
      {
         const MutexLock lock(mutex_);
         run_.reset();
         if (steps_.empty()) {
            for (OperatorProfile& profile : profile_)
               profile.noteSpill();
            hasEnded_ = true;
            changed_.notify_all();
            return;
         }
         step = std::move(steps_.front());
         steps_.pop_front();
         if (step.pipeline) {
            const uint32_t workersMax = runsHere_ ? 1 : workers();
            run_ = std::make_shared<PipelineRun>(std::move(step.pipeline), *this, profile_, workersMax);
         }
      }
      if (!step.action) {
         wake();
         return;
      }
      step.action();
      std::vector<Step> added = builder_.takeSteps();
      const MutexLock lock(mutex_);
      for (size_t i = added.size(); i-- > 0;)
         steps_.push_front(std::move(added[i]));
   }
}

Schedulable::Outcome RunningQueryState::runSlice() {
   std::shared_ptr<PipelineRun> run;
   {
      const MutexLock lock(mutex_);
      if (hasEnded_ || error_ || !run_) return Outcome::Nothing;
      run = run_;
   }
   try {
      const Interruptible interruptible(checkCancelled_);
      switch (run->run(sliceNanos)) {
      case PipelineRun::Outcome::Ran: return Outcome::Ran;
      case PipelineRun::Outcome::Nothing: return Outcome::Nothing;
      case PipelineRun::Outcome::Ended: advance(); return Outcome::Ran;
      }
   } catch (...) {
      fail(std::current_exception());
   }
   return Outcome::Nothing;
}

void RunningQueryState::fail(std::exception_ptr error) {
   {
      const MutexLock lock(mutex_);
      if (error_) return;
      error_ = std::move(error);
      changed_.notify_all();
   }
   if (execution.failed) execution.failed();
}

void RunningQueryState::wake() {
   std::shared_ptr<PipelineRun> run;
   {
      const MutexLock lock(mutex_);
      run = run_;
   }
   if (run) run->unblock();
   if (isScheduled_) execution.scheduler->wake(*this);
}

/// Lets later pipelines read ahead, one after the other, up to the first pipeline that has more to ask the network for.
/// So the network is busy while workers build hash tables or sort.
void RunningQueryState::foresee() {
   // A worker of the running pipeline is in this call, so that pipeline cannot end and the pointers stay valid.
   std::vector<Pipeline*> coming;
   {
      const MutexLock lock(mutex_);
      for (const Step& step : steps_)
         if (step.pipeline) coming.push_back(step.pipeline.get());
   }
   for (Pipeline* pipeline : coming) {
      Source& source = *pipeline->stages.front().source;
      if (!std::exchange(pipeline->isForeseen, true)) source.foresee(*this);
      if (source.isReadingAhead()) return;
   }
}

bool RunningQueryState::hasRoom() {
   const MutexLock lock(mutex_);
   return queue_.size() < queueBatchesMax;
}

void RunningQueryState::offer(std::unique_ptr<OwnedBatch> batch) {
   DCHECK(batch != nullptr);
   DCHECK(batch->batch.selection.isDense());
   const MutexLock lock(mutex_);
   queue_.push_back(std::move(batch));
   changed_.notify_all();
}

std::unique_ptr<OwnedBatch> RunningQueryState::next() {
   if (!isStarted_) start();
   UniqueLock lock(mutex_);
   while (true) {
      if (error_) {
         const std::exception_ptr error = error_;
         lock.unlock();
         stop();
         std::rethrow_exception(error);
      }
      if (!queue_.empty()) {
         std::unique_ptr<OwnedBatch> batch = std::move(queue_.front());
         const bool wasFull = queue_.size() >= queueBatchesMax;
         queue_.pop_front();
         lock.unlock();
         if (wasFull) wake();
         return batch;
      }
      if (hasEnded_) {
         lock.unlock();
         stop();
         return nullptr;
      }
      if (runsHere_) {
         lock.unlock();
         if (runSlice() == Outcome::Nothing) wake();
         lock.lock();
      } else {
         const WaitScope waiting;
         changed_.wait(lock);
      }
   }
}

RunningQuery::RunningQuery(const sql::plan::Plan& plan, ExecutionContext& context)
   : state_(std::make_unique<RunningQueryState>(plan, context)) {}
RunningQuery::~RunningQuery() = default;
void RunningQuery::start() {
   state_->start();
}
std::unique_ptr<OwnedBatch> RunningQuery::next() {
   return state_->next();
}
uint64_t RunningQuery::affectedRows() const {
   return state_->affectedRows();
}
uint64_t RunningQuery::writtenRows() const {
   return state_->writtenRows();
}
const std::vector<OperatorProfile>& RunningQuery::profile() const {
   return state_->profile();
}

} // namespace ouzel::executor
