#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "executor/pipeline/operator.hpp"
#include "executor/schedule/query_progress.hpp"
#include "executor/schedule/range_order.hpp"

namespace ouzel::executor {

/// A pipeline while any number of workers run it.
///
/// A lane is one flow of batches with local states of its own. At most one worker is in a lane at a time. Any worker
/// may go on with a lane that another worker left at the end of its slice, or because an operator was Blocked.
///
///    Stages, not prepared --first worker--> Busy: prepareStage() ---------> Stages: workers run lanes
///    Stages ---------------last lane ends-> Busy: endStage() -------------> Stages, not prepared (the next stage)
///                                                 after the last stage: settle(), here or as the tasks of a
///                                                 finishing round, combine(), then openFinishRound(0)
///    openFinishRound(n): 0 tasks: finish() -------------------------------> Ended
///                        else --------------------------------------------> Finish: workers run finishTask()
///    Finish ---------------last task ends-> Busy: openFinishRound(n + 1)
///
/// A stage whose source has ranges has one more lane, the first that is opened: the lane in order takes what the other
/// lanes, those of ranges, put into order_ (see operator.hpp).
///
/// Busy means that one worker is alone in the run; the other workers get Nothing. A stage whose source has no work
/// skips from prepareStage() to endStage(). After an exception the phase no longer changes.
class PipelineRun {
public:
   /// `progress`: is told how far the pipeline is; null: nobody asks.
   PipelineRun(std::unique_ptr<Pipeline> pipeline, QueryContext& context, std::vector<OperatorProfile>& profile,
               uint32_t workersMax, QueryProgress* progress);
   ~PipelineRun();

   enum class Outcome : uint8_t {
      Ran,     ///< made progress
      Nothing, ///< has no work for this worker now
      Ended,   ///< this call ended the pipeline
   };
   /// Work for about `nanos`. Throws the errors of operators; the run is then over and only waits to be destroyed.
   Outcome run(int64_t nanos);
   /// Blocked lanes may be tried again.
   void unblock();

private:
   struct Lane;
   enum class Phase : uint8_t { Stages, Busy, Finish, Ended };

   Lane* takeLane() REQUIRES(mutex_);
   std::vector<Lane*> allLanes();
   uint32_t prepareStage();
   void openLane(Lane& lane);
   bool runLane(Lane& lane, int64_t deadline, bool& isBlocked);
   bool flow(Lane& lane, bool& isBlocked);
   enum class Step : uint8_t { Batch, NoBatch, Blocked, End };
   Step nextOfSource(Lane& lane);
   Step nextInOrder(Lane& lane);
   bool putInOrder(Lane& lane);
   void verify(const Lane& lane, size_t level) const;
   void stopInput(Lane& lane, size_t level);
   void noteProgress(Lane& lane);
   io::SpillTallyScope countSpillOf(uint32_t profile) const;
   template <typename Call>
   auto measured(uint32_t profile, uint64_t& nanos, Call&& call) const;
   void addProfile(const Stage& stage);
   Outcome endStage();
   Outcome endSettling();
   Outcome openFinishRound(uint32_t round);
   void startTasks(uint32_t round, uint32_t tasks);
   Outcome runFinishTask();

   const std::unique_ptr<Pipeline> owned_;
   Pipeline& pipeline_; ///< *owned_
   QueryContext& context_;
   std::vector<OperatorProfile>& profile_;
   const uint32_t workersMax_;
   QueryProgress* const progress_;

   size_t stage_ = 0;                  // written in phase Busy, read by workers in lanes: never at once
   std::unique_ptr<RangeOrder> order_; // as stage_; null: lanes do not give ranges
   Mutex mutex_;
   Phase phase_ GUARDED_BY(mutex_) = Phase::Stages;
   bool isPrepared_ GUARDED_BY(mutex_) = false;
   bool isExhausted_ GUARDED_BY(mutex_) = false; // the stage's source has ended: open no more lanes
   uint32_t lanesMax_ GUARDED_BY(mutex_) = 1;
   std::vector<std::unique_ptr<Lane>> lanes_ GUARDED_BY(mutex_); // the list; a taken lane belongs to its worker
   uint64_t unblocks_ GUARDED_BY(mutex_) = 0;                    // calls of unblock()
   std::vector<LocalState*> settling_; // the sink's local states, once the last stage has ended; constant from then on
   uint32_t finishRound_ GUARDED_BY(mutex_) = 0; // or settlingRound
   uint32_t finishTasks_ GUARDED_BY(mutex_) = 0;
   uint32_t finishNext_ GUARDED_BY(mutex_) = 0;
   uint32_t finishEnded_ GUARDED_BY(mutex_) = 0;
   std::atomic<bool> isEnough_{false}; // an operator or the sink returned Done: the stage needs no more input
};

} // namespace ouzel::executor
