#include <algorithm>

#include "executor/function/table/table_function.hpp"
#include "executor/operator/build.hpp"
#include "executor/pipeline/plan_builder.hpp"

// Set-returning functions: in FROM (alone or per row of an input) and in the select list, where several advance in
// lockstep.

namespace ouzel::executor {

namespace {

/// One call with the columns it gives.
struct Call {
   const catalog::FunctionInfo* function = nullptr;
   std::vector<const sql::Expr*> args;
   std::vector<sql::ColumnId> columns;
   std::shared_ptr<const ExpressionProgram> program; ///< evaluates the arguments

   void compile(PlanBuilder& builder, const ColumnSlots& slots) {
      program = ExpressionProgram::compile(std::span<const sql::Expr* const>(args), slots, builder.context().columns());
   }
   TableFunctionSignature signature(const sql::ColumnTable& table) const {
      TableFunctionSignature out;
      out.function = function;
      for (const sql::Expr* arg : args) {
         out.argTypes.push_back(arg->type);
         out.argReprs.push_back(arg->repr);
      }
      for (const sql::ColumnId column : columns) {
         out.resultTypes.push_back(table[column].type);
         out.resultReprs.push_back(table[column].repr);
      }
      return out;
   }
};

struct CallState {
   CallState(const Call& call, QueryContext& context)
      : function(makeTableFunction(call.signature(context.columns()), context.functions(), context.memory())),
        args(call.program, context.functions(), context.memory()), values(call.args.size()),
        columns(call.columns.size()) {}
   std::unique_ptr<TableFunction> function;
   ExpressionState args;
   std::vector<Vector> values;
   std::vector<Vector> columns; ///< columns of the rows fetched last
   bool hasEnded = false;
};

struct Local final : LocalState {
   std::vector<std::unique_ptr<CallState>> calls;
   uint32_t row = 0; ///< live row of the input being expanded
   bool inRow = false, started = false;
   uint64_t number = 0; ///< number of rows given for the input row, for ORDINALITY
   std::vector<int64_t> ordinality = std::vector<int64_t>(batchRowsMax);
   std::vector<std::vector<uint16_t>> codes; ///< by output column: dictionary codes; positions differ between columns
   std::vector<ValidityWord> absent = std::vector<ValidityWord>(1, 0);
   alignas(16) std::byte zeros[16] = {};
};

/// Expands each input row into the rows that its calls give. Columns of the input are repeated.
class Expand final : public StreamingOperator {
public:
   Expand(std::vector<Call> calls, sql::ColumnId ordinality, std::vector<sql::ColumnId> output,
          const std::vector<sql::ColumnId>& input)
      : calls_(std::move(calls)), ordinality_(ordinality), output_(std::move(output)), slots_(std::span(input)) {}

   LocalStatePtr makeLocal(QueryContext& context) override {
      auto local = std::make_unique<Local>();
      for (const Call& call : calls_)
         local->calls.push_back(std::make_unique<CallState>(call, context));
      return local;
   }

   OperatorStatus process(QueryContext& context, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<Local&>(state);
      out.setDense(0);
      if (!local.started) {
         // Evaluate the arguments for the whole batch; the values stay valid while the batch's rows are expanded.
         for (size_t i = 0; i < calls_.size(); ++i)
            calls_[i].program->evaluateAll(local.calls[i]->args, in, in.selection, local.calls[i]->values.data());
         local.started = true;
         local.row = 0;
         local.inRow = false;
      }
      while (local.row < in.liveRows()) {
         context.checkCancelled();
         const uint32_t inputRow = in.selection.row(local.row);
         if (!local.inRow) {
            for (const auto& call : local.calls) {
               call->function->begin(call->values, inputRow);
               call->hasEnded = false;
            }
            local.inRow = true;
            local.number = 0;
         }
         const uint32_t rows = fetch(context, local);
         if (rows > 0) {
            emit(local, in, inputRow, rows, out);
            return OperatorStatus::HaveOutput;
         }
         local.inRow = false;
         ++local.row;
      }
      local.started = false;
      return OperatorStatus::NeedInput;
   }

private:
   /// Fetch the next rows of all calls. A call that has ended gives NULLs as long as another call has rows. With
   /// several calls one row is fetched at a time, so that the calls stay in step.
   uint32_t fetch(QueryContext& context, Local& local) {
      const uint32_t wanted = calls_.size() == 1 ? context.settings().batchRows : 1;
      uint32_t rows = 0;
      for (const auto& call : local.calls) {
         if (call->hasEnded) continue;
         const uint32_t got = call->function->next(wanted, call->columns);
         if (got == 0) call->hasEnded = true;
         rows = std::max(rows, got);
      }
      return rows;
   }

