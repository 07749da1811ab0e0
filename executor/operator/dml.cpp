#include <algorithm>

#include "common/type/text_codec.hpp"
#include "executor/kernel/select.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/plan_builder.hpp"
#include "executor/schedule/running_query_state.hpp"
#include "storage/table/table.hpp"
#include "storage/transaction/transaction.hpp"

// INSERT, UPDATE (delete the old row, insert the new one) and DELETE. RETURNING rows are kept until all writing is
// done.

namespace ouzel::executor {

namespace {

/// From how many expected rows on an insert builds blocks at once.
constexpr double bulkRows = 20'000;

struct Local final : LocalState {
   std::unique_ptr<storage::Appender> appender;
   std::vector<ExpressionState> checks;
   std::unique_ptr<ExpressionState> returning;
   std::unique_ptr<BatchBuilder> returned;
   std::vector<storage::RowId> ids;
   std::vector<uint8_t> deletedNow;
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax), failing = std::vector<RowIndex>(batchRowsMax);
   std::vector<Vector> values;
};

class DmlSink final : public Sink {
public:
   DmlSink(PlanBuilder& builder, const sql::plan::Node& node, RowBuffer& returned);

   LocalStatePtr makeLocal(QueryContext& context) override;
   SinkStatus consume(QueryContext& context, LocalState& local, const Batch& in) override;
   void combine(QueryContext& context, LocalState& local) override;

private:
   uint32_t slotOfAttribute(int16_t attribute) const;
   Selection deleteRows(QueryContext& context, Local& local, const Batch& in);
   void checkRows(Local& local, const Batch& in, Selection rows, QueryContext& context);
   void insertRows(Local& local, const Batch& in, Selection rows);
   [[noreturn]] void failRow(const Batch& in, uint32_t row, const sql::Dml::Check& check, QueryContext& context) const;

