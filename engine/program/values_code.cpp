#include <algorithm>
#include <array>

#include "common/number/decimal.hpp"
#include "common/type/row.hpp"
#include "engine/program/compiled_text.hpp"
#include "engine/program/program_query.hpp"
#include "optimizer/query/expr_lowering.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/known_null.hpp"

// Lists of expressions over variables: bound trees to compiled programs, which run over batches of one row.

namespace ouzel::engine {

using sql::Expr;
using sql::ExprKind;
using sql::ExprPtr;

Value asInRow(Value value, const SqlType& type, const Representation& repr) {
   if (type.oid != oid::numeric || repr.physical == PhysicalType::Decimal) return value;
   if (value.isNull) return Value::null(PhysicalType::Decimal);
   Arena arena;
   const int128 number = repr.physical == PhysicalType::I128 ? value.i128 : int128{value.i64};
   return Value::string(std::string(decimal::fromInt128(number, repr.scale, arena).view()), PhysicalType::Decimal);
}

namespace {

size_t volatileCalls(const Expr& expr) {
   size_t count = 0;
   sql::forEachExpr(expr, [&](const Expr& node) {
      const catalog::FunctionInfo* function = sql::functionOf(node);
      count += function && function->volatility == catalog::Volatility::Volatile;
      return true;
   });
   return count;
}

/// The expression of a column of Maps over one row without columns; null: it is none, or has a subquery.
ExprPtr composed(const sql::Rel& rel, sql::ColumnId column, const SqlType& type,
                 std::span<const ParameterSource> sources) {
   ExprPtr expr = sql::makeColumn(column, type);
   for (const sql::Rel* at = &rel; !sql::isUnit(*at); at = at->inputs[0].get()) {
      if (at->kind != sql::RelKind::Map) return nullptr;
      for (const sql::ComputedColumn& one : at->as<sql::op::Map>().computed)
         sql::substituteColumns(expr,
                                [&](sql::ColumnId read) { return read == one.column ? one.expr.get() : nullptr; });
   }
   bool isPlain = true;
   sql::forEachExpr(*expr, [&](const Expr& node) {
      // The blanks of a character without a length are handled where plans get their values.
      const auto* parameter = node.getIf<sql::scalar::Parameter>();
      const bool hasBlanks = parameter && node.type.oid == oid::bpchar && sources[parameter->number].type.typmod < 0;
      isPlain = isPlain && node.kind != ExprKind::Subquery && node.kind != ExprKind::Column && !hasBlanks;
      return isPlain;
   });
   return isPlain ? std::move(expr) : nullptr;
}

/// The number of volatile calls in the Maps of the query.
size_t volatileCalls(const sql::Rel& rel) {
   size_t count = 0;
   for (const sql::Rel* at = &rel; at->kind == sql::RelKind::Map; at = at->inputs[0].get())
      for (const sql::ComputedColumn& one : at->as<sql::op::Map>().computed)
         count += volatileCalls(*one.expr);
   return count;
}

/// Whether a part that reads no variable may have another value in the next execution.
bool hasStablePart(const Expr& expr, bool& readsVariable) {
   bool isStable = expr.kind == ExprKind::TextCast;
   if (const catalog::FunctionInfo* function = sql::functionOf(expr))
      isStable = function->volatility == catalog::Volatility::Stable;
   bool reads = expr.kind == ExprKind::Column, found = false;
   for (const ExprPtr& arg : expr.args)
      found |= hasStablePart(*arg, reads);
   readsVariable |= reads;
   return found || (isStable && !reads);
}

} // namespace

/// What one run at a time needs.
struct ValuesCode::State {
   static constexpr uint32_t rowsMax = 64;

   State(SessionCore& core, std::shared_ptr<const executor::ExpressionProgram> code, size_t columns)
      : memory(core.database.governor->ledger()), context(core.functionContext()),
        transaction(core.transaction.number()), program(std::move(code)), values(columns),
        results(program->expressionCount()) {
      batch.columns.resize(columns);
      batch.setDense(1);
   }

