#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/scan/scan_stages.hpp"
#include "executor/pipeline/plan_builder.hpp"

// Scans of computed tables: pg_class, ouzel_stat_memory, ...

namespace ouzel::executor {

namespace {

/// Stores all rows in prepare(): system tables are small, and their producers push rows.
class VirtualScan final : public Source {
public:
   VirtualScan(const sql::plan::VirtualScan& plan, std::vector<sql::ColumnId> layout, const sql::ColumnTable& columns)
      : plan_(plan), columns_(representationsOf(layout, columns)),
        buffered_(buffer_, identitySlots(layout.size()), true) {}

   void prepare(QueryContext& context) override {
      buffer_.clear();
      std::vector<int16_t> attributes;
      for (const sql::plan::ScanColumn& column : plan_.columns)
         attributes.push_back(column.attribute);
      // A scan for count(*) reads no column; ask for one column, so that there are rows to count.
      if (attributes.empty()) attributes.push_back(1);
      BatchBuilder builder(columns_, context.memory());
      const std::vector<uint32_t> slots = identitySlots(columns_.size());
      count_ = 0;
      context.execution.virtualTable(plan_.table.relation, attributes, [&](std::vector<Value>& row) {
         context.checkCancelled();
         ++count_;
         if (columns_.empty()) return;
         Batch one;
         alignas(16) std::byte bytes[16 * 64];
         std::vector<std::byte> more;
         std::byte* place = bytes;
         if (row.size() > 64) {
            more.resize(row.size() * 16 + 16);
            place = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(more.data()) + 15) & ~uintptr_t{15});
         }
         static constexpr ValidityWord absent = 0;
         for (size_t i = 0; i < columns_.size(); ++i) {
            std::byte* target = place + i * 16;
            std::memset(target, 0, 16);
            if (!row[i].isNull) row[i].store(target);
            one.columns.push_back(Vector::flat(columns_[i].physical, target, row[i].isNull ? &absent : nullptr));
         }
         one.setDense(1);
         if (builder.isFull()) buffer_.add(builder.take());
         builder.append(one, slots, 0);
      });
      if (auto rest = builder.take()) buffer_.add(std::move(rest));
      buffered_.prepare(context);
   }
   uint32_t workersMax() const override { return 1; }
   LocalStatePtr makeLocal(QueryContext& context) override { return buffered_.makeLocal(context); }
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override {
      if (!columns_.empty()) return buffered_.next(context, local, out);
      if (count_ == 0) return SourceStatus::Done;
      const uint32_t rows = static_cast<uint32_t>(std::min<uint64_t>(count_, context.settings().batchRows));
      out.columns.clear();
      out.setDense(rows);
      count_ -= rows;
      return SourceStatus::HaveOutput;
   }

private:
   const sql::plan::VirtualScan& plan_;
   const std::vector<Representation> columns_;
   BatchStore buffer_;
   BatchStoreSource buffered_;
   uint64_t count_ = 0;
};

} // namespace

std::vector<Stage> buildVirtualScan(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& plan = node.as<sql::plan::VirtualScan>();
   return stagesOfScan(builder, node, builder.own<VirtualScan>(plan, scanLayout(plan), builder.context().columns()));
}

} // namespace ouzel::executor