   const sql::plan::Node& node_;
   const sql::Dml& dml_;
   const sql::ColumnTable& columns_;
   const ColumnSlots slots_;
   storage::Table* table_;
   std::vector<std::shared_ptr<const ExpressionProgram>> checks_; // null for NOT NULL
   std::shared_ptr<const ExpressionProgram> returning_;
   std::vector<Representation> returningColumns_;
   RowBuffer& returned_;
   std::vector<int> sources_; // by storage column: input slot, -1: dropped
   std::vector<Representation> stored_;
};

DmlSink::DmlSink(PlanBuilder& builder, const sql::plan::Node& node, RowBuffer& returned)
   : node_(node), dml_(*node.dml), columns_(builder.context().columns()), slots_(std::span(node.children[0]->output)),
     table_(builder.context().execution.table(node.dml->table.storageId)), returned_(returned) {
   for (const sql::Dml::Check& check : dml_.checks)
      checks_.push_back(check.expr ? ExpressionProgram::compile(*check.expr, slots_, columns_) : nullptr);
   std::vector<const sql::Expr*> exprs;
   for (const sql::ComputedColumn& column : dml_.returning) {
      exprs.push_back(column.expr.get());
      returningColumns_.push_back(columns_[column.column].repr);
   }
   if (!exprs.empty()) returning_ = ExpressionProgram::compile(std::span(exprs), slots_, columns_);
   const auto stored = table_->columns();
   for (size_t i = 0; i < stored->size(); ++i) {
      const auto target = std::find_if(dml_.target.begin(), dml_.target.end(), [&](const sql::GetColumn& column) {
         return column.attribute == static_cast<int16_t>(i + 1);
      });
      sources_.push_back(target == dml_.target.end() ? -1 : static_cast<int>(*slots_.find(target->column)));
      stored_.push_back((*stored)[i].representation);
   }
}

LocalStatePtr DmlSink::makeLocal(QueryContext& context) {
   auto local = std::make_unique<Local>();
   for (const auto& check : checks_)
      if (check) local->checks.emplace_back(check, context.functions(), &context.memory());
   if (returning_) {
      local->returning = std::make_unique<ExpressionState>(returning_, context.functions(), &context.memory());
      local->returned = std::make_unique<BatchBuilder>(returningColumns_, context.memory());
   }
   if (node_.kind != sql::plan::NodeKind::Delete)
      local->appender = table_->appender(*context.execution.transaction, node_.children[0]->estimatedRows >= bulkRows
                                                                             ? storage::AppendMode::Bulk
                                                                             : storage::AppendMode::Small);
   return local;
}

SinkStatus DmlSink::consume(QueryContext& context, LocalState& state, const Batch& in) {
   auto& local = static_cast<Local&>(state);
   Selection rows = in.selection;
   if (node_.kind != sql::plan::NodeKind::Delete) checkRows(local, in, rows, context);
   if (node_.kind != sql::plan::NodeKind::Insert) rows = deleteRows(context, local, in);
   if (node_.kind != sql::plan::NodeKind::Delete) insertRows(local, in, rows);
   context.query.addAffected(rows.count());
   if (!returning_ || rows.count() == 0) return SinkStatus::NeedInput;
   Batch result;
   result.columns.resize(returningColumns_.size());
   Batch live = in;
   live.selection = rows;
   returning_->evaluateAll(*local.returning, live, rows, result.columns.data());
   result.rowCount = in.rowCount;
   result.selection = rows;
   std::vector<uint32_t> identity(returningColumns_.size());
   for (uint32_t i = 0; i < identity.size(); ++i)
      identity[i] = i;
   for (uint32_t taken = 0; taken < rows.count();) {
      taken += local.returned->append(result, identity, taken);
      if (local.returned->isFull()) returned_.add(local.returned->take());
   }
   return SinkStatus::NeedInput;
}

void DmlSink::combine(QueryContext&, LocalState& state) {
   auto& local = static_cast<Local&>(state);
   if (local.appender) local.appender->finish();
   if (local.returned)
      if (auto rest = local.returned->take()) returned_.add(std::move(rest));
}

/// Marks the rows as deleted; gives those that were not yet (an UPDATE ... FROM may meet a row twice: the first
/// counts).
Selection DmlSink::deleteRows(QueryContext& context, Local& local, const Batch& in) {
   const Vector& ids = in.columns[*slots_.find(dml_.rowId)];
   local.ids.clear();
   forEachRow(in.selection,
              [&](uint32_t row) { local.ids.push_back(static_cast<storage::RowId>(ids.value<int64_t>(row))); });
   local.deletedNow.assign(local.ids.size(), 0);
   table_->deleteRows(*context.execution.transaction, *context.execution.snapshot, local.ids, local.deletedNow);
   const uint32_t kept = selectFlagged(local.deletedNow.data(), nullptr, in.selection, local.rows.data());
   return narrowed(in.selection, local.rows.data(), kept);
}

void DmlSink::checkRows(Local& local, const Batch& in, Selection rows, QueryContext& context) {
   size_t program = 0;
   for (size_t i = 0; i < dml_.checks.size(); ++i) {
      const sql::Dml::Check& check = dml_.checks[i];
      uint32_t failing;
      if (checks_[i]) {
         const Vector holds = checks_[i]->evaluate(local.checks[program++], in, rows);
         failing = selectFalse(holds, rows, local.failing.data());
      } else {
         const Vector& column = in.columns[slotOfAttribute(check.notNullAttribute)];
         if (!column.mayHaveNulls()) continue;
         failing = selectNull(column, rows, local.failing.data());
      }
      if (failing > 0) failRow(in, local.failing[0], check, context);
   }
}

uint32_t DmlSink::slotOfAttribute(int16_t attribute) const {
   return static_cast<uint32_t>(sources_[static_cast<size_t>(attribute - 1)]);
}

void DmlSink::failRow(const Batch& in, uint32_t row, const sql::Dml::Check& check, QueryContext& context) const {
   std::string detail = "Failing row contains (";
   bool first = true;
   for (const sql::GetColumn& target : dml_.target) {
      if (!std::exchange(first, false)) detail += ", ";
      const uint32_t slot = *slots_.find(target.column);
      const Vector& column = in.columns[slot];
      if (column.isNull(row)) {
         detail += "null";
         continue;
      }
      std::string text;
      const auto* value =
          static_cast<const char*>(column.data) + size_t{column.positionOf(row)} * physicalSize(column.type);
      appendText(text, columns_[target.column].type, columns_[target.column].repr, value, *context.functions().format);
      detail += text.size() > 64 ? text.substr(0, 64) + "..." : text;
   }
   detail += ").";
   if (check.notNullAttribute != 0)
      throw SqlError(sqlstate::notNullViolation, "null value in column \"" + check.column + "\" of relation \"" +
                                                     dml_.table.name + "\" violates not-null constraint")
          .detail(detail)
          .table(dml_.table.schema, dml_.table.name)
          .column(check.column);
   throw SqlError(sqlstate::checkViolation, "new row for relation \"" + dml_.table.name +
                                                "\" violates check constraint \"" + check.constraint + "\"")
       .detail(detail)
       .table(dml_.table.schema, dml_.table.name)
       .constraint(check.constraint);
}

void DmlSink::insertRows(Local& local, const Batch& in, Selection rows) {
   static constexpr ValidityWord absent = 0;
   alignas(16) static constexpr std::byte zeros[16] = {};
   Batch stored;
   for (size_t i = 0; i < sources_.size(); ++i)
      stored.columns.push_back(sources_[i] >= 0 ? in.columns[static_cast<size_t>(sources_[i])]
                                                : Vector::constant(stored_[i].physical, zeros, &absent));
   stored.rowCount = in.rowCount;
   stored.selection = rows;
   local.appender->append(stored);
}

std::vector<Stage> buildDml(PlanBuilder& builder, const sql::plan::Node& node) {
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   auto* returned = builder.own<RowBuffer>();
   builder.addPipeline(std::move(stages), builder.own<DmlSink>(builder, node, *returned), builder.profileOf(node));
   std::vector<uint32_t> slots;
   for (uint32_t i = 0; i < node.output.size(); ++i)
      slots.push_back(i);
   Stage stage;
   stage.source = builder.own<BufferSource>(*returned, std::move(slots), true);
   std::vector<Stage> out;
   out.push_back(std::move(stage));
   return out;
}

} // namespace

std::vector<Stage> buildInsert(PlanBuilder& builder, const sql::plan::Node& node) {
   return buildDml(builder, node);
}
std::vector<Stage> buildUpdate(PlanBuilder& builder, const sql::plan::Node& node) {
   return buildDml(builder, node);
}
std::vector<Stage> buildDelete(PlanBuilder& builder, const sql::plan::Node& node) {
   return buildDml(builder, node);
}

} // namespace ouzel::executor