   Reservation memory;
   executor::FunctionContext context;
   uint64_t transaction; ///< for which the context was made
   std::shared_ptr<const executor::ExpressionProgram> program;
   std::optional<executor::ExpressionState> state;
   Batch batch;
   struct alignas(16) Slot {
      std::byte bytes[16];
   };
   std::vector<Slot> values;
   std::vector<Vector> results;
};

ValuesCode::~ValuesCode() = default;

std::unique_ptr<ValuesCode> ValuesCode::make(sql::BoundQuery query, std::vector<ParameterSource> sources) {
   if (!query.root || !query.relations.empty() || !query.access.empty() || query.kind != sql::StatementKind::Select ||
       query.hasRules() || query.output.empty())
      return nullptr;
   std::vector<ExprPtr> exprs;
   size_t calls = 0;
   for (const sql::OutputColumn& output : query.output) {
      ExprPtr expr = composed(*query.root, output.column, output.type, sources);
      if (!expr) return nullptr;
      sql::foldKnownNulls(expr);
      calls += volatileCalls(*expr);
      exprs.push_back(std::move(expr));
   }
   if (calls > 0 && (calls != volatileCalls(*query.root) || exprs.size() > 1)) return nullptr;
   std::vector<std::string> names;
   for (const sql::OutputColumn& output : query.output)
      names.push_back(output.name);
   return compile(std::move(exprs), names, query.columns, std::move(sources));
}

std::unique_ptr<ValuesCode> ValuesCode::compile(std::vector<ExprPtr> exprs, std::span<const std::string> names,
                                                sql::ColumnTable& columns, std::vector<ParameterSource> sources) {
   std::unique_ptr<ValuesCode> code(new ValuesCode());
   for (const ExprPtr& expr : exprs)
      code->isVolatile_ |= sql::isVolatile(*expr);
   code->isConstant_ = exprs.size() == 1 && exprs[0]->kind == ExprKind::Constant;
   if (exprs.size() == 1) code->scalar_ = ScalarCode::compile(*exprs[0], sources);

   std::vector<sql::ColumnId> layout;
   for (const ParameterSource& source : sources) {
      sql::ColumnInfo info;
      info.name = "variable";
      info.type = source.type;
      info.repr = storedRepresentation(source.type);
      if (source.type.oid == oid::numeric) info.repr = {PhysicalType::Decimal, 0};
      code->physicals_.push_back(info.repr.physical);
      layout.push_back(columns.add(std::move(info)));
   }
   std::vector<const Expr*> all;
   for (size_t i = 0; i < exprs.size(); ++i) {
      sql::rewriteExpr(exprs[i], [&](ExprPtr& expr) {
         const auto* parameter = expr->getIf<sql::scalar::Parameter>();
         if (parameter) expr = sql::makeColumn(layout.at(parameter->number), expr->type);
      });
      bool reads = false;
      code->hasStable_ |= hasStablePart(*exprs[i], reads);
      code->columns_.emplace_back(names[i], exprs[i]->type);
      optimizer::lowerAlone(exprs[i], columns);
      all.push_back(exprs[i].get());
   }
   code->program_ = executor::ExpressionProgram::compile(all, executor::ColumnSlots(layout), columns);
   code->sources_ = std::move(sources);
   return code;
}

std::vector<Value> ValuesCode::run(SessionCore& core, const Variables* variables) {
   std::vector<Value> row;
   if (scalar_ && variables) {
      row.push_back(scalar_->evaluate(*variables));
      return row;
   }
   std::unique_ptr<State> state; // an error drops it
   if (!idle_.empty()) {
      state = std::move(idle_.back());
      idle_.pop_back();
   }
   if (!state) state = std::make_unique<State>(core, program_, sources_.size());
   if (state->transaction != core.transaction.number()) {
      state->context = core.functionContext();
      state->transaction = core.transaction.number();
   }
   state->context.catalog = &core.transaction.catalog();
   state->context.statementStart = core.statementStart;
   if (!state->state || hasStable_) state->state.emplace(program_, state->context, state->memory, State::rowsMax);
   static constexpr ValidityWord noRow = 0;
   for (size_t i = 0; i < sources_.size(); ++i) {
      const Value& value = variables->at(sources_[i]).value;
      State::Slot& slot = state->values[i];
      slot = {};
      if (!value.isNull) value.store(&slot);
      DCHECK(value.isNull || value.type == physicals_[i]);
      state->batch.columns[i] = Vector::flat(physicals_[i], &slot, value.isNull ? &noRow : nullptr);
   }
   program_->evaluateAll(*state->state, state->batch, state->batch.selection, state->results.data());
   row.reserve(columns_.size());
   for (uint32_t i = 0; i < columns_.size(); ++i)
      row.push_back(asInRow(Value::fromVector(state->results[i], 0), columns_[i].second, program_->representation(i)));
   constexpr size_t statesMax = 32, bytesMax = 256 << 10;
   if (state->memory.used() <= bytesMax && idle_.size() < statesMax) idle_.push_back(std::move(state));
   return row;
}

} // namespace ouzel::engine
