#include <atomic>
#include <optional>

#include "executor/expression/evaluator.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/project.hpp"
#include "executor/operator/sort/sort_sink.hpp"
#include "executor/pipeline/plan_builder.hpp"

// LIMIT and OFFSET over input in order (one lane) or in any order, and FETCH FIRST ... WITH TIES.

namespace ouzel::executor {

namespace {

struct Local final : LocalState {
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
};

/// Takes the row that says which rows pass, where subqueries compute the bounds.
class BoundsSink final : public Sink {
public:
   BoundsSink(const sql::plan::Limit& plan, const std::vector<sql::ColumnId>& columns)
      : offset_(plan.offset.get(), columns), limit_(plan.limit.get(), columns) {}

   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<LocalState>(); }
   SinkStatus consume(QueryContext&, LocalState&, const Batch& in) override {
      if (in.liveRows() == 0) return SinkStatus::NeedInput;
      for (Bound* bound : {&offset_, &limit_}) // one lane has the only row
         if (bound->slot) bound->value = Value::fromVector(in.columns[*bound->slot], in.selection.row(0));
      return SinkStatus::Done;
   }
   void finish(QueryContext& context) override {
      for (Bound* bound : {&offset_, &limit_})
         if (bound->clause && !bound->slot)
            bound->value = ExpressionEvaluator(context.functions(), context.memory()).evaluate(*bound->clause);
      range_ = RowRange::of(offset_.known(), limit_.known());
      end_ = range_.end();
   }
   /// After finish().
   const RowRange& range() const { return range_; }
   const uint64_t& end() const { return end_; }

private:
   struct Bound {
      Bound(const sql::Expr* expr, const std::vector<sql::ColumnId>& columns) : clause(expr) {
         if (expr && expr->kind == sql::ExprKind::Column) slot = slotsOf({columnOf(*expr)}, columns).front();
      }
      const Value* known() const { return value ? &*value : nullptr; }

      const sql::Expr* clause;
      std::optional<uint32_t> slot; ///< the clause is a column of the row
      std::optional<Value> value;
   };

   Bound offset_, limit_;
   RowRange range_;
   uint64_t end_ = UINT64_MAX;
};

class Limit final : public StreamingOperator {
public:
   /// `bounds`: the range, if a pipeline computes it; else null.
   Limit(const sql::plan::Limit& plan, std::vector<uint32_t> tieSlots, const BoundsSink* bounds)
      : plan_(plan), tieSlots_(std::move(tieSlots)), bounds_(bounds) {}

