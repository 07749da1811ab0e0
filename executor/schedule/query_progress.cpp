#include "executor/schedule/query_progress.hpp"

#include <algorithm>
#include <utility>

#include "common/env/clock.hpp"

namespace ouzel::executor {

namespace {

constexpr double nanosPerSecond = 1e9;
/// The rows of a pipeline that runs tell how many there will be once so much of it has passed.
constexpr double shareToExtrapolate = 0.2;
/// What reading costs, where a join lets few rows through: rows without a match are dropped early, but read.
constexpr double readingMin = 0.1;
constexpr double ratioMin = 1e-3, ratioMax = 1e3;
/// What time alone says of finishing.
constexpr double finishedMax = 0.95;

} // namespace

/// The rows that a node's sinks get, by those that they were expected to get; 1: not known.
double QueryProgress::rowsByExpected(uint32_t node) const {
   if (node == noNode) return 1;
   for (const Pipeline& pipeline : pipelines_) {
      if (pipeline.collecting.node != node || pipeline.collecting.rowsExpected <= 0) continue;
      const bool isOver = pipeline.state == State::Finishing || pipeline.state == State::Ended;
      double passed = isOver ? 1 : 0;
      if (pipeline.state == State::Running && pipeline.stage == 0) passed = pipeline.consumed;
      if (passed < shareToExtrapolate) return 1;
      return std::clamp(static_cast<double>(pipeline.collected) / passed / pipeline.collecting.rowsExpected, ratioMin,
                        ratioMax);
   }
   return 1;
}

double QueryProgress::cost(const Stage& stage) const {
   // Rows that a join drops are dropped by filters of the scan, as far as they can.
   double reading = 1;
   for (const Work& work : stage.works)
      reading = std::min(reading, rowsByExpected(work.collected));
   reading = std::max(reading, readingMin);
   double sum = 0, rows = 1;
   for (const Work& work : stage.works) {
      rows *= rowsByExpected(work.collected);
      sum += work.cost * (rows > 1 ? rows : std::min(rows, reading));
   }
   return sum;
}

double QueryProgress::cost(const Pipeline& pipeline) const {
   double sum = 0;
   for (const Stage& stage : pipeline.stages)
      sum += cost(stage);
   return sum;
}

double QueryProgress::share(const Pipeline& pipeline, int64_t now) const {
   if (pipeline.state == State::Waiting) return 0;
   if (pipeline.state == State::Ended) return 1;
   const double last = pipeline.collecting.finishingPart;
   if (pipeline.state == State::Finishing) {
      // Tasks are few and long; meanwhile the time that finishing was expected to take tells.
      const double expected = static_cast<double>(pipeline.finishing - pipeline.begun) * last / (1 - last);
      const double byTime = expected > 0 ? static_cast<double>(now - pipeline.finishing) / expected : 1;
      return 1 - last + last * std::max(pipeline.finished, std::min(byTime, finishedMax));
   }
   double passed = 0, all = 0;
   for (uint32_t i = 0; i < pipeline.stages.size(); ++i) {
      const double one = cost(pipeline.stages[i]);
      all += one;
      passed += i < pipeline.stage ? one : i == pipeline.stage ? one * pipeline.consumed : 0;
   }
   return all > 0 ? (1 - last) * passed / all : 0;
}

double QueryProgress::Pipeline::seconds(int64_t now) const {
   if (state == State::Waiting) return 0;
   return static_cast<double>((state == State::Ended ? ended : now) - begun) / nanosPerSecond;
}

uint32_t QueryProgress::add(std::vector<Stage> stages, const Collecting& collecting) {
   const MutexLock lock(mutex_);
   Pipeline pipeline;
   pipeline.stages = std::move(stages);
   pipeline.collecting = collecting;
   pipelines_.push_back(std::move(pipeline));
   return static_cast<uint32_t>(pipelines_.size() - 1);
}

void QueryProgress::begin(uint32_t pipeline) {
   const MutexLock lock(mutex_);
   current_ = pipeline;
   pipelines_[current_].state = State::Running;
   pipelines_[current_].begun = steadyNanos();
}

void QueryProgress::beginStage(uint32_t stage) {
   const MutexLock lock(mutex_);
   Pipeline& pipeline = pipelines_[current_];
   pipeline.stage = stage;
   pipeline.consumed = 0;
   pipeline.rowsOfStage = 0;
}

void QueryProgress::note(double consumed, uint64_t rows, uint64_t collected) {
   const MutexLock lock(mutex_);
   Pipeline& pipeline = pipelines_[current_];
   pipeline.rows += rows;
   pipeline.collected += collected;
   pipeline.rowsOfStage += rows;
   const double expected = pipeline.stage < pipeline.stages.size() ? pipeline.stages[pipeline.stage].rowsExpected : 0;
   // More rows than expected: the end is not in sight, and not behind.
   const double byRows = expected > 0 ? static_cast<double>(pipeline.rowsOfStage) / expected : 0;
   pipeline.consumed = std::max(pipeline.consumed, consumed >= 0 ? std::min(consumed, 1.0) : std::min(byRows, 0.95));
}

void QueryProgress::noteFinishing(uint32_t endedTasks, uint32_t tasks) {
   const MutexLock lock(mutex_);
   Pipeline& pipeline = pipelines_[current_];
   if (pipeline.state != State::Finishing) pipeline.finishing = steadyNanos();
   pipeline.state = State::Finishing;
   pipeline.finished = std::max(pipeline.finished, tasks > 0 ? static_cast<double>(endedTasks) / tasks : 0);
}

void QueryProgress::end() {
   const MutexLock lock(mutex_);
   pipelines_[current_].state = State::Ended;
   pipelines_[current_].ended = steadyNanos();
}

QueryProgress::View QueryProgress::view() const {
   const int64_t now = steadyNanos();
   View view;
   double passedCost = 0, costToCome = 0, secondsOfRunning = 0;
   const MutexLock lock(mutex_);
   for (const Pipeline& pipeline : pipelines_) {
      PipelineView one;
      one.source = pipeline.stages.empty() ? "" : pipeline.stages.front().source;
      one.state = pipeline.state;
      one.rows = pipeline.rows;
      for (const Stage& stage : pipeline.stages)
         one.rowsExpected += stage.rowsExpected;
      one.share = share(pipeline, now);
      one.seconds = pipeline.seconds(now);
      view.seconds += one.seconds;
      const double costOfOne = cost(pipeline);
      passedCost += one.share * costOfOne;
      if (one.state == State::Waiting)
         costToCome += costOfOne;
      else if (one.state != State::Ended && one.share > 0)
         secondsOfRunning += one.seconds * (1 - one.share) / one.share;
      view.pipelines.push_back(std::move(one));
   }
   if (passedCost <= 0) return view;
   view.secondsLeft = secondsOfRunning + costToCome * view.seconds / passedCost;
   const double all = view.seconds + view.secondsLeft;
   view.share = all > 0 ? view.seconds / all : 0;
   return view;
}

void QueryProgressList::add(int32_t processId, std::shared_ptr<const QueryProgress> progress) {
   const MutexLock lock(mutex_);
   entries_.push_back({processId, std::move(progress)});
}

void QueryProgressList::remove(const QueryProgress* progress) {
   const MutexLock lock(mutex_);
   std::erase_if(entries_, [progress](const Entry& entry) { return entry.progress.get() == progress; });
}

std::vector<QueryProgressList::Entry> QueryProgressList::list() const {
   const MutexLock lock(mutex_);
   return entries_;
}

} // namespace ouzel::executor
