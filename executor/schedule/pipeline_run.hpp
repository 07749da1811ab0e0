#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/pipeline/operator.hpp"

namespace ouzel::executor {

/// One pipeline being run by any number of workers.
///
/// A lane is one flow of batches with its own local states; at most one worker is in a lane at a time, and any worker
/// may go on with a lane another one left (after its slice, or Blocked). The last lane to end a stage starts the next
/// one; the last to end the last stage combines the sink's local states and opens its finishing rounds.
class PipelineRun {
public:
   PipelineRun(Pipeline& pipeline, QueryContext& context, std::vector<OperatorProfile>& profile, uint32_t workersMax);
   ~PipelineRun();

   enum class Outcome : uint8_t {
      Ran,     ///< did something
      Nothing, ///< nothing for this worker now
      Ended,   ///< this call did the last piece of the pipeline
   };
   /// Work for about `nanos`. Throws what operators throw; the run is then over and only waits to be destroyed.
   Outcome run(int64_t nanos);
   /// Lanes that said Blocked may be tried again.
   void unblock();

private:
   struct Lane;
   /// Busy: one worker does what only one may do; the others come back later.
   enum class Phase : uint8_t { Stages, Busy, Finish, Ended };

   Lane* takeLane() REQUIRES(mutex_);
   std::vector<Lane*> allLanes();
   uint32_t prepareStage();
   void openLane(Lane& lane);
   bool runLane(Lane& lane, int64_t deadline, bool& isBlocked);
   bool flow(Lane& lane, bool& isBlocked);
   void verify(const Lane& lane, size_t level) const;
   void stopInput(Lane& lane, size_t level);
   void addProfile(const Stage& stage);
   Outcome endStage();
   Outcome openFinishRound(uint32_t round);
   Outcome runFinishTask();

   Pipeline& pipeline_;
   QueryContext& context_;
   std::vector<OperatorProfile>& profile_;
   const uint32_t workersMax_;

   size_t stage_ = 0; // changed by the busy worker, read by those inside a lane; never both at once
   Mutex mutex_;      // guards what follows
   Phase phase_ GUARDED_BY(mutex_) = Phase::Stages;
   bool isPrepared_ GUARDED_BY(mutex_) = false;
   bool isExhausted_ GUARDED_BY(mutex_) = false; // the stage's source is: no new lanes
   uint32_t lanesMax_ GUARDED_BY(mutex_) = 1;
   std::vector<std::unique_ptr<Lane>> lanes_ GUARDED_BY(mutex_); // the list; what is in a lane is its worker's
   uint64_t unblocks_ GUARDED_BY(mutex_) = 0;
   uint32_t finishRound_ GUARDED_BY(mutex_) = 0;
   uint32_t finishTasks_ GUARDED_BY(mutex_) = 0;
   uint32_t finishNext_ GUARDED_BY(mutex_) = 0;
   uint32_t finishEnded_ GUARDED_BY(mutex_) = 0;
   std::atomic<bool> isEnough_{false}; // an operator or the sink said Done: the stage needs no more input
};

} // namespace ouzel::executor
