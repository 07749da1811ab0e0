#include "executor/kernel/compare.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/project.hpp"
#include "executor/pipeline/plan_builder.hpp"

// DISTINCT ON over sorted input: the first row of each group passes. One lane, since the input is in order.

namespace ouzel::executor {

namespace {

struct Local final : LocalState {
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
   bool hasLast = false;
   std::vector<Value> last; // key values of the last row before this batch
};

bool sameValue(const Vector& column, uint32_t a, uint32_t b) {
   const uint32_t positionA = column.positionOf(a), positionB = column.positionOf(b);
   if (positionA == positionB) return true;
   const bool isNull = !isValidBit(column.validity, positionA);
   if (isNull || !isValidBit(column.validity, positionB)) return isNull && !isValidBit(column.validity, positionB);
   const auto* values = static_cast<const std::byte*>(column.data);
   const size_t width = physicalSize(column.type);
   return valueEquality(column.type)(values + positionA * width, values + positionB * width);
}

bool sameValue(const Vector& column, uint32_t row, const Value& value) {
   if (column.isNull(row) || value.isNull) return column.isNull(row) && value.isNull;
   alignas(16) std::byte bytes[16];
   value.store(bytes);
   return valueEquality(column.type)(
       static_cast<const std::byte*>(column.data) + size_t{column.positionOf(row)} * physicalSize(column.type), bytes);
}

class DistinctOn final : public StreamingOperator {
public:
   explicit DistinctOn(std::vector<uint32_t> slots) : slots_(std::move(slots)) {}
   LocalStatePtr makeLocal(QueryContext&) override { return std::make_unique<Local>(); }
   OperatorStatus process(QueryContext&, LocalState& state, const Batch& in, Batch& out) override {
      auto& local = static_cast<Local&>(state);
      out.columns = in.columns;
      out.rowCount = in.rowCount;
      const uint32_t count = in.liveRows();
      uint32_t passed = 0;
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t row = in.selection.row(i);
         if (isFirst(local, in, i, row)) local.rows[passed++] = static_cast<RowIndex>(row);
      }
      out.selection = passed == count ? in.selection : Selection::list(local.rows.data(), passed);
      if (count > 0) keep(local, in, in.selection.row(count - 1));
      return OperatorStatus::NeedInput;
   }

private:
   bool isFirst(const Local& local, const Batch& in, uint32_t i, uint32_t row) const {
      if (i == 0) {
         if (!local.hasLast) return true;
         for (size_t k = 0; k < slots_.size(); ++k)
            if (!sameValue(in.columns[slots_[k]], row, local.last[k])) return true;
         return false;
      }
      const uint32_t before = in.selection.row(i - 1);
      for (const uint32_t slot : slots_)
         if (!sameValue(in.columns[slot], row, before)) return true;
      return false;
   }
   void keep(Local& local, const Batch& in, uint32_t row) const {
      local.hasLast = true;
      local.last.clear();
      for (const uint32_t slot : slots_)
         local.last.push_back(Value::fromVector(in.columns[slot], row));
   }

   const std::vector<uint32_t> slots_;
};

} // namespace

std::vector<Stage> buildDistinctOn(PlanBuilder& builder, const sql::plan::Node& node) {
   const std::vector<sql::ColumnId>& layout = node.children[0]->output;
   std::vector<Stage> stages = builder.produce(*node.children[0]);
   const std::vector<sql::ColumnId>& columns = node.as<sql::plan::DistinctOn>().columns;
   PlanBuilder::append(stages, builder.own<DistinctOn>(slotsOf(columns, layout)), builder.profileOf(node));
   if (node.output != layout) PlanBuilder::append(stages, makeColumnPick(builder, layout, node.output), UINT32_MAX);
   return stages;
}

} // namespace ouzel::executor
