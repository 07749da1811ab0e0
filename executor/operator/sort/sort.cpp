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
      const uint64_t offset = bound(context, offset_, 0, true);
      const uint64_t limit = bound(context, limit_, UINT64_MAX, false);
      source_.setRange(offset, limit);
      const uint64_t wanted = limit > UINT64_MAX - offset ? UINT64_MAX : offset + limit;
      keepRows_ = limit == 0 ? 0 : wanted <= keepRowsMax ? wanted : SortRun::keepAll;
      rowsWanted_ = limit == 0 ? 0 : wanted;
      SortSink::prepare(context);
   }

private:
   static uint64_t bound(QueryContext& context, const sql::Expr* expr, uint64_t absent, bool isOffset) {
      if (!expr) return absent;
      auto program = ExpressionProgram::compile(*expr, ColumnSlots(), context.columns());
      ExpressionState state(program, context.functions());
      Batch one;
      one.setDense(1);
      const Value value = Value::fromVector(program->evaluate(state, one, one.selection), 0);
      if (value.isNull) return absent;
      if (value.i64 < 0)
         throw SqlError(isOffset ? sqlstate::invalidRowCountInResultOffsetClause
                                 : sqlstate::invalidRowCountInLimitClause,
                        isOffset ? "OFFSET must not be negative" : "LIMIT must not be negative");
      return static_cast<uint64_t>(value.i64);
   }

   SortedSource& source_;
   const sql::Expr* limit_;
   const sql::Expr* offset_;
};

} // namespace

std::vector<Stage> buildSorted(PlanBuilder& builder, const sql::plan::Node& node, const sql::Expr* limit,
                               const sql::Expr* offset) {
   const sql::plan::Node& child = *node.children[0];
   std::vector<Stage> input = builder.produce(child);
   SortInput sortInput =
       makeSortInput(child.output, node.output, sortOrders(node.sortKeys), builder.context().columns());
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
   return buildSorted(builder, node, nullptr, nullptr);
}

} // namespace ouzel::executor
