#pragma once
#include "executor/materialize/batch_builder.hpp"
#include "executor/pipeline/operator.hpp"
#include "executor/schedule/result_queue.hpp"

namespace ouzel::executor {

/// The sink of a query's last pipeline. Hands rows to the session's thread through the query's bounded queue, columns
/// as in plan.output.
class ResultSink final : public Sink {
public:
   ResultSink(const sql::plan::Plan& plan, ResultQueue& queue);
   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;

private:
   ResultQueue& queue_;
   std::vector<uint32_t> slots_;
   std::vector<Representation> columns_;
};

} // namespace ouzel::executor
