#include "executor/schedule/pipeline_run.hpp"

#include <algorithm>
#include <string>
#include <typeinfo>
#include <utility>

#include "common/env/clock.hpp"
#include "common/error/sql_error.hpp"
#include "executor/pipeline/deferred_error.hpp"
#include "executor/pipeline/memory_grant.hpp"

namespace ouzel::executor {

namespace {

/// The number of the round before the sink's finishing rounds: each task settles a local state.
constexpr uint32_t settlingRound = UINT32_MAX;
/// The part of a query's budget for batches that wait until it is their range's turn.
constexpr size_t orderedDivisor = 32;
constexpr size_t orderedBytesMin = size_t{64} << 10, orderedBytesMax = size_t{32} << 20;

/// Rows and batches that an operator gave in one lane, and the time spent in it (only measured for EXPLAIN ANALYZE).
struct OperatorCounter {
   uint64_t rows = 0, batches = 0, nanos = 0;
};

} // namespace

struct PipelineRun::Lane {
   bool isTaken = false, isBlocked = false, isOpen = false, hasEnded = false;
   bool isInOrder = false;              // with order_: takes batches from there; other lanes put theirs
   std::unique_ptr<OwnedBatch> inOrder; // the last batch taken
   RangeOrder::Writer writer;
   bool isRangeOpen = false; // of a lane of ranges: the source has begun `range`
   uint32_t range = 0;
   LocalStatePtr source, sink;
   std::vector<LocalStatePtr> operators;
   std::vector<Batch> batches;            // [0] from the source, [i + 1] from operator i
   std::vector<uint8_t> more;             // operator i has more output for batches[i]
   size_t resumeAt = SIZE_MAX;            // operator (or sink) that was Blocked and gets the same batch again
   std::vector<OperatorCounter> counters; // indexed as `batches`
   uint64_t rowsNoted = 0;                // of counters[0], those that QueryProgress knows
   uint64_t collectedNoted = 0;           // of sinkCounter
   OperatorCounter sinkCounter;
};

PipelineRun::PipelineRun(std::unique_ptr<Pipeline> pipeline, QueryContext& context,
                         std::vector<OperatorProfile>& profile, uint32_t workersMax, QueryProgress* progress)
   : owned_(std::move(pipeline)), pipeline_(*owned_), context_(context), profile_(profile),
     workersMax_(std::max(1u, workersMax)), progress_(pipeline_.progress == UINT32_MAX ? nullptr : progress) {
   DCHECK(!pipeline_.stages.empty());
   DCHECK(pipeline_.sink != nullptr);
   if (progress_) progress_->begin(pipeline_.progress);
}

PipelineRun::~PipelineRun() = default;

void PipelineRun::unblock() {
   const MutexLock lock(mutex_);
   ++unblocks_;
   for (const auto& lane : lanes_)
      lane->isBlocked = false;
}

/// A lane to work in, or null.
PipelineRun::Lane* PipelineRun::takeLane() {
   for (const auto& lane : lanes_)
      if (lane->isOpen && !lane->isTaken && !lane->isBlocked && !lane->hasEnded) return lane.get();
   if (isExhausted_) return nullptr;
   uint32_t open = 0;
   Lane* closed = nullptr;
   for (const auto& lane : lanes_)
      if (lane->isOpen)
         ++open;
      else if (!closed)
         closed = lane.get(); // the first one: a lane in order goes on with the sink state of the stage before
   if (open >= lanesMax_) return nullptr;
   if (closed) return closed;
   return lanes_.emplace_back(std::make_unique<Lane>()).get();
}

/// REQUIRES: phase_ is Busy, so that no other worker opens lanes.
std::vector<PipelineRun::Lane*> PipelineRun::allLanes() {
   const MutexLock lock(mutex_);
   DCHECK(phase_ == Phase::Busy);
   std::vector<Lane*> lanes;
   for (const auto& lane : lanes_)
      lanes.push_back(lane.get());
   return lanes;
}

PipelineRun::Outcome PipelineRun::run(int64_t nanos) {
   UniqueLock lock(mutex_);
   if (phase_ == Phase::Ended || phase_ == Phase::Busy) return Outcome::Nothing;
   if (phase_ == Phase::Finish) {
      lock.unlock();
      return runFinishTask();
   }
   if (!isPrepared_) {
      phase_ = Phase::Busy;
      lock.unlock();
      const uint32_t lanesMax = prepareStage();
      if (lanesMax == 0) return endStage();
      lock.lock();
      lanesMax_ = lanesMax;
      phase_ = Phase::Stages;
      isPrepared_ = true;
      if (lanesMax > 1) {
         lock.unlock();
         context_.wake();
         lock.lock();
         if (phase_ != Phase::Stages || !isPrepared_) return Outcome::Ran; // other workers have ended the stage
      }
   }
   Lane* lane = takeLane();
   if (!lane) return Outcome::Nothing;
   lane->isTaken = true;
   const bool opens = !lane->isOpen;
   if (opens)
      lane->isInOrder =
          order_ && std::none_of(lanes_.begin(), lanes_.end(), [](const auto& one) { return one->isOpen; });
   lane->isOpen = true;
   const uint64_t unblocks = unblocks_;
   lock.unlock();

   if (opens) openLane(*lane);
   bool isBlocked = false;
   const bool ended = runLane(*lane, steadyNanos() + nanos, isBlocked);
   if (progress_) noteProgress(*lane);

   lock.lock();
   lane->isTaken = false;
   // An unblock() since then applies to this lane as well.
   lane->isBlocked = isBlocked && unblocks == unblocks_;
   if (!ended) return Outcome::Ran;
   lane->hasEnded = true;
   isExhausted_ = true;
   for (const auto& other : lanes_)
      if (other->isOpen && !other->hasEnded) return Outcome::Ran;
   phase_ = Phase::Busy;
   lock.unlock();
   return endStage();
}

/// Prepares the stage's operators. Returns how many lanes the stage may have. REQUIRES: phase_ is Busy.
uint32_t PipelineRun::prepareStage() {
   DCHECK(stage_ < pipeline_.stages.size());
   Stage& stage = pipeline_.stages[stage_];
   if (stage_ == 0) {
      const auto counting = countSpillOf(pipeline_.sinkProfile);
      pipeline_.sink->prepare(context_);
   }
   {
      const auto counting = countSpillOf(stage.sourceProfile);
      stage.source->prepare(context_);
   }
   for (size_t i = 0; i < stage.operators.size(); ++i) {
      const auto counting = countSpillOf(stage.operatorProfiles[i]);
      stage.operators[i]->prepare(context_);
   }
   const auto counting = countSpillOf(stage.sourceProfile);
   const uint32_t ranges = stage.source->openRanges(context_);
   uint32_t lanesMax = std::min(stage.source->workersMax(), workersMax_);
   order_.reset();
   if (ranges > 1 && lanesMax > 1) {
      const auto needsOrder = [](const StreamingOperator* op) { return !op->takesAnyOrder(); };
      const auto first = std::find_if(stage.operators.begin(), stage.operators.end(), needsOrder);
      const size_t bytesMax = std::clamp(context_.budget().bytes() / orderedDivisor, orderedBytesMin, orderedBytesMax);
      order_ = std::make_unique<RangeOrder>(context_, ranges, static_cast<size_t>(first - stage.operators.begin()),
                                            bytesMax);
      ++lanesMax;
   }
   if (!stage.source->isReadingAhead()) context_.foresee();
   return lanesMax;
}

void PipelineRun::openLane(Lane& lane) {
   Stage& stage = pipeline_.stages[stage_];
   DCHECK(lane.isTaken);
   DCHECK(!lane.hasEnded);
   const size_t count = stage.operators.size();
   // A lane of ranges runs the first part of the stage, the lane in order the rest.
   const bool hasFirst = !lane.isInOrder, hasRest = !order_ || lane.isInOrder;
   if (hasFirst) {
      const auto counting = countSpillOf(stage.sourceProfile); // a reader begins to read when it is made
      lane.source = stage.source->makeLocal(context_);
   }
   lane.operators.clear();
   for (size_t i = 0; i < count; ++i) {
      const bool isRest = order_ && i >= order_->firstOrdered();
      const auto counting = countSpillOf(stage.operatorProfiles[i]);
      lane.operators.push_back((isRest ? hasRest : hasFirst) ? stage.operators[i]->makeLocal(context_) : nullptr);
   }
   if (hasRest && !lane.sink) lane.sink = pipeline_.sink->makeLocal(context_);
   lane.writer = {};
   lane.isRangeOpen = false;
   lane.batches.assign(count + 1, Batch{});
   lane.more.assign(count, 0);
   lane.counters.assign(count + 1, OperatorCounter{});
   lane.rowsNoted = lane.collectedNoted = 0;
   lane.resumeAt = SIZE_MAX;
}

bool PipelineRun::runLane(Lane& lane, int64_t deadline, bool& isBlocked) {
   // Reading the clock takes as long as counting a batch: short batches share one look, those of batchesNanos or so.
   constexpr int64_t batchesNanos = 20'000;
   constexpr int64_t batchesMax = 16;
   int64_t now = steadyNanos(), batches = 1;
   try {
      do {
         const int64_t before = now;
         for (int64_t i = 0; i < batches; ++i) {
            context_.checkCancelled();
            if (pipeline_.deferred && pipeline_.deferred->isSet()) return true;
            if (flow(lane, isBlocked)) return true;
            if (isBlocked) return false;
         }
         now = steadyNanos();
         batches = std::clamp<int64_t>(batches * batchesNanos / std::max<int64_t>(now - before, 1), 1, batchesMax);
      } while (now < deadline);
      return false;
   } catch (const SqlError& error) {
      if (!pipeline_.deferred || !DeferredError::mayWait(error)) throw;
      pipeline_.deferred->set(std::current_exception());
   }
   lane.sink.reset(); // it may be in the middle of a batch
   isBlocked = false;
   stopInput(lane, lane.more.size());
   return true;
}

/// Tells what the lane's worker has done in its slice. The stage cannot end before: the lane is taken.
void PipelineRun::noteProgress(Lane& lane) {
   const uint64_t rows = lane.counters[0].rows, collected = lane.sinkCounter.rows;
   progress_->note(pipeline_.stages[stage_].source->consumed(), rows - std::exchange(lane.rowsNoted, rows),
                   collected - std::exchange(lane.collectedNoted, collected));
}

/// While it lives, the thread's spilled pages count for the plan node with this profile.
io::SpillTallyScope PipelineRun::countSpillOf(uint32_t profile) const {
   return io::SpillTallyScope(profile < profile_.size() ? profile_[profile].spill.get() : nullptr);
}

/// Calls an operator of the plan node with this profile. For EXPLAIN ANALYZE, adds the time to `nanos`.
template <typename Call>
auto PipelineRun::measured(uint32_t profile, uint64_t& nanos, Call&& call) const {
   if (!context_.execution.collectProfile) return call();
   const auto counting = countSpillOf(profile);
   const int64_t start = steadyNanos();
   auto status = call();
   nanos += static_cast<uint64_t>(steadyNanos() - start);
   return status;
}

/// Throws XX000 when the batch that the source (`level` 0) or operator level - 1 made violates an invariant of batches.
void PipelineRun::verify(const Lane& lane, size_t level) const {
   const Stage& stage = pipeline_.stages[stage_];
   const Batch& batch = lane.batches[level];
   const bool isDeclared = level < stage.declared.size() && stage.declared[level].isKnown;
   const std::string broken = isDeclared ? batch.brokenPromise(stage.declared[level].types) : batch.brokenPromise();
   if (broken.empty()) return;
   const auto nameOf = [](const auto& object) { return typeid(object).name(); };
   const std::string maker = isDeclared ? stage.declared[level].node
                             : level    ? nameOf(*stage.operators[level - 1])
                                        : nameOf(*stage.source);
   throwInternal("batch of " + maker + ": " + broken);
}

/// Get the next batch of the source to lane.batches[0].
PipelineRun::Step PipelineRun::nextOfSource(Lane& lane) {
   const Stage& stage = pipeline_.stages[stage_];
   Source& source = *stage.source;
   const SourceStatus status = measured(stage.sourceProfile, lane.counters[0].nanos,
                                        [&] { return source.next(context_, *lane.source, lane.batches[0]); });
   switch (status) {
   case SourceStatus::Blocked: return Step::Blocked;
   case SourceStatus::Done: return Step::End;
   case SourceStatus::RangeEnd:
      if (order_) order_->endRange(lane.writer, lane.isRangeOpen ? lane.range : source.rangeOf(*lane.source));
      lane.isRangeOpen = false;
      return Step::NoBatch;
   case SourceStatus::HaveOutput: break;
   }
   if (order_ && !lane.isRangeOpen) {
      lane.range = source.rangeOf(*lane.source);
      lane.isRangeOpen = true;
   }
   lane.counters[0].rows += lane.batches[0].liveRows();
   ++lane.counters[0].batches;
   if constexpr (hasDchecks) verify(lane, 0);
   return lane.batches[0].liveRows() == 0 ? Step::NoBatch : Step::Batch;
}

/// Get the next batch in order to the batches that the first operator in order takes.
PipelineRun::Step PipelineRun::nextInOrder(Lane& lane) {
   switch (order_->take(lane.inOrder)) {
   case RangeOrder::Take::Blocked: return Step::Blocked;
   case RangeOrder::Take::Done: return Step::End;
   case RangeOrder::Take::Taken: break;
   }
   lane.batches[order_->firstOrdered()] = lane.inOrder->batch;
   return Step::Batch;
}

/// False: the lane is Blocked.
bool PipelineRun::putInOrder(Lane& lane) {
   const size_t level = order_->firstOrdered();
   if (order_->put(lane.writer, lane.range, lane.batches[level])) return true;
   lane.resumeAt = level;
   return false;
}

/// Move one batch through the operators towards the sink. True when the lane has ended its stage.
bool PipelineRun::flow(Lane& lane, bool& isBlocked) {
   Stage& stage = pipeline_.stages[stage_];
   const bool isOfRanges = order_ && !lane.isInOrder;
   const size_t count = isOfRanges ? order_->firstOrdered() : stage.operators.size();
   size_t level = std::exchange(lane.resumeAt, SIZE_MAX);
   if (level == SIZE_MAX)
      for (size_t i = count; i-- > 0;)
         if (lane.more[i]) {
            level = i;
            break;
         }
   // A batch that an operator gets a second time must be unchanged.
   if (hasDchecks && level != SIZE_MAX) verify(lane, level);
   // A lane of ranges may be Blocked with a batch that nobody will take.
   if ((level == SIZE_MAX || isOfRanges) && isEnough_.load(std::memory_order_relaxed)) return true;
   if (level == SIZE_MAX) {
      const bool isInOrder = order_ && lane.isInOrder;
      const Step step = isInOrder ? nextInOrder(lane) : nextOfSource(lane);
      isBlocked = step == Step::Blocked;
      if (step != Step::Batch) return step == Step::End;
      level = isInOrder ? order_->firstOrdered() : 0;
   }
   for (; level < count; ++level) {
      context_.checkCancelled(); // a plan of a thousand joins takes long for one batch
      Batch& out = lane.batches[level + 1];
      const OperatorStatus status = measured(stage.operatorProfiles[level], lane.counters[level + 1].nanos, [&] {
         return stage.operators[level]->process(context_, *lane.operators[level], lane.batches[level], out);
      });
      if (status == OperatorStatus::Blocked) {
         lane.resumeAt = level;
         isBlocked = true;
         return false;
      }
      lane.more[level] = status == OperatorStatus::HaveOutput;
      if (status == OperatorStatus::Done) stopInput(lane, level);
      lane.counters[level + 1].rows += out.liveRows();
      ++lane.counters[level + 1].batches;
      if constexpr (hasDchecks) verify(lane, level + 1);
      if (out.liveRows() == 0) return false; // the next call continues at the last operator that has `more`
   }
   if (isOfRanges) {
      isBlocked = !putInOrder(lane);
      return false;
   }
   const SinkStatus status = measured(pipeline_.sinkProfile, lane.sinkCounter.nanos, [&] {
      return pipeline_.sink->consume(context_, *lane.sink, lane.batches[count]);
   });
   if (status == SinkStatus::Blocked) {
      lane.resumeAt = count;
      isBlocked = true;
      return false;
   }
   lane.sinkCounter.rows += lane.batches[count].liveRows();
   if (status == SinkStatus::Done) stopInput(lane, count);
   return false;
}

/// The operator (or sink) at `level` needs no more input, so the sources of all lanes stop. Blocked lanes are woken:
/// they may wait for work that this lane no longer does.
void PipelineRun::stopInput(Lane& lane, size_t level) {
   if (!isEnough_.exchange(true)) {
      unblock();
      context_.wake();
   }
   for (size_t i = 0; i < std::min(level + 1, lane.more.size()); ++i)
      lane.more[i] = 0;
}

void PipelineRun::addProfile(const Stage& stage) {
   const auto add = [&](uint32_t number, const OperatorCounter& counter, bool countRows) {
      if (number >= profile_.size()) return;
      OperatorProfile& profile = profile_[number];
      profile.nanos += counter.nanos;
      if (countRows) {
         profile.rows += counter.rows;
         profile.batches += counter.batches;
      }
   };
   for (Lane* lane : allLanes()) {
      if (!lane->isOpen) continue;
      add(stage.sourceProfile, lane->counters[0], true);
      for (size_t i = 0; i < stage.operators.size(); ++i)
         add(stage.operatorProfiles[i], lane->counters[i + 1], true);
      add(pipeline_.sinkProfile, lane->sinkCounter, false);
      lane->sinkCounter = {};
   }
   if (stage.sourceProfile < profile_.size()) stage.source->describe(profile_[stage.sourceProfile]);
   for (size_t i = 0; i < stage.operators.size(); ++i)
      if (stage.operatorProfiles[i] < profile_.size())
         stage.operators[i]->describe(profile_[stage.operatorProfiles[i]]);
}

/// Starts the next stage, or the sink's first finishing round. Called by the worker that ended the last lane. REQUIRES:
/// phase_ is Busy.
PipelineRun::Outcome PipelineRun::endStage() {
   addProfile(pipeline_.stages[stage_]);
   const std::vector<Lane*> lanes = allLanes();
   for (Lane* lane : lanes) {
      DCHECK(!lane->isTaken);
      lane->isOpen = lane->hasEnded = false;
      lane->operators.clear();
      lane->source.reset();
      lane->writer = {};
      lane->inOrder.reset();
   }
   order_.reset();
   if (++stage_ < pipeline_.stages.size()) {
      if (progress_) progress_->beginStage(static_cast<uint32_t>(stage_));
      const MutexLock lock(mutex_);
      isPrepared_ = isExhausted_ = false;
      isEnough_.store(false);
      phase_ = Phase::Stages;
      return Outcome::Ran;
   }
   if (progress_) progress_->noteFinishing(0, 1);
   for (Lane* lane : lanes)
      if (lane->sink) settling_.push_back(lane->sink.get());
   if (settling_.size() > 1 && pipeline_.sink->settlesInParallel()) {
      startTasks(settlingRound, static_cast<uint32_t>(settling_.size()));
      return Outcome::Ran;
   }
   {
      const auto counting = countSpillOf(pipeline_.sinkProfile);
      for (LocalState* local : settling_)
         pipeline_.sink->settle(context_, *local);
   }
   return endSettling();
}

PipelineRun::Outcome PipelineRun::endSettling() {
   const auto counting = countSpillOf(pipeline_.sinkProfile);
   for (LocalState* local : settling_)
      pipeline_.sink->combine(context_, *local);
   return openFinishRound(0);
}

PipelineRun::Outcome PipelineRun::openFinishRound(uint32_t round) {
   const auto counting = countSpillOf(pipeline_.sinkProfile);
   const uint32_t tasks = pipeline_.sink->finishTasks(context_, round);
   if (tasks == 0) {
      pipeline_.sink->finish(context_);
      if (pipeline_.sinkProfile < profile_.size()) pipeline_.sink->describe(profile_[pipeline_.sinkProfile]);
      std::vector<std::unique_ptr<Lane>> ended;
      {
         const MutexLock lock(mutex_); // unblock() may be reading the lanes
         ended.swap(lanes_);
      }
      ended.clear();
      if (progress_) progress_->end();
      const MutexLock lock(mutex_);
      phase_ = Phase::Ended;
      return Outcome::Ended;
   }
   startTasks(round, tasks);
   return Outcome::Ran;
}

void PipelineRun::startTasks(uint32_t round, uint32_t tasks) {
   {
      const MutexLock lock(mutex_);
      finishRound_ = round;
      finishTasks_ = tasks;
      finishNext_ = finishEnded_ = 0;
      phase_ = Phase::Finish;
   }
   if (tasks > 1) context_.wake();
}

PipelineRun::Outcome PipelineRun::runFinishTask() {
   uint32_t task, round;
   {
      const MutexLock lock(mutex_);
      if (phase_ != Phase::Finish || finishNext_ == finishTasks_) return Outcome::Nothing;
      task = finishNext_++;
      round = finishRound_;
   }
   context_.checkCancelled();
   const auto counting = countSpillOf(pipeline_.sinkProfile);
   const int64_t start = context_.execution.collectProfile ? steadyNanos() : 0;
   if (round == settlingRound)
      pipeline_.sink->settle(context_, *settling_[task]);
   else
      pipeline_.sink->finishTask(context_, round, task);
   {
      const MutexLock lock(mutex_);
      if (context_.execution.collectProfile && pipeline_.sinkProfile < profile_.size())
         profile_[pipeline_.sinkProfile].nanos += static_cast<uint64_t>(steadyNanos() - start);
      DCHECK(finishEnded_ < finishNext_);
      ++finishEnded_;
      if (progress_ && round == 0) progress_->noteFinishing(finishEnded_, finishTasks_);
      if (finishEnded_ < finishTasks_) return Outcome::Ran;
      phase_ = Phase::Busy;
   }
   return round == settlingRound ? endSettling() : openFinishRound(round + 1);
}

} // namespace ouzel::executor
