#include "executor/operator/sort/sort.hpp"

#include <algorithm>
#include <array>

#include "executor/operator/build.hpp"

// ORDER BY: lanes store rows in runs, tasks sort the runs, and the rows are given in order: by one worker from memory,
// by ranges of keys from disk.

namespace ouzel::executor {

namespace {

/// If more rows than this are wanted, runs keep all rows: dropping rows does not pay then.
constexpr uint64_t keepRowsMax = 1 << 16;

/// A sort whose LIMIT and OFFSET are expressions, evaluated when the pipeline starts.
class RangeSortSink final : public SortSink {
public:
   RangeSortSink(SortInput input, ExternalSort& sort, SortedSource& source, const sql::Expr* limit,
                 const sql::Expr* offset)
      : SortSink(std::move(input), sort, &source), source_(source), limit_(limit), offset_(offset) {}

   void prepare(QueryContext& context) override {
      const auto range = RowRange::evaluate(context, offset_, limit_);
      source_.setRange(range);
      rowsWanted_ = range.limit == 0 ? 0 : range.end();
      keepRows_ = rowsWanted_ <= keepRowsMax ? rowsWanted_ : SortRun::keepAll;
      SortSink::prepare(context);
   }

private:
   SortedSource& source_;
   const sql::Expr* limit_;
   const sql::Expr* offset_;
};

/// Passes the first rows, up to the LIMIT of a sort that leaves it to an operator in order.
class FirstRows final : public StreamingOperator {
public:
   explicit FirstRows(const SortedSource& source) : source_(source) {}
   void prepare(QueryContext&) override { left_ = source_.range().limit; }
   LocalStatePtr makeLocal(QueryContext&) override {
      auto local = std::make_unique<Local>();
      for (uint32_t row = 0; row < batchRowsMax; ++row)
         local->rows[row] = static_cast<RowIndex>(row);
      return local;
   }
   /// REQUIRES: one lane, since rows are in order. Batches of a sort are dense.
   OperatorStatus process(QueryContext&, LocalState& state, const Batch& in, Batch& out) override {
      DCHECK(in.selection.isDense());
      const auto count = static_cast<uint32_t>(std::min<uint64_t>(left_, in.liveRows()));
      out.columns = in.columns;
      out.rowCount = in.rowCount;
      out.selection =
          count == in.liveRows() ? in.selection : Selection::list(static_cast<Local&>(state).rows.data(), count);
      left_ -= count;
      return left_ == 0 ? OperatorStatus::Done : OperatorStatus::NeedInput;
   }

private:
   struct Local final : LocalState {
      std::array<RowIndex, batchRowsMax> rows;
   };
   const SortedSource& source_;
   uint64_t left_ = 0;
};

/// The bound for the scan or aggregation that gives the rows, if the first key is an integer column of it; else null.
OrderBound* boundBelow(PlanBuilder& builder, const sql::plan::Node& input, const std::vector<sql::SortKey>& keys) {
   const sql::SortKey& first = keys.front();
   if (first.expr->kind != sql::ExprKind::Column) return nullptr;
   const PhysicalType type = first.expr->repr.physical;
   if (type != PhysicalType::I16 && type != PhysicalType::I32 && type != PhysicalType::I64) return nullptr;
   const sql::plan::Node* node = &input;
   while (node->kind == sql::plan::NodeKind::Project || node->kind == sql::plan::NodeKind::Filter)
      node = node->children[0].get();
   const sql::ColumnId column = columnOf(*first.expr);
   const auto gives = [&] {
      if (node->kind == sql::plan::NodeKind::Aggregate)
         return std::find(node->output.begin(), node->output.end(), column) != node->output.end();
      if (node->kind != sql::plan::NodeKind::TableScan) return false;
      const auto& columns = node->as<sql::plan::TableScan>().columns;
      return std::any_of(columns.begin(), columns.end(), [&](const sql::plan::ScanColumn& scanned) {
         return scanned.column == column && scanned.attribute > 0;
      });
   };
   if (!gives()) return nullptr;
   auto* bound = builder.own<OrderBound>(first.descending, first.nullsFirst, keys.size() > 1);
   builder.wantedOrders[node] = {bound, column};
   return bound;
}

} // namespace

std::vector<Stage> buildSorted(PlanBuilder& builder, const sql::plan::Node& node, const std::vector<sql::SortKey>& keys,
                               const sql::Expr* limit, const sql::Expr* offset) {
   const sql::plan::Node& child = *node.children[0];
   OrderBound* bound = limit && !keys.empty() ? boundBelow(builder, child, keys) : nullptr;
   std::vector<Stage> input = builder.produce(child);
   SortInput sortInput = makeSortInput(child.output, node.output, sortOrders(keys), builder.context().columns());
   auto* sort = builder.own<ExternalSort>(sortInput.layout, builder.context().budget());
   auto* source = builder.own<SortedSource>(builder.context(), *sort, static_cast<uint32_t>(node.output.size()));
   SortSink* sink =
       limit || offset
           ? static_cast<SortSink*>(builder.own<RangeSortSink>(std::move(sortInput), *sort, *source, limit, offset))
           : builder.own<SortSink>(std::move(sortInput), *sort, source);
   sink->setBound(bound);
   builder.addPipeline(std::move(input), sink, builder.profileOf(node));
   Stage stage;
   stage.source = source;
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> stages;
   stages.push_back(std::move(stage));
   if (limit) PlanBuilder::append(stages, builder.own<FirstRows>(*source), UINT32_MAX);
   return stages;
}

std::vector<Stage> buildSort(PlanBuilder& builder, const sql::plan::Node& node) {
   return buildSorted(builder, node, node.as<sql::plan::Sort>().keys, nullptr, nullptr);
}

} // namespace ouzel::executor
