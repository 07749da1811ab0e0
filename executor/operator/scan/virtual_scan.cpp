#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/flow/batch_store.hpp"
#include "executor/operator/scan/scan_stages.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "executor/pipeline/runtime_filter.hpp"

// Scans of computed tables: pg_class, ouzel_stat_memory, ...

namespace ouzel::executor {

namespace {

/// The attribute that is scanned as a column; 0: none is.
int16_t attributeOf(const sql::plan::VirtualScan& plan, sql::ColumnId column) {
   for (const sql::plan::ScanColumn& scanned : plan.columns)
      if (scanned.column == column) return scanned.attribute;
   return 0;
}

/// The number that an OID is made of: `oid = 1259` converts an integer.
const sql::Expr& numberOf(const sql::Expr& expr) {
   const sql::Expr* at = &expr;
   while (at->kind == sql::ExprKind::Relabel || at->kind == sql::ExprKind::Convert)
      at = at->args[0].get();
   const bool isInteger = at->type.oid == oid::oid || at->type.oid == oid::int4 || at->type.oid == oid::int8;
   return isInteger ? *at : expr;
}

/// What `column = constant` and `column IN (constants)` ask of columns of the types oid and name.
std::vector<WantedRows> wantedBy(const sql::plan::VirtualScan& plan) {
   std::vector<WantedRows> wanted;
   for (const sql::ExprPtr& predicate : plan.predicates) {
      const auto* in = predicate->getIf<sql::scalar::InList>();
      if (sql::compareOf(*predicate) != sql::CompareOp::Eq && !(in && !in->negated)) continue;
      WantedRows rows;
      rows.attribute = attributeOf(plan, sql::columnOf(*predicate->args[0]));
      bool isKnown = rows.attribute > 0;
      for (size_t i = 1; isKnown && i < predicate->args.size(); ++i) {
         const sql::Expr& other = *predicate->args[i];
         const Value* constant = other.type.oid == oid::oid ? sql::knownValue(numberOf(other)) : sql::knownValue(other);
         isKnown = constant && (other.type.oid == oid::name || (other.type.oid == oid::oid && constant->i64 > 0));
         if (!isKnown) break;
         if (other.type.oid == oid::name) {
            rows.names.push_back(constant->bytes);
            continue;
         }
         const Oid value = static_cast<Oid>(constant->i64);
         rows.lower = rows.lower == 0 ? value : std::min(rows.lower, value);
         rows.upper = std::max(rows.upper, value);
      }
      if (isKnown) wanted.push_back(std::move(rows));
   }
   return wanted;
}

/// Stores all rows in prepare(): system tables are small, and their producers push rows.
class VirtualScan final : public Source {
public:
   VirtualScan(const sql::plan::VirtualScan& plan, const std::vector<sql::ColumnId>& layout, PlanBuilder& builder)
      : plan_(plan), columns_(representationsOf(layout, builder.context().columns())),
        buffered_(buffer_, identitySlots(layout.size()), true), fixed_(wantedBy(plan)) {
      if (!builder.context().settings().runtimeFilters) return;
      for (const sql::plan::RuntimeFilterUse& use : plan.runtimeFilters)
         if (const int16_t attribute = attributeOf(plan, use.column); attribute > 0)
            joined_.push_back({&builder.runtimeFilter(use.filter), attribute,
                               builder.context().columns()[use.column].type.oid == oid::oid});
   }

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
      std::vector<WantedRows> wanted = fixed_;
      for (const JoinedColumn& joined : joined_) {
         if (!joined.filter->isPublished()) continue;
         if (joined.filter->isEmpty()) return buffered_.prepare(context);
         if (joined.isOid && joined.filter->hasBounds() && joined.filter->lower() > 0)
            wanted.push_back({joined.attribute,
                              static_cast<Oid>(joined.filter->lower()),
                              static_cast<Oid>(joined.filter->upper()),
                              {}});
      }
      context.execution.virtualTable(plan_.table.relation, attributes, wanted, [&](std::vector<Value>& row) {
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
   struct JoinedColumn {
      const RuntimeFilter* filter; ///< of a join above
      int16_t attribute;
      bool isOid;
   };

   const sql::plan::VirtualScan& plan_;
   const std::vector<Representation> columns_;
   BatchStore buffer_;
   BatchStoreSource buffered_;
   const std::vector<WantedRows> fixed_;
   std::vector<JoinedColumn> joined_;
   uint64_t count_ = 0;
};

} // namespace

std::vector<Stage> buildVirtualScan(PlanBuilder& builder, const sql::plan::Node& node) {
   const auto& plan = node.as<sql::plan::VirtualScan>();
   return stagesOfScan(builder, node, builder.own<VirtualScan>(plan, scanLayout(plan), builder));
}

} // namespace ouzel::executor
