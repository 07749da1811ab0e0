#include "executor/operator/join/nested_loop_join.hpp"

#include <algorithm>

#include "executor/materialize/row_batch.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/join/nested_loop_blocks.hpp"
#include "executor/operator/join/nested_looper.hpp"
#include "executor/pipeline/deferred_error.hpp"

// Joins without keys. The right side is materialised; each batch of the left side is joined with all of the right side.
// If some of the right side was spilled, the left side is stored, too, and then joined by blocks
// (nested_loop_blocks.hpp).

namespace ouzel::executor {

using sql::JoinKind;
using Column = NestedLoopShape::Column;

namespace {

struct JoinLocal final : LocalState {
   std::unique_ptr<NestedLooper> looper;
   BatchBuilder* aside = nullptr;
};

class NestedLoopJoin final : public StreamingOperator {
public:
   NestedLoopJoin(const NestedLoopShape& shape, const NestedLoopRows& rows, NestedLoopLeft& left,
                  const DeferredError* deferred)
      : shape_(shape), rows_(rows), left_(left), deferred_(deferred) {}
   LocalStatePtr makeLocal(QueryContext& context) override {
      auto local = std::make_unique<JoinLocal>();
      if (rows_.isSpilled) {
         local->aside = &left_.open(context);
      } else {
         local->looper = std::make_unique<NestedLooper>(shape_, rows_, context);
      }
      return local;
   }
   OperatorStatus process(QueryContext& context, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<JoinLocal&>(state);
      if (deferred_ && deferred_->isSet() && in.liveRows() > 0) deferred_->raise();
      if (local.looper) return local.looper->process(context, in, out);
      left_.add(*local.aside, in);
      out.setDense(0);
      return OperatorStatus::NeedInput;
   }

private:
   const NestedLoopShape& shape_;
   const NestedLoopRows& rows_;
   NestedLoopLeft& left_;
   const DeferredError* const deferred_; ///< of the right side; null: it has none
};

/// The sink that stores the right side.
class NestedLoopBuild final : public Sink {
public:
   NestedLoopBuild(const NestedLoopShape& shape, NestedLoopRows& rows, NestedLoopLeft& left,
                   std::vector<uint32_t> slots, std::vector<Representation> columns)
      : shape_(shape), rows_(rows), left_(left), inner_(rows.buffer, std::move(slots), std::move(columns)) {}

   void prepare(QueryContext&) override {
      rows_.buffer.clear();
      left_.clear();
   }
   LocalStatePtr makeLocal(QueryContext& context) override { return inner_.makeLocal(context); }
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override {
      return inner_.consume(context, local, in);
   }
   void combine(QueryContext& context, LocalState& local) override { inner_.combine(context, local); }
   void describe(OperatorProfile& profile) const override { rows_.buffer.describe(profile); }
   void finish(QueryContext& context) override {
      rows_.isSpilled = rows_.buffer.hasSpilled();
      // The larger the blocks of the left side, the less often is the right side read: all memory is for them.
      if (rows_.isSpilled) rows_.buffer.spillRest();
      rows_.firstRows.clear();
      uint64_t first = 0;
      for (size_t i = 0; i < rows_.buffer.batchCount(); ++i) {
         rows_.firstRows.push_back(first);
         first += rows_.buffer.batchRows(i);
      }
      if (shape_.givesBuiltRowsLast) rows_.flags = LargeMemory(first, context.memory());
   }

private:
   const NestedLoopShape& shape_;
   NestedLoopRows& rows_;
   NestedLoopLeft& left_;
   BatchStoreSink inner_;
};

/// Number of batches that a worker takes at once, so that spilled batches are read ahead.
constexpr size_t batchesAhead = 8;

struct BuiltLocal final : LocalState {
   BuiltLocal(const BatchStore& buffer, QueryContext& context) : reader(buffer, context, false) {}
   BatchStore::Reader reader;
   const Batch* rowsOf = nullptr; ///< batch number `batch`, while its rows are given; null: take the next batch
   size_t batch = 0, end = 0;
   uint32_t next = 0;
   RowIndex rows[batchRowsMax];
};

/// The last stage: gives the right rows with a match (RightSemi) or without one (Right, Full, RightAnti).
class BuiltRows final : public Source {
public:
   BuiltRows(const NestedLoopShape& shape, const NestedLoopRows& rows) : shape_(shape), rows_(rows) {}

