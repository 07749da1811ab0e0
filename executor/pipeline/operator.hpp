#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/value/batch.hpp"
#include "executor/pipeline/query_context.hpp"

// The contract between operators and PipelineRun, which calls them. A pipeline is a list of stages that end in one
// sink. A stage is a source and the streaming operators behind it:
//
//    stage 0   source -> operator -> operator --+
//    stage 1   source -> operator --------------+--> sink
//
// Calls, in order:
//
//    once, by one thread    foresee() of the source, a hint that may be left out; prepare() of the sink
//    per stage, one thread  prepare() of the source, then of the operators
//    per lane               makeLocal() of the source, the operators, and, in the first stage the lane runs, the sink
//    per batch              next(), process() and consume(): all lanes at once, one worker at a time in a lane
//    after the last stage   settle() per local state of the sink, all at once; combine() per local state, one by one;
//                           rounds of finishTask(), finish()
//
// Threads: sources, operators and sinks are shared by all workers. They are read-only while a stage runs, except for
// members whose comment says how they are shared. State that one lane changes lives in its LocalState.
//
// Order: the rows of a source come in order if one worker reads it, and mostly not otherwise. A source with ranges is
// read by several workers and keeps the order all the same: each lane takes one range after the other, and rows go on
// to the first operator that needs the order (or to the sink) range by range, in a lane of their own.
//
//    lanes of ranges   source -> operators that take batches in any order --+
//    lane in order                                                          +--> operator -> sink
//
// No call blocks its worker. An operator that cannot go on returns Blocked, and is called again after
// QueryContext::wake().
//
// Lifetimes: the views of a batch are valid until the operator that made the batch is called again with the same local
// state.

namespace ouzel::executor {

/// The part of a source, operator or sink that belongs to one lane. One worker at a time uses it.
struct LocalState {
   virtual ~LocalState() = default;
};
using LocalStatePtr = std::unique_ptr<LocalState>;

enum class SourceStatus : uint8_t {
   HaveOutput, ///< `out` holds rows (perhaps none); call again
   RangeEnd,   ///< no rows; the lane's range has ended; call again for the next range
   Blocked,
   Done,
};

class Source {
public:
   virtual ~Source() = default;
   /// The pipeline is going to run after the pipelines before it: begin to read over the network. A hint, given at
   /// most once, before prepare().
   virtual void foresee(QueryContext&) {}
   /// After foresee() or prepare(): the source has more to ask the network for.
   virtual bool isReadingAhead() const { return false; }
   /// Called once, by one thread, after the stages and pipelines before this one have ended.
   virtual void prepare(QueryContext&) {}
   /// How many workers can read the source at once; asked after prepare(). 1 keeps the order of rows. 0: the source has
   /// no rows, and no local state is made.
   virtual uint32_t workersMax() const = 0;
   /// Called once, by one thread, after prepare() of the stage's operators and before workersMax(). More than 1: the
   /// number of ranges whose sequence is the order of the rows. Lanes take them in order, and each gives RangeEnd once.
   virtual uint32_t openRanges(QueryContext&) { return 1; }
   /// The range of the lane's last rows, from 0.
   virtual uint32_t rangeOf(const LocalState&) const { return 0; }
   virtual LocalStatePtr makeLocal(QueryContext& context) = 0;
   virtual SourceStatus next(QueryContext& context, LocalState& local, Batch& out) = 0;
   /// The part of its rows that workers have taken, from 0 to 1; negative: not known. Any worker may ask while the
   /// stage runs.
   virtual double consumed() const { return -1; }
   /// Adds notes for EXPLAIN ANALYZE; called after the stage has ended.
   virtual void describe(OperatorProfile&) const {}
};

enum class OperatorStatus : uint8_t {
   NeedInput,  ///< the input is used up; `out` holds its last rows (perhaps none)
   HaveOutput, ///< `out` holds rows (perhaps none); call again with the same input
   Blocked,
   Done, ///< `out` is the last; no worker needs to bring more input
};

class StreamingOperator {
public:
   virtual ~StreamingOperator() = default;
   virtual void prepare(QueryContext&) {}
   /// Whether it does not matter in which order, and in which lane, batches of ordered rows come.
   virtual bool takesAnyOrder() const { return false; }
   virtual LocalStatePtr makeLocal(QueryContext& context) = 0;
   virtual OperatorStatus process(QueryContext& context, LocalState& local, const Batch& in, Batch& out) = 0;
   virtual void describe(OperatorProfile&) const {}
};

enum class SinkStatus : uint8_t {
   NeedInput,
   Blocked, ///< offer the same batch again
   Done,    ///< the sink needs no more rows
};

class Sink {
public:
   virtual ~Sink() = default;
   virtual void prepare(QueryContext&) {}
   virtual LocalStatePtr makeLocal(QueryContext& context) = 0;
   virtual SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) = 0;
   /// The local states have much to do in settle(), so that it is worth waking workers for it.
   virtual bool settlesInParallel() const { return false; }
   /// Does what remains to be done in a local state on its own: packing, sorting, spilling. Called after the last batch
   /// of all workers, by one worker per local state, for several local states at once.
   virtual void settle(QueryContext&, LocalState&) {}
   /// Hands the rows of a local state over to the sink. Called after the last settle(), once per local state,
   /// one after the other.
   virtual void combine(QueryContext&, LocalState&) {}
   /// After combine(), workers share the tasks of finishing. finishTasks() returns the number of tasks of a round;
   /// finishTask() runs one of them. After the last task of a round the next round is asked for; 0 tasks end the
   /// rounds.
   virtual uint32_t finishTasks(QueryContext&, uint32_t /*round*/) { return 0; }
   virtual void finishTask(QueryContext&, uint32_t /*round*/, uint32_t /*task*/) {}
   /// Called after the last round, by one thread.
   virtual void finish(QueryContext&) {}
   virtual void describe(OperatorProfile&) const {}
};

/// A source and the streaming operators behind it. The PlanBuilder of the query owns them.
struct Stage {
   Source* source = nullptr;
   std::vector<StreamingOperator*> operators;
   /// Profile numbers (preorder in the plan) of source and operators; UINT32_MAX: not shown on its own.
   uint32_t sourceProfile = UINT32_MAX;
   std::vector<uint32_t> operatorProfiles;
   /// For checks (hasDchecks): the columns of batches that the source ([0]) or operator i ([i + 1]) gives. Known where
   /// the source or operator is the last one of a plan node.
   struct Declared {
      std::string node; ///< as EXPLAIN names it
      std::vector<PhysicalType> types;
      bool isKnown = false;
   };
   std::vector<Declared> declared;
};

class DeferredError; // executor/pipeline/deferred_error.hpp

/// Stages run one after the other, each with all workers; then the sink finishes.
struct Pipeline {
   std::vector<Stage> stages;
   Sink* sink = nullptr;
   DeferredError* deferred = nullptr; ///< takes errors of the data; the pipeline then ends early. Null: they are thrown
   uint32_t sinkProfile = UINT32_MAX;
   bool isForeseen = false;        ///< foresee() of the first source was called
   uint32_t progress = UINT32_MAX; ///< its number in the query's QueryProgress
};

} // namespace ouzel::executor
