#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/value/batch.hpp"
#include "executor/pipeline/query_context.hpp"

// What a pipeline is made of. A pipeline runs in stages, each a source and streaming operators; all stages end in one
// sink. The objects here are shared by all workers and read-only while a pipeline runs, except for state that says how
// it is shared; what one worker changes lives in the local state it is handed. Nothing blocks: an operator that cannot
// go on says Blocked and is called again after QueryContext::wake().
//
// Lifetimes: a batch's views are valid until the operator that made it is called again by the same worker.

namespace ouzel::executor {

/// One worker's part of an operator.
struct LocalState {
   virtual ~LocalState() = default;
};
using LocalStatePtr = std::unique_ptr<LocalState>;

enum class SourceStatus : uint8_t {
   HaveOutput, ///< `out` holds rows (perhaps none); call again
   Blocked,
   Done,
};

class Source {
public:
   virtual ~Source() = default;
   /// The pipeline will run when those before it have ended: begin to read what comes over a network. A hint, given
   /// once at most, before prepare().
   virtual void foresee(QueryContext&) {}
   /// After foresee() or prepare(): it has more to ask the network for.
   virtual bool isReadingAhead() const { return false; }
   /// Called once, by one thread, before the stage starts and after everything before it has ended.
   virtual void prepare(QueryContext&) {}
   /// Workers that can do something at once; asked after prepare(). 1 keeps the order of rows. 0: there is nothing to
   /// do, and no local state is made.
   virtual uint32_t workersMax() const = 0;
   virtual LocalStatePtr makeLocal(QueryContext& context) = 0;
   virtual SourceStatus next(QueryContext& context, LocalState& local, Batch& out) = 0;
   /// Facts for EXPLAIN ANALYZE, after the end.
   virtual void describe(OperatorProfile&) const {}
};

enum class OperatorStatus : uint8_t {
   NeedInput,  ///< the input is used up; `out` holds what came of it (perhaps nothing)
   HaveOutput, ///< call again with the same input: more comes of it
   Blocked,
   Done, ///< `out` is the last; no worker needs to bring more input
};

class StreamingOperator {
public:
   virtual ~StreamingOperator() = default;
   virtual void prepare(QueryContext&) {}
   virtual LocalStatePtr makeLocal(QueryContext& context) = 0;
   virtual OperatorStatus process(QueryContext& context, LocalState& local, const Batch& in, Batch& out) = 0;
   virtual void describe(OperatorProfile&) const {}
};

enum class SinkStatus : uint8_t {
   NeedInput,
   Blocked, ///< nothing of the batch was taken: offer it again
   Done,    ///< enough
};

class Sink {
public:
   virtual ~Sink() = default;
   virtual void prepare(QueryContext&) {}
   virtual LocalStatePtr makeLocal(QueryContext& context) = 0;
   virtual SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) = 0;
   /// Once per local state, one after the other, after the last batch of all workers: hand over what is local.
   virtual void combine(QueryContext&, LocalState&) {}
   /// Then the work of finishing, in pieces that workers share: called once to say how many, then once per piece; after
   /// the last piece of a round it is asked for the next round, 0 ends.
   virtual uint32_t finishTasks(QueryContext&, uint32_t /*round*/) { return 0; }
   virtual void finishTask(QueryContext&, uint32_t /*round*/, uint32_t /*task*/) {}
   /// At the very end, by one thread.
   virtual void finish(QueryContext&) {}
   virtual void describe(OperatorProfile&) const {}
};

/// A source and the streaming operators behind it. Does not own them: the query does.
struct Stage {
   Source* source = nullptr;
   std::vector<StreamingOperator*> operators;
   /// Profile numbers (preorder in the plan) of source and operators; UINT32_MAX: not shown on its own.
   uint32_t sourceProfile = UINT32_MAX;
   std::vector<uint32_t> operatorProfiles;
   /// For checking (hasDchecks): what the batches of the source ([0]) or of operator i ([i + 1]) hold, where a plan
   /// node ends there. Empty lists: unknown.
   struct Declared {
      std::string node; ///< as EXPLAIN names it
      std::vector<PhysicalType> types;
      bool isKnown = false;
   };
   std::vector<Declared> declared;
};

/// Stages run one after the other, every one with all workers; then the sink finishes.
struct Pipeline {
   std::vector<Stage> stages;
   Sink* sink = nullptr;
   uint32_t sinkProfile = UINT32_MAX;
   bool isForeseen = false; ///< its source was told
};

} // namespace ouzel::executor
