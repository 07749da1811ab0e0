#include <algorithm>
#include <atomic>

#include "executor/materialize/row_batch.hpp"
#include "executor/operator/aggregate/spilled_groups.hpp"
#include "executor/operator/build.hpp"

// The result of an aggregation: keys gathered from the groups' rows, aggregates computed from their states. Sets with
// spilled groups are read through SpilledGroups.

namespace ouzel::executor {

namespace {

/// The origin of an output column.
struct ResultColumn {
   enum class Kind : uint8_t { Key, Aggregate, Grouping } kind;
   uint32_t index;
};

struct Local final : LocalState {
   Local(std::vector<PhysicalType> types, Reservation* memory) : columns(std::move(types)), strings(memory) {}
   RowBatch columns;
   Arena strings;
   std::vector<int32_t> grouping;
   std::vector<std::byte*> wanted = std::vector<std::byte*>(batchRowsMax); ///< rows that the bound leaves of a chunk
   std::unique_ptr<LoadedGroups> loaded;
   size_t given = 0; ///< number of groups of `loaded` given so far
};

class AggregateSource final : public Source {
public:
   AggregateSource(PlanBuilder& builder, AggregateSink& sink);

   void prepare(QueryContext& context) override;
   uint32_t workersMax() const override {
      return static_cast<uint32_t>(std::clamp<size_t>(chunks_.size() + spilled_->partitionCount(), 1, 1024));
   }
   LocalStatePtr makeLocal(QueryContext& context) override {
      return std::make_unique<Local>(types_, &context.memory());
   }
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   double consumed() const override {
      if (hasSpilled_ || chunks_.empty()) return -1;
      return std::min(1.0, static_cast<double>(next_.load()) / static_cast<double>(chunks_.size()));
   }
   void describe(OperatorProfile& profile) const override {
      profile.memoryPeak = std::max(profile.memoryPeak, sink_.grant().memory().peak());
      if (hasSpilled_) profile.notes.emplace_back("Partitions Split Again", std::to_string(spilled_->splitCount()));
      if (const uint64_t leftOut = leftOut_.load())
         profile.notes.emplace_back("Groups Left Out", std::to_string(leftOut));
   }

private:
   struct Chunk {
      const GroupingSet* set;
      std::byte* const* rows;
      uint32_t count;
   };
   Vector column(QueryContext& context, Local& local, const Chunk& chunk, uint32_t output);
   void give(QueryContext& context, Local& local, Chunk chunk, Batch& out);
   uint32_t keepWanted(const Vector& first, int64_t bound, const Chunk& chunk, std::byte** kept) const;

