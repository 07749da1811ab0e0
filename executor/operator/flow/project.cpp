#include "executor/operator/flow/project.hpp"

#include <algorithm>
#include <optional>

#include "executor/operator/build.hpp"

// Filter and Project.

namespace ouzel::executor {

namespace {

struct ExpressionLocal final : LocalState {
   ExpressionLocal(std::shared_ptr<const ExpressionProgram> program, QueryContext& context)
      : state(std::move(program), context.functions(), context.memory()), rows(batchRowsMax) {}
   ExpressionState state;
   std::vector<RowIndex> rows;
   std::vector<Vector> values;
};

class Filter final : public StreamingOperator {
public:
   Filter(std::shared_ptr<const ExpressionProgram> program, bool isVolatile)
      : program_(std::move(program)), isVolatile_(isVolatile) {}
   bool takesAnyOrder() const override { return !isVolatile_; }
   LocalStatePtr makeLocal(QueryContext& context) override {
      return std::make_unique<ExpressionLocal>(program_, context);
   }
   OperatorStatus process(QueryContext&, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<ExpressionLocal&>(state);
      out.columns = in.columns;
      out.rowCount = in.rowCount;
      out.selection = program_->filter(local.state, in, in.selection, local.rows.data());
      return OperatorStatus::NeedInput;
   }

private:
   const std::shared_ptr<const ExpressionProgram> program_;
   const bool isVolatile_; // such as nextval(): rows are numbered in their order
};

class Project final : public StreamingOperator {
public:
   /// Output column i is input slot `passed`, or expression `computed` of the program.
   struct Column {
      std::optional<uint32_t> passed;
      uint32_t computed = 0;
   };
   Project(std::shared_ptr<const ExpressionProgram> program, std::vector<Column> columns, bool isVolatile)
      : program_(std::move(program)), columns_(std::move(columns)), isVolatile_(isVolatile) {}
   bool takesAnyOrder() const override { return !isVolatile_; }
   LocalStatePtr makeLocal(QueryContext& context) override {
      auto local = std::make_unique<ExpressionLocal>(program_, context);
      local->values.resize(program_->expressionCount());
      return local;
   }
   OperatorStatus process(QueryContext&, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<ExpressionLocal&>(state);
      if (!local.values.empty()) program_->evaluateAll(local.state, in, in.selection, local.values.data());
      out.columns.resize(columns_.size());
      for (size_t i = 0; i < columns_.size(); ++i)
         out.columns[i] = columns_[i].passed ? in.columns[*columns_[i].passed] : local.values[columns_[i].computed];
      out.rowCount = in.rowCount;
      out.selection = in.selection;
      return OperatorStatus::NeedInput;
   }

private:
   const std::shared_ptr<const ExpressionProgram> program_;
   const std::vector<Column> columns_;
   const bool isVolatile_;
};

} // namespace

std::vector<Stage> buildFilter(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   const std::vector<sql::ExprPtr>& predicates = node.as<sql::plan::Filter>().predicates;
   PlanBuilder::append(stages, makeFilter(builder, predicates, node.children[0]->output), builder.profileOf(node));
   // A filter may give fewer or reordered columns than its child.
   if (node.output != node.children[0]->output)
      PlanBuilder::append(stages, makeColumnPick(builder, node.children[0]->output, node.output), UINT32_MAX);
   return stages;
}

StreamingOperator* makeFilter(PlanBuilder& builder, const std::vector<sql::ExprPtr>& predicates,
                              const std::vector<sql::ColumnId>& layout) {
   const bool isVolatile = std::any_of(predicates.begin(), predicates.end(),
                                       [](const sql::ExprPtr& predicate) { return sql::isVolatile(*predicate); });
   return builder.own<Filter>(
       ExpressionProgram::compileConjunction(predicates, ColumnSlots{std::span(layout)}, builder.context().columns()),
       isVolatile);
}

std::vector<Stage> buildProject(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   const ColumnSlots slots{std::span(node.children[0]->output)};
   std::vector<const sql::Expr*> exprs;
   std::vector<Project::Column> columns;
   const std::vector<sql::ComputedColumn>& all = node.as<sql::plan::Project>().computed;
   for (const sql::ColumnId column : node.output) {
      Project::Column target;
      const auto computed =
          std::find_if(all.begin(), all.end(), [&](const sql::ComputedColumn& c) { return c.column == column; });
      if (computed != all.end()) {
         target.computed = static_cast<uint32_t>(exprs.size());
         exprs.push_back(computed->expr.get());
      } else {
         target.passed = slots.find(column);
         if (!target.passed) throwInternal("a projected column that nothing gives");
      }
      columns.push_back(target);
   }
   for (const sql::ComputedColumn& column : all) // volatile calls without readers
      if (std::find(node.output.begin(), node.output.end(), column.column) == node.output.end())
         exprs.push_back(column.expr.get());
   const bool isVolatile =
       std::any_of(exprs.begin(), exprs.end(), [](const sql::Expr* expr) { return sql::isVolatile(*expr); });
   auto program = ExpressionProgram::compile(std::span(exprs), slots, builder.context().columns());
   PlanBuilder::append(stages, builder.own<Project>(std::move(program), std::move(columns), isVolatile),
                       builder.profileOf(node));
   return stages;
}

StreamingOperator* makeColumnPick(PlanBuilder& builder, const std::vector<sql::ColumnId>& from,
                                  const std::vector<sql::ColumnId>& to) {
   std::vector<Project::Column> columns;
   for (const uint32_t slot : slotsOf(to, from))
      columns.push_back({slot, 0});
   return builder.own<Project>(
       ExpressionProgram::compile(std::span<const sql::Expr* const>(), ColumnSlots(), builder.context().columns()),
       std::move(columns), false);
}

} // namespace ouzel::executor
