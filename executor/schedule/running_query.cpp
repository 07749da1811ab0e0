#include "executor/schedule/running_query.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/sync/mutex.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/wait_scope.hpp"
#include "executor/operator/build.hpp"
#include "executor/schedule/result_sink.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "io/format/external_table.hpp"
#include "sql/algebra/table_parts.hpp"
#include "storage/table/table.hpp"

namespace ouzel::executor {

namespace {
constexpr int64_t sliceNanos = 1'000'000;
/// A plan whose scans read at most this many rows each runs on the session's thread: handing the plan to workers costs
/// more than it saves.
constexpr uint64_t smallPlanRows = 16'384;
/// Workers run ahead of a client that rests until they have stored so many times the memory that is to be given back.
/// A result that is larger is not worth it.
constexpr uint64_t storedPerByte = 8;

/// How often, and how many times at most, a refused allocation is tried again: clients have to rest, and their queries
/// to run to their ends.
constexpr std::chrono::milliseconds memoryWait(10);
constexpr uint32_t memoryWaitsMax = 300;

std::vector<Representation> resultColumns(const sql::plan::Plan& plan) {
   std::vector<Representation> columns;
   for (const sql::OutputColumn& column : plan.output)
      columns.push_back(plan.columns[column.column].repr);
   return columns;
}

/// Whether rows may be computed before the client asks for them, while its session does something else: nothing depends
/// on when that is.
bool mayRunAhead(sql::plan::Node& node) {
   if (node.kind == sql::plan::NodeKind::LockRows || node.kind == sql::plan::NodeKind::VirtualScan) return false;
   bool isVolatile = false;
   sql::plan::forEachOwnExpr(node, [&](sql::Expr& expr) { isVolatile = isVolatile || sql::isVolatile(expr); });
   if (isVolatile) return false;
   for (const auto& child : node.children)
      if (!mayRunAhead(*child)) return false;
   for (const auto& cte : node.ctes())
      if (!mayRunAhead(*cte.plan)) return false;
   return true;
}
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
     builder_(*this, buildOperators),
     queue_(resultColumns(planToRun), *context.memory, context.spill, context.spillPolicy) {}

RunningQueryState::~RunningQueryState() {
   stop();
}

void RunningQueryState::stop() {
   if (progress_) execution.progress->remove(progress_.get());
   budget_.onShortage(nullptr);
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
      uint64_t rows = 0;
      forEachStorage(scan->table, [&](uint64_t storageId) {
         storage::Table* table = execution.table && rows <= smallPlanRows ? execution.table(storageId) : nullptr;
         if (table) rows += table->estimatedRows(*execution.snapshot);
      });
      if (rows > smallPlanRows) return false;
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
   builder_.addPipeline(std::move(stages), builder_.own<ResultSink>(plan, queue_), UINT32_MAX);
   const bool small = isSmall(*plan.root);
   if (execution.progress && !small) {
      progress_ = std::make_shared<QueryProgress>();
      nodesByProfile_ = executor::nodesByProfile(*plan.root);
      execution.progress->add(execution.processId, progress_);
   }
   {
      const MutexLock lock(mutex_);
      for (Step& step : builder_.takeSteps()) {
         expect(step);
         steps_.push_back(std::move(step));
      }
   }
   runsHere_ = !execution.scheduler || plan.runsRoutines || small;
   advance();
   if (!runsHere_) {
      isScheduled_ = true;
      execution.scheduler->add(*this);
      if (canSpill()) budget_.onShortage([this](size_t missing) { return giveBack(missing); });
   }
}

/// Another query is short of memory. Settled rows go to disk, or workers run ahead of the client, and all operators
/// will be gone soon. Called by any thread, by one at a time.
size_t RunningQueryState::giveBack(size_t missing) {
   const size_t bytes = memory().used();
   if (queue_.isStoring()) return bytes;
   if (queue_.isResting()) {
      if (!mayRunAhead_) mayRunAhead_ = plan.readOnly && mayRunAhead(*plan.root);
      if (*mayRunAhead_ && queue_.storeRest(storedPerByte * bytes)) {
         wake();
         return bytes;
      }
   }
   const size_t reclaimed = budget_.wantReclaimed(missing);
   if (reclaimed > 0) wake();
   return reclaimed;
}

/// A worker was refused memory. It waits for what other queries give back, unless this query has much itself and does
/// not give it back.
bool RunningQueryState::waitForMemory(uint32_t times) {
   if (!execution.shares || times == memoryWaitsMax) return false;
   if (!queue_.hasStored() && memory().used() > memory().limit() / 4) return false;
   checkCancelled();
   if (!isReleased_) budget_.bytes(); // asks them
   const WaitScope waiting;
   std::this_thread::sleep_for(memoryWait);
   return true;
}

/// Nothing is left to run, and no worker is in an operator.
void RunningQueryState::release() {
   isReleased_ = true;
   builder_.destroySince(0);
   if (spill_ && tally_) {
      const io::SpillStatistics spilled = spill_->statistics();
      tally_->spillBytesWritten += spilled.bytesWritten;
      tally_->spillBytesRead += spilled.bytesRead;
   }
   spill_.reset();
   budget_.retire();
}

/// Lists the step's pipeline among those whose progress is shown.
void RunningQueryState::expect(Step& step) {
   if (!progress_ || !step.pipeline) return;
   step.pipeline->progress =
       progress_->add(expectedStages(*step.pipeline, nodesByProfile_), expectedRows(*step.pipeline, nodesByProfile_));
}

/// Goes on to the next pipeline, and runs the actions before it. Called by the thread that ended the previous pipeline,
/// so by one thread at a time.
void RunningQueryState::advance() {
   while (true) {
      Step step;
      {
         const MutexLock lock(mutex_);
         run_.reset();
         if (steps_.empty()) break;
         step = std::move(steps_.front());
         steps_.pop_front();
         if (step.pipeline) {
            const uint32_t workersMax = runsHere_ ? 1 : workers();
            run_ =
                std::make_shared<PipelineRun>(std::move(step.pipeline), *this, profile_, workersMax, progress_.get());
         }
      }
      if (!step.action) {
         wake();
         return;
      }
      step.action();
      std::vector<Step> added = builder_.takeSteps();
      for (Step& one : added)
         expect(one);
      const MutexLock lock(mutex_);
      for (size_t i = added.size(); i-- > 0;)
         steps_.push_front(std::move(added[i]));
   }
   release();
   const MutexLock lock(mutex_);
   for (OperatorProfile& profile : profile_)
      profile.noteSpill();
   hasEnded_ = true;
   changed_.notify_all();
}

Schedulable::Outcome RunningQueryState::runSlice() {
   std::shared_ptr<PipelineRun> run;
   {
      const MutexLock lock(mutex_);
      if (hasEnded_ || error_ || !run_) return Outcome::Nothing;
      run = run_;
      ++inside_;
   }
   Outcome outcome = Outcome::Nothing;
   try {
      const Interruptible interruptible(checkCancelled_);
      const WaitsForMemory patient(*this);
      const storage::FrameTallyScope counting(tally_ ? &tally_->frames : nullptr);
      budget_.reclaimWanted();
      const PipelineRun::Outcome ran = run->run(sliceNanos);
      if (ran == PipelineRun::Outcome::Ended) advance();
      if (ran != PipelineRun::Outcome::Nothing) outcome = Outcome::Ran;
   } catch (...) {
      fail(std::current_exception());
   }
   leave(std::move(run));
   return outcome;
}

/// Ends a slice. The last worker to leave a query that has failed destroys the operators: local states go before them,
/// so a worker gives its part of the run up before it counts as gone.
void RunningQueryState::leave(std::shared_ptr<PipelineRun> run) {
   run.reset();
   std::shared_ptr<PipelineRun> last;
   {
      const MutexLock lock(mutex_);
      if (--inside_ > 0 || !error_) return;
      last = std::move(run_);
      steps_.clear();
   }
   DCHECK(!last || last.use_count() == 1);
   last.reset();
   release();
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
   {
      const MutexLock lock(mutex_);
      if (run_) run_->unblock();
   }
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
   if (queue_.hasRoom()) return true;
   budget_.pause();
   return false;
}

void RunningQueryState::offer(std::unique_ptr<OwnedBatch> batch) {
   DCHECK(batch != nullptr);
   DCHECK(batch->batch.selection.isDense());
   queue_.push(std::move(batch));
   const MutexLock lock(mutex_); // next() looks and waits under the mutex
   changed_.notify_all();
}

/// The next batch of the queue; null if there is none now.
std::unique_ptr<OwnedBatch> RunningQueryState::take() {
   bool madeRoom = false;
   std::unique_ptr<OwnedBatch> batch;
   try {
      if (queue_.hasStored()) checkCancelled(); // perhaps there is no worker to do it
      batch = queue_.take(madeRoom);
   } catch (...) {
      stop();
      throw;
   }
   if (batch && madeRoom) wake();
   return batch;
}

std::unique_ptr<OwnedBatch> RunningQueryState::next() {
   if (!isStarted_) start();
   const WaitsForMemory patient(*this);
   while (true) {
      std::exception_ptr error;
      bool hasEnded;
      {
         const MutexLock lock(mutex_);
         error = error_;
         hasEnded = hasEnded_;
      }
      // Workers that ran ahead of a resting client have failed behind the rows that are stored.
      if (!error || queue_.hasStored()) {
         if (auto batch = take()) return batch;
      }
      if (error || hasEnded) {
         stop();
         if (error) std::rethrow_exception(error);
         return nullptr;
      }
      if (runsHere_) {
         if (runSlice() == Outcome::Nothing) wake();
      } else {
         const WaitScope waiting;
         UniqueLock lock(mutex_);
         if (!error_ && !hasEnded_ && queue_.isEmpty()) changed_.wait(lock);
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