   AggregateSink& sink_;
   const OrderBound* bound_ = nullptr; ///< of ORDER BY ... LIMIT above
   uint32_t boundOutput_ = 0;          ///< the output column that bound_ is about
   std::atomic<uint64_t> leftOut_{0};  ///< groups behind the bound
   std::vector<ResultColumn> results_;
   std::vector<PhysicalType> types_;
   std::vector<Chunk> chunks_;
   std::atomic<size_t> next_{0};
   std::unique_ptr<SpilledGroups> spilled_;
   bool hasSpilled_ = false; ///< some set, in this run
};

AggregateSource::AggregateSource(PlanBuilder& builder, AggregateSink& sink) : sink_(sink) {
   const auto& plan = sink.node().as<sql::plan::Aggregate>();
   for (const sql::ColumnId column : sink.node().output) {
      types_.push_back(builder.context().columns()[column].repr.physical);
      const auto matches = [&](const auto& item) { return item.column == column; };
      if (const auto key = std::find_if(plan.keys.begin(), plan.keys.end(), matches); key != plan.keys.end())
         results_.push_back({ResultColumn::Kind::Key, static_cast<uint32_t>(key - plan.keys.begin())});
      else if (const auto call = std::find_if(plan.aggregates.begin(), plan.aggregates.end(), matches);
               call != plan.aggregates.end())
         results_.push_back({ResultColumn::Kind::Aggregate, static_cast<uint32_t>(call - plan.aggregates.begin())});
      else if (const auto grouping = std::find_if(plan.groupingCalls.begin(), plan.groupingCalls.end(), matches);
               grouping != plan.groupingCalls.end())
         results_.push_back(
             {ResultColumn::Kind::Grouping, static_cast<uint32_t>(grouping - plan.groupingCalls.begin())});
      else
         throwInternal("a column that the aggregation does not give");
   }
   if (const auto order = builder.wantedOrders.find(&sink.node()); order != builder.wantedOrders.end()) {
      const auto& output = sink.node().output;
      bound_ = order->second.bound;
      boundOutput_ =
          static_cast<uint32_t>(std::find(output.begin(), output.end(), order->second.column) - output.begin());
   }
}

void AggregateSource::prepare(QueryContext& context) {
   chunks_.clear();
   next_.store(0);
   leftOut_.store(0);
   hasSpilled_ = false;
   const uint32_t rowsMax = context.settings().batchRows;
   spilled_ = std::make_unique<SpilledGroups>(sink_, context);
   for (GroupingSet& set : sink_.sets()) {
      if (set.isSpilled()) {
         spilled_->add(set);
         hasSpilled_ = true;
         continue;
      }
      for (uint32_t partition = 0; partition < set.groups.partitionCountUsed(); ++partition) {
         const std::span<std::byte* const> rows = set.groups.groups(partition);
         for (size_t first = 0; first < rows.size(); first += rowsMax)
            chunks_.push_back(
                {&set, rows.data() + first, static_cast<uint32_t>(std::min<size_t>(rowsMax, rows.size() - first))});
      }
   }
}

Vector AggregateSource::column(QueryContext& context, Local& local, const Chunk& chunk, uint32_t output) {
   const ResultColumn& result = results_[output];
   const GroupingSet& set = *chunk.set;
   switch (result.kind) {
   case ResultColumn::Kind::Key: {
      const auto found = std::find(set.keys.begin(), set.keys.end(), result.index);
      if (found == set.keys.end()) return absentVector(types_[output]);
      return local.columns.gather(output, set.layout, static_cast<uint32_t>(found - set.keys.begin()), chunk.rows,
                                  chunk.count);
   }
   case ResultColumn::Kind::Aggregate: {
      const CompiledAggregate& aggregate = sink_.aggregates()[result.index];
      const std::byte* states[batchRowsMax];
      for (uint32_t i = 0; i < chunk.count; ++i)
         states[i] = chunk.rows[i] + set.stateOffsets[result.index];
      std::fill_n(local.columns.validity(output), validityWords(chunk.count), ~ValidityWord{0});
      ResultVector values(types_[output], local.columns.data(output), local.columns.validity(output), local.strings);
      aggregate.kernel->finalize(states, chunk.count, context.functions(), values);
      return local.columns.vector(output, values.hasNulls());
   }
   case ResultColumn::Kind::Grouping: {
      // One bit for each key of the call, the first leftmost: 1 when the key is not in this set.
      int32_t mask = 0;
      for (const uint32_t key : sink_.node().as<sql::plan::Aggregate>().groupingCalls[result.index].keys)
         mask = mask << 1 | (std::find(set.keys.begin(), set.keys.end(), key) == set.keys.end() ? 1 : 0);
      auto* values = static_cast<int32_t*>(local.columns.data(output));
      std::fill_n(values, chunk.count, mask);
      return Vector::flat(PhysicalType::I32, values, nullptr);
   }
   }
   return {};
}

/// Write the rows of the chunk that do not lie behind the bound to `kept`, and return their number.
uint32_t AggregateSource::keepWanted(const Vector& first, int64_t bound, const Chunk& chunk, std::byte** kept) const {
   const auto keep = [&](const auto* values) {
      uint32_t count = 0;
      const uint32_t step = first.encoding == Encoding::Constant ? 0 : 1;
      for (uint32_t i = 0; i < chunk.count; ++i) {
         const int64_t value = values[i * step];
         const bool isBefore = bound_->isDescending ? value >= bound : value <= bound;
         kept[count] = chunk.rows[i];
         count += isValidBit(first.validity, i * step) ? isBefore : bound_->nullsFirst;
      }
      return count;
   };
   switch (first.type) {
   case PhysicalType::I16: return keep(static_cast<const int16_t*>(first.data));
   case PhysicalType::I32: return keep(static_cast<const int32_t*>(first.data));
   default: DCHECK(first.type == PhysicalType::I64); return keep(static_cast<const int64_t*>(first.data));
   }
}

void AggregateSource::give(QueryContext& context, Local& local, Chunk chunk, Batch& out) {
   DCHECK(chunk.count <= batchRowsMax);
   local.strings.reset();
   out.columns.resize(results_.size());
   if (const auto bound = bound_ ? bound_->value() : std::nullopt) {
      const Vector first = column(context, local, chunk, boundOutput_);
      const uint32_t kept = keepWanted(first, *bound, chunk, local.wanted.data());
      leftOut_.fetch_add(chunk.count - kept, std::memory_order_relaxed);
      chunk = {chunk.set, local.wanted.data(), kept};
   }
   if (chunk.count > 0)
      for (uint32_t i = 0; i < results_.size(); ++i)
         out.columns[i] = column(context, local, chunk, i);
   out.setDense(chunk.count);
}

SourceStatus AggregateSource::next(QueryContext& context, LocalState& state, Batch& out) {
   auto& local = static_cast<Local&>(state);
   if (!local.loaded) {
      // Pass over up to 32 chunks that have no wanted group; then return, so that the caller checks time and
      // cancellation.
      size_t index = chunks_.size();
      for (int attempts = 0; attempts < 32; ++attempts) {
         index = next_.load() < chunks_.size() ? next_.fetch_add(1) : chunks_.size();
         if (index == chunks_.size()) break;
         give(context, local, chunks_[index], out);
         if (out.rowCount > 0) break;
      }
      if (index < chunks_.size()) return SourceStatus::HaveOutput;
   } else if (local.given == local.loaded->groups.groups().size()) {
      spilled_->release(std::move(local.loaded));
   }
   if (!local.loaded) {
      switch (spilled_->open(local.loaded)) {
      case SpilledGroups::Status::Blocked: return SourceStatus::Blocked;
      case SpilledGroups::Status::Done: return SourceStatus::Done;
      case SpilledGroups::Status::Opened: local.given = 0; break;
      }
   }
   const std::span<std::byte* const> groups = local.loaded->groups.groups().subspan(local.given);
   const uint32_t count = static_cast<uint32_t>(std::min<size_t>(context.settings().batchRows, groups.size()));
   local.given += count;
   give(context, local, {local.loaded->set, groups.data(), count}, out);
   return SourceStatus::HaveOutput;
}

} // namespace

std::vector<Stage> buildAggregate(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   auto* sink = builder.own<AggregateSink>(builder, node);
   builder.addPipeline(std::move(stages), sink, builder.profileOf(node));
   Stage stage;
   stage.source = builder.own<AggregateSource>(builder, *sink);
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> out;
   out.push_back(std::move(stage));
   return out;
}

} // namespace ouzel::executor