   void emit(Local& local, const Batch& in, uint32_t inputRow, uint32_t rows, Batch& out) {
      out.columns.resize(output_.size());
      local.codes.resize(output_.size());
      for (size_t i = 0; i < output_.size(); ++i)
         out.columns[i] = column(local, in, inputRow, rows, output_[i], local.codes[i]);
      local.number += rows;
      out.setDense(rows);
   }

   Vector column(Local& local, const Batch& in, uint32_t inputRow, uint32_t rows, sql::ColumnId wanted,
                 std::vector<uint16_t>& codes) {
      for (size_t i = 0; i < calls_.size(); ++i)
         for (size_t k = 0; k < calls_[i].columns.size(); ++k)
            if (calls_[i].columns[k] == wanted) {
               const Vector& value = local.calls[i]->columns[k];
               if (!local.calls[i]->hasEnded) return value;
               return Vector::constant(value.type, local.zeros, local.absent.data());
            }
      if (wanted == ordinality_ && wanted != sql::noColumn) {
         for (uint32_t r = 0; r < rows; ++r)
            local.ordinality[r] = static_cast<int64_t>(local.number + r + 1);
         return Vector::flat(PhysicalType::I64, local.ordinality.data(), nullptr);
      }
      const auto slot = slots_.find(wanted);
      if (!slot) throwInternal("a column that no set-returning function gives");
      // Repeat the input row's value: a dictionary with one code for all rows.
      Vector repeated = in.columns[*slot];
      const uint32_t position = repeated.positionOf(inputRow);
      if (repeated.encoding == Encoding::Constant) return repeated;
      codes.resize(batchRowsMax);
      std::fill_n(codes.begin(), rows, static_cast<uint16_t>(position));
      if (repeated.encoding == Encoding::Flat) repeated.dictionarySize = in.rowCount;
      repeated.encoding = Encoding::Dictionary;
      repeated.codes = codes.data();
      return repeated;
   }

   const std::vector<Call> calls_;
   const sql::ColumnId ordinality_;
   const std::vector<sql::ColumnId> output_;
   const ColumnSlots slots_;
};

/// One row without columns: the input of a function in FROM that depends on no other table.
class OneRow final : public Source {
public:
   void prepare(QueryContext&) override { given_ = false; }
   uint32_t workersMax() const override { return 1; }
   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<LocalState>(); }
   SourceStatus next(QueryContext&, LocalState&, Batch& out) override {
      if (std::exchange(given_, true)) return SourceStatus::Done;
      out.columns.clear();
      out.setDense(1);
      return SourceStatus::HaveOutput;
   }

private:
   bool given_ = false;
};

} // namespace

std::vector<Stage> buildTableFunction(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& plan = node.as<sql::plan::TableFunction>();
   std::vector<Stage> stages;
   std::vector<sql::ColumnId> input;
   if (node.children.empty()) {
      stages.emplace_back().source = builder.own<OneRow>();
   } else {
      stages = builder.produce(*node.children[0]);
      input = node.children[0]->output;
   }
   Call call;
   call.function = plan.function;
   for (const sql::ExprPtr& arg : plan.args)
      call.args.push_back(arg.get());
   call.columns = plan.columns;
   call.compile(builder, ColumnSlots(std::span(input)));
   std::vector<Call> calls;
   calls.push_back(std::move(call));
   PlanBuilder::append(stages, builder.own<Expand>(std::move(calls), plan.ordinality, node.output, input),
                       builder.profileOf(node));
   return stages;
}

std::vector<Stage> buildProjectSet(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   const std::vector<sql::ColumnId>& input = node.children[0]->output;
   std::vector<Call> calls;
   for (const sql::ComputedColumn& computed : node.as<sql::plan::ProjectSet>().computed) {
      if (computed.expr->kind != sql::ExprKind::Call) throwInternal("a set-returning expression that is not a call");
      Call call;
      call.function = functionOf(*computed.expr);
      for (const sql::ExprPtr& arg : computed.expr->args)
         call.args.push_back(arg.get());
      call.columns = {computed.column};
      call.compile(builder, ColumnSlots(std::span(input)));
      calls.push_back(std::move(call));
   }
   PlanBuilder::append(stages, builder.own<Expand>(std::move(calls), sql::noColumn, node.output, input),
                       builder.profileOf(node));
   return stages;
}

} // namespace ouzel::executor