   void prepare(QueryContext& context) override {
      if (isPrepared_) return; // prepare() is called for each stage; all stages count together
      isPrepared_ = true;
      range_ = bounds_ ? bounds_->range() : RowRange::evaluate(context, plan_.offset.get(), plan_.limit.get());
      if (!sorted_) return;
      sorted_->setRange(range_);
      range_.offset = 0;
   }
   /// The input is a SortedSource, which applies OFFSET and LIMIT itself.
   void setSource(SortedSource& sorted) { sorted_ = &sorted; }
   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<Local>(); }
   OperatorStatus process(QueryContext& context, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<Local&>(state);
      if (plan_.withTies) return processTies(context, local, in, out);
      const uint32_t rows = in.liveRows();
      // Rows are numbered in order of arrival; those of the range pass.
      const uint64_t first = seen_.fetch_add(rows);
      const uint64_t end = range_.end();
      const uint64_t from = std::min<uint64_t>(rows, range_.offset > first ? range_.offset - first : 0);
      const uint64_t to = std::min<uint64_t>(rows, end > first ? end - first : 0);
      pick(local, in, out, static_cast<uint32_t>(from), static_cast<uint32_t>(std::max(from, to)));
      return first + rows >= end ? OperatorStatus::Done : OperatorStatus::NeedInput;
   }

private:
   static void pick(Local& local, const Batch& in, Batch& out, uint32_t from, uint32_t to) {
      DCHECK(from <= to);
      DCHECK(to <= in.liveRows());
      out.columns = in.columns;
      out.rowCount = in.rowCount;
      if (from == 0 && to == in.liveRows()) {
         out.selection = in.selection;
         return;
      }
      for (uint32_t i = from; i < to; ++i)
         local.rows[i - from] = in.selection.row(i);
      out.selection = Selection::list(local.rows.data(), to - from);
   }
   /// REQUIRES: one lane, since the input is sorted.
   OperatorStatus processTies(QueryContext&, Local& local, const Batch& in, Batch& out) {
      const uint64_t end = range_.end();
      uint32_t from = UINT32_MAX, to = 0;
      bool isDone = range_.limit == 0;
      for (uint32_t i = 0; i < in.liveRows() && !isDone; ++i) {
         const uint64_t number = seen_.fetch_add(1);
         if (number >= end && !tiesWithLast(in, in.selection.row(i))) {
            isDone = true;
            break;
         }
         if (number >= range_.offset) {
            from = std::min(from, i);
            to = i + 1;
         }
         if (number + 1 == end) keepLast(in, in.selection.row(i));
      }
      if (from == UINT32_MAX) from = to = 0;
      pick(local, in, out, from, to);
      return isDone ? OperatorStatus::Done : OperatorStatus::NeedInput;
   }
   void keepLast(const Batch& in, uint32_t row) {
      last_.clear();
      for (const uint32_t slot : tieSlots_)
         last_.push_back(Value::fromVector(in.columns[slot], row));
   }
   bool tiesWithLast(const Batch& in, uint32_t row) const {
      for (size_t i = 0; i < tieSlots_.size(); ++i) {
         const Vector& column = in.columns[tieSlots_[i]];
         if (column.isNull(row) != last_[i].isNull) return false;
         if (last_[i].isNull) continue;
         alignas(16) unsigned char bytes[16];
         last_[i].store(bytes);
         const auto* value = static_cast<const unsigned char*>(column.data) +
                             size_t{column.positionOf(row)} * physicalSize(column.type);
         if (!valueEquality(column.type)(value, bytes)) return false;
      }
      return true;
   }

   const sql::plan::Limit& plan_;
   const std::vector<uint32_t> tieSlots_;
   const BoundsSink* const bounds_;
   SortedSource* sorted_ = nullptr;
   bool isPrepared_ = false;
   RowRange range_;
   std::atomic<uint64_t> seen_{0};
   std::vector<Value> last_;
};

uint64_t endOf(PlanBuilder& builder, const sql::plan::Limit& plan) {
   return RowRange::evaluate(builder.context(), plan.offset.get(), plan.limit.get()).end();
}

} // namespace

std::vector<Stage> buildLimit(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& plan = node.as<sql::plan::Limit>();
   const sql::plan::Node& child = *node.children[0];
   BoundsSink* bounds = nullptr;
   if (node.children.size() > 1) {
      bounds = builder.own<BoundsSink>(plan, node.children[1]->output);
      builder.addPipeline(builder.produce(*node.children[1]), bounds, UINT32_MAX);
   }
   if (child.kind == sql::plan::NodeKind::LockRows && !plan.withTies)
      builder.rowsWanted[&child] = bounds ? &bounds->end() : builder.own<uint64_t>(endOf(builder, plan));
   std::vector<Stage> stages = builder.produce(child);
   std::vector<sql::ColumnId> ties;
   if (plan.withTies)
      for (const sql::SortKey& key : plan.keys) {
         if (key.expr->kind != sql::ExprKind::Column) throwNotSupported("WITH TIES over an expression");
         ties.push_back(columnOf(*key.expr));
      }
   auto* limit = builder.own<Limit>(plan, slotsOf(ties, node.children[0]->output), bounds);
   if (child.kind == sql::plan::NodeKind::Sort && !plan.withTies)
      limit->setSource(static_cast<SortedSource&>(*stages[0].source));
   PlanBuilder::append(stages, limit, builder.profileOf(node));
   if (node.output != node.children[0]->output)
      PlanBuilder::append(stages, makeColumnPick(builder, node.children[0]->output, node.output), UINT32_MAX);
   return stages;
}

} // namespace ouzel::executor
