#include "executor/operator/sort/sort.hpp"

#include "executor/operator/build.hpp"

// ORDER BY: lanes store rows in runs, tasks sort the runs, and one worker gives the rows in order.

namespace ouzel::executor {

namespace {

/// If more rows than this are wanted, runs keep all rows: dropping rows does not pay then.
constexpr uint64_t keepRowsMax = 1 << 16;

/// A sort whose LIMIT and OFFSET are expressions, evaluated when the pipeline starts.
class RangeSortSink final : public SortSink {
public:
   RangeSortSink(SortInput input, ExternalSort& sort, SortedSource& source, const sql::Expr* limit,
                 const sql::Expr* offset)
      : SortSink(std::move(input), sort), source_(source), limit_(limit), offset_(offset) {}

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

} // namespace

std::vector<Stage> buildSorted(PlanBuilder& builder, const sql::plan::Node& node, const std::vector<sql::SortKey>& keys,
                               const sql::Expr* limit, const sql::Expr* offset) {
   const sql::plan::Node& child = *node.children[0];
   std::vector<Stage> input = builder.produce(child);
   SortInput sortInput = makeSortInput(child.output, node.output, sortOrders(keys), builder.context().columns());
   auto* sort = builder.own<ExternalSort>(sortInput.layout, builder.context().budget());
   auto* source = builder.own<SortedSource>(*sort, static_cast<uint32_t>(node.output.size()));
   Sink* sink =
       limit || offset
           ? static_cast<Sink*>(builder.own<RangeSortSink>(std::move(sortInput), *sort, *source, limit, offset))
           : builder.own<SortSink>(std::move(sortInput), *sort);
   builder.addPipeline(std::move(input), sink, builder.profileOf(node));
   Stage stage;
   stage.source = source;
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> stages;
   stages.push_back(std::move(stage));
   return stages;
}

std::vector<Stage> buildSort(PlanBuilder& builder, const sql::plan::Node& node) {
   return buildSorted(builder, node, node.as<sql::plan::Sort>().keys, nullptr, nullptr);
}

} // namespace ouzel::executor
