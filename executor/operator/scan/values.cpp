#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/pipeline/plan_builder.hpp"

// VALUES, and the single row without columns that a query without FROM reads.

namespace ouzel::executor {

namespace {

/// Evaluates all rows in prepare(), since expressions may be volatile or stable, and may fail.
class ValuesSource final : public Source {
public:
   ValuesSource(const sql::plan::Values& plan, std::vector<Representation> columns)
      : plan_(plan), columns_(std::move(columns)), buffered_(buffer_, identitySlots(columns_.size()), true) {}

   void prepare(QueryContext& context) override {
      given_ = 0;
      buffer_.clear();
      if (columns_.empty()) return;
      BatchBuilder builder(columns_, context.memory());
      std::vector<uint32_t> slots = identitySlots(columns_.size());
      Batch one;
      one.setDense(1);
      for (const auto& row : plan_.rows) {
         std::vector<const sql::Expr*> exprs;
         for (const sql::ExprPtr& expr : row)
            exprs.push_back(expr.get());
         auto program = ExpressionProgram::compile(std::span(exprs), ColumnSlots(), context.columns());
         ExpressionState state(program, context.functions(), context.memory());
         Batch values;
         values.columns.resize(exprs.size());
         program->evaluateAll(state, one, one.selection, values.columns.data());
         values.setDense(1);
         if (builder.isFull()) buffer_.add(builder.take());
         builder.append(values, slots, 0);
      }
      if (auto rest = builder.take()) buffer_.add(std::move(rest));
      buffered_.prepare(context);
   }
   uint32_t workersMax() const override { return 1; }
   LocalStatePtr makeLocal(QueryContext& context) override { return buffered_.makeLocal(context); }
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override {
      if (!columns_.empty()) return buffered_.next(context, local, out);
      // Rows without columns are only counted.
      const size_t left = plan_.rows.size() - given_;
      if (left == 0) return SourceStatus::Done;
      const uint32_t count = static_cast<uint32_t>(std::min<size_t>(left, context.settings().batchRows));
      out.columns.clear();
      out.setDense(count);
      given_ += count;
      return SourceStatus::HaveOutput;
   }

private:
   const sql::plan::Values& plan_;
   const std::vector<Representation> columns_;
   BatchStore buffer_;
   BatchStoreSource buffered_;
   size_t given_ = 0;
};

} // namespace

std::vector<Stage> buildValues(PlanBuilder& builder, const sql::plan::Node& node) {
   Stage stage;
   stage.source = builder.own<ValuesSource>(node.as<sql::plan::Values>(),
                                            representationsOf(node.output, builder.context().columns()));
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

} // namespace ouzel::executor