   void prepare(QueryContext&) override { nextBatch_.store(0); }
   uint32_t workersMax() const override {
      return static_cast<uint32_t>(
          std::min<size_t>((rows_.buffer.batchCount() + batchesAhead - 1) / batchesAhead, 1024));
   }
   LocalStatePtr makeLocal(QueryContext& context) override {
      return std::make_unique<BuiltLocal>(rows_.buffer, context);
   }
   SourceStatus next(QueryContext& context, LocalState& state, Batch& out) override {
      auto& local = static_cast<BuiltLocal&>(state);
      if (!local.rowsOf) {
         out.setDense(0);
         if (local.batch == local.end) {
            local.batch = nextBatch_.fetch_add(batchesAhead);
            local.end = std::min(local.batch + batchesAhead, rows_.buffer.batchCount());
            if (local.batch >= local.end) {
               local.end = local.batch;
               return SourceStatus::Done;
            }
            local.reader.expect(local.batch, local.end);
         }
         local.rowsOf = &local.reader.batch(local.batch);
         local.next = 0;
      }
      const Batch& batch = *local.rowsOf;
      const uint32_t rowsMax = std::clamp(context.settings().batchRows, 1u, batchRowsMax);
      const bool wanted = shape_.kind == JoinKind::RightSemi;
      uint32_t count = 0;
      for (; local.next < batch.rowCount && count < rowsMax; ++local.next) {
         local.rows[count] = static_cast<RowIndex>(local.next);
         count += rows_.isMatched(local.batch, local.next) == wanted;
      }
      if (local.next == batch.rowCount) {
         local.rowsOf = nullptr;
         ++local.batch;
      }
      out.columns.resize(shape_.outputCount);
      for (uint32_t c = 0; c < shape_.outputCount; ++c) {
         const Column& column = shape_.columns[c];
         out.columns[c] = column.from == Column::From::Build ? batch.columns[column.source] : absentVector(column.type);
      }
      out.rowCount = batch.rowCount;
      out.selection = Selection::list(local.rows, count);
      return SourceStatus::HaveOutput;
   }

private:
   const NestedLoopShape& shape_;
   const NestedLoopRows& rows_;
   std::atomic<size_t> nextBatch_{0};
};

} // namespace

std::vector<Stage> buildNestedLoopJoin(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& join = node.as<sql::plan::NestedLoopJoin>();
   const sql::ColumnTable& table = builder.context().columns();
   auto* shape = builder.own<NestedLoopShape>();
   auto* rows = builder.own<NestedLoopRows>();
   shape->kind = join.kind;
   shape->givesBuiltRowsLast = join.kind == JoinKind::Right || join.kind == JoinKind::Full ||
                               join.kind == JoinKind::RightSemi || join.kind == JoinKind::RightAnti;
   shape->outputCount = static_cast<uint32_t>(node.output.size());

   // The output columns, then further columns that predicates read.
   std::vector<sql::ColumnId> layout = node.output, read;
   for (const sql::ExprPtr& predicate : join.predicates)
      sql::collectColumns(*predicate, read);
   for (const sql::ColumnId column : read)
      if (std::find(layout.begin(), layout.end(), column) == layout.end()) layout.push_back(column);
   const ColumnSlots probe(std::span<const sql::ColumnId>(node.children[0]->output));
   const ColumnSlots build(std::span<const sql::ColumnId>(node.children[1]->output));
   std::vector<uint32_t> bufferSlots;
   std::vector<Representation> bufferColumns;
   for (const sql::ColumnId column : layout) {
      const PhysicalType type = table[column].repr.physical;
      if (join.kind == JoinKind::Mark && column == join.markColumn) {
         shape->columns.push_back({Column::From::Mark, 0, PhysicalType::Bool});
      } else if (const auto slot = probe.find(column)) {
         shape->columns.push_back({Column::From::Probe, *slot, type});
      } else if (const auto built = build.find(column)) {
         shape->columns.push_back({Column::From::Build, static_cast<uint32_t>(bufferSlots.size()), type});
         bufferSlots.push_back(*built);
         bufferColumns.push_back(table[column].repr);
      } else {
         throwInternal("a joined column that no side gives");
      }
   }
   if (!join.predicates.empty())
      shape->predicate = ExpressionProgram::compileConjunction(
          join.predicates, ColumnSlots(std::span<const sql::ColumnId>(layout)), table);

   // The columns of the left side that are stored if it is joined by blocks.
   auto* blockShape = builder.own<NestedLoopShape>(*shape);
   std::vector<uint32_t> leftSlots;
   std::vector<Representation> leftColumns;
   for (Column& column : blockShape->columns) {
      if (column.from != Column::From::Probe) continue;
      const auto known = std::find(leftSlots.begin(), leftSlots.end(), column.source);
      const auto number = static_cast<uint32_t>(known - leftSlots.begin());
      if (known == leftSlots.end()) {
         leftSlots.push_back(column.source);
         leftColumns.push_back(table[node.children[0]->output[column.source]].repr);
      }
      column.source = number;
   }
   auto* left = builder.own<NestedLoopLeft>(std::move(leftSlots), std::move(leftColumns));
   rows->buffer.allowSpilling(builder.context());
   left->rows().allowSpilling(builder.context());

   const uint32_t profile = builder.profileOf(node);
   // Without a left row these joins have no row, whatever the right side is.
   const bool needsLeft = !shape->givesBuiltRowsLast;
   auto* deferred = needsLeft ? builder.own<DeferredError>() : nullptr;
   {
      const PlanBuilder::Deferring deferring(builder, deferred);
      builder.addPipeline(
          builder.produce(*node.children[1]),
          builder.own<NestedLoopBuild>(*shape, *rows, *left, std::move(bufferSlots), std::move(bufferColumns)),
          profile);
   }
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   PlanBuilder::append(stages, builder.own<NestedLoopJoin>(*shape, *rows, *left, deferred), profile);
   const auto addStage = [&](Source* source) {
      Stage stage;
      stage.source = source;
      stage.sourceProfile = profile;
      stages.push_back(std::move(stage));
   };
   if (builder.context().canSpill()) addStage(builder.own<NestedLoopBlocks>(*blockShape, *rows, *left));
   if (shape->givesBuiltRowsLast) addStage(builder.own<BuiltRows>(*shape, *rows));
   return stages;
}

} // namespace ouzel::executor
