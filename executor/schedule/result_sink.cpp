#include "executor/schedule/result_sink.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

/// Of one batch. The queue keeps some batches, and what it stores on disk it copies with memory that is not counted.
constexpr size_t stringBytesMax = size_t{1} << 20;

struct Local final : LocalState {
   Local(const std::vector<Representation>& columns, Reservation& m, uint32_t takenRows = 0)
      : builder(columns, m, batchRowsMax, stringBytesMax), memory(&m), taken(takenRows) {}
   BatchBuilder builder;
   Reservation* memory; // of the builder
   uint32_t taken = 0;  // live rows of the batch being offered that have been copied
   int refusals = 0;    // times Blocked was returned for blockTwice
};

} // namespace

ResultSink::ResultSink(const sql::plan::Plan& plan, ResultQueue& queue) : queue_(queue) {
   for (const sql::OutputColumn& column : plan.output) {
      const auto found = std::find(plan.root->output.begin(), plan.root->output.end(), column.column);
      if (found == plan.root->output.end()) throwInternal("an output column that the plan does not give");
      slots_.push_back(static_cast<uint32_t>(found - plan.root->output.begin()));
      columns_.push_back(plan.columns[column.column].repr);
   }
}

LocalStatePtr ResultSink::makeLocal(QueryContext&) {
   return std::make_unique<Local>(columns_, queue_.batchMemory());
}

SinkStatus ResultSink::consume(QueryContext& context, LocalState& state, const Batch& in) {
   Local& local = static_cast<Local&>(state);
   DCHECK(local.taken <= in.liveRows()); // after Blocked the same batch comes again
   if (context.settings().blockTwice && local.taken == 0 && local.refusals++ < 2) {
      context.wake();
      return SinkStatus::Blocked;
   }
   while (local.taken < in.liveRows()) {
      if (local.builder.isFull()) {
         if (!context.hasRoom()) return SinkStatus::Blocked;
         context.offer(local.builder.take());
         Reservation& memory = queue_.batchMemory();
         if (&memory != local.memory) local = Local(columns_, memory, local.taken);
      }
      local.taken += local.builder.append(in, slots_, local.taken);
   }
   local.taken = 0;
   local.refusals = 0;
   return SinkStatus::NeedInput;
}

// Each lane has less than a batch left, so its batch is queued even if the queue then exceeds its bound.
void ResultSink::combine(QueryContext& context, LocalState& state) {
   auto batch = static_cast<Local&>(state).builder.take();
   if (batch) context.offer(std::move(batch));
}

} // namespace ouzel::executor
