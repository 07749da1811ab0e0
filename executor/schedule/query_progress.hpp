#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"

namespace ouzel::executor {

/// How far a query is. Its workers write at the end of their slices, any thread reads. Thread-safe.
///
/// The share of a pipeline is the part of its source that workers have taken. Shares become time through costs: the
/// time of pipelines so far, by what they were estimated to cost, gives the time of the pipelines to come. Where fewer
/// or more rows came than estimated, what works on these rows costs less or more.
class QueryProgress {
public:
   static constexpr uint32_t noNode = UINT32_MAX;
   /// What a stage does with its rows, in any unit of cost, the same for all stages of a query.
   struct Work {
      double cost = 0;
      uint32_t collected = noNode; ///< it works on rows that the sink of this plan node has collected
   };
   /// A stage before it runs.
   struct Stage {
      std::string source; ///< what it reads: "Seq Scan on orders"
      double rowsExpected = 0;
      std::vector<Work> works; ///< of the source, of the operators in order, of the sink
   };
   /// What a pipeline's sink does.
   struct Collecting {
      uint32_t node = noNode;   ///< for which it collects rows
      double rowsExpected = 0;  ///< that it gets; 0: not known
      double finishingPart = 0; ///< of the pipeline's time, after the last row
   };
   enum class State : uint8_t { Waiting, Running, Finishing, Ended };
   struct PipelineView {
      std::string source;
      State state = State::Waiting;
      uint64_t rows = 0; ///< that its sources gave
      double rowsExpected = 0, share = 0, seconds = 0;
   };
   struct View {
      std::vector<PipelineView> pipelines; ///< in the order in which they run
      double share = 0, seconds = 0;       ///< of the query
      double secondsLeft = -1;             ///< -1: not known yet
   };

   /// Adds a pipeline, which gets the next number.
   uint32_t add(std::vector<Stage> stages, const Collecting& collecting);
   // Called as the pipeline runs, one pipeline at a time:
   void begin(uint32_t pipeline);
   void beginStage(uint32_t stage);
   /// `rows` more rows came from the stage's source, of which workers have taken `consumed` (from 0 to 1; negative: not
   /// known), and the sink got `collected` more.
   void note(double consumed, uint64_t rows, uint64_t collected);
   /// The sink has got the last row, and has done so many tasks of its first round; if it has one, see Sink.
   void noteFinishing(uint32_t endedTasks, uint32_t tasks);
   void end();

   View view() const;

private:
   struct Pipeline {
      std::vector<Stage> stages;
      Collecting collecting;
      State state = State::Waiting;
      uint32_t stage = 0;
      uint64_t rows = 0, rowsOfStage = 0, collected = 0;
      double consumed = 0, finished = 0;
      int64_t begun = 0, finishing = 0, ended = 0; ///< steadyNanos()

      double seconds(int64_t now) const;
   };
   double cost(const Stage& stage) const REQUIRES(mutex_);
   double cost(const Pipeline& pipeline) const REQUIRES(mutex_);
   double share(const Pipeline& pipeline, int64_t now) const REQUIRES(mutex_);
   double rowsByExpected(uint32_t node) const REQUIRES(mutex_);

   mutable Mutex mutex_;
   std::vector<Pipeline> pipelines_ GUARDED_BY(mutex_);
   size_t current_ GUARDED_BY(mutex_) = 0;
};

/// The running queries of a server that take more than a moment. Thread-safe.
class QueryProgressList {
public:
   struct Entry {
      int32_t processId; ///< of the session
      std::shared_ptr<const QueryProgress> progress;
   };
   void add(int32_t processId, std::shared_ptr<const QueryProgress> progress);
   void remove(const QueryProgress* progress);
   std::vector<Entry> list() const;

private:
   mutable Mutex mutex_;
   std::vector<Entry> entries_ GUARDED_BY(mutex_);
};

} // namespace ouzel::executor
