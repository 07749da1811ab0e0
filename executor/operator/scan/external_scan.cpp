#include "executor/operator/build.hpp"
#include "executor/operator/scan/scan_stages.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "io/format/range_test.hpp"
#include "sql/plan/remote_query.hpp"

// Scans of files as tables (read_csv, read_json, read_parquet) and of foreign tables. Bounds of columns go to the
// format's scan, which skips what the file's statistics exclude; another server gets a query. The filter after the scan
// evaluates all predicates.

namespace ouzel::executor {

namespace {

using sql::CompareOp;
using sql::Expr;
using sql::ExprKind;

/// Collects the bounds that conjuncts of the form column <op> constant, or column IN (constants), put on columns.
class BoundCollector {
public:
   BoundCollector(const sql::plan::VirtualScan& plan, const sql::ColumnTable& columns)
      : plan_(plan), columns_(columns) {}

   void add(const Expr& expr) {
      if (expr.kind == ExprKind::And) {
         for (const sql::ExprPtr& arg : expr.args)
            add(*arg);
      } else if (expr.kind == ExprKind::Compare) {
         const Expr &lhs = *expr.args[0], &rhs = *expr.args[1];
         const CompareOp op = expr.as<sql::scalar::Compare>().op;
         if (lhs.kind == ExprKind::Column && rhs.kind == ExprKind::Constant)
            addCompare(columnOf(lhs), op, rhs.as<sql::scalar::Constant>().value);
         else if (rhs.kind == ExprKind::Column && lhs.kind == ExprKind::Constant)
            addCompare(columnOf(rhs), sql::commuted(op), lhs.as<sql::scalar::Constant>().value);
      } else if (const auto* in = expr.getIf<sql::scalar::InList>()) {
         if (!in->negated && expr.args[0]->kind == ExprKind::Column) addList(expr);
      }
   }
   std::vector<io::ExternalRange> take() { return std::move(ranges_); }

private:
   void addCompare(sql::ColumnId column, CompareOp op, const Value& value) {
      io::ExternalRange range;
      range.lower = range.upper = Value::null(value.type);
      if (op == CompareOp::Eq || op == CompareOp::Ge || op == CompareOp::Gt) range.lower = value;
      if (op == CompareOp::Eq || op == CompareOp::Le || op == CompareOp::Lt) range.upper = value;
      addRange(column, std::move(range));
   }
   /// Bound the column by the least and the greatest value of an IN list.
   void addList(const Expr& expr) {
      io::ExternalRange range;
      for (size_t i = 1; i < expr.args.size(); ++i) {
         if (expr.args[i]->kind != ExprKind::Constant) return;
         const Value& value = expr.args[i]->as<sql::scalar::Constant>().value;
         if (value.isNull) continue; // NULL equals no value
         if (!io::isOrdered(value.type)) return;
         const bool isFirst = range.lower.isNull;
         if (!isFirst && value.type != range.lower.type) return;
         if (isFirst || io::isLess(value, range.lower)) range.lower = value;
         if (isFirst || io::isLess(range.upper, value)) range.upper = value;
      }
      addRange(columnOf(*expr.args[0]), std::move(range));
   }
   void addRange(sql::ColumnId column, io::ExternalRange range) {
      if (range.lower.isNull && range.upper.isNull) return;
      for (const sql::plan::ScanColumn& scanned : plan_.columns) {
         if (scanned.column != column) continue;
         const Representation repr = columns_[column].repr;
         if ((!range.lower.isNull && range.lower.type != repr.physical) ||
             (!range.upper.isNull && range.upper.type != repr.physical))
            return;
         range.column = static_cast<uint32_t>(scanned.attribute - 1);
         ranges_.push_back(std::move(range));
         return;
      }
   }

   const sql::plan::VirtualScan& plan_;
   const sql::ColumnTable& columns_;
   std::vector<io::ExternalRange> ranges_;
};

struct Local final : LocalState {
   std::unique_ptr<io::ExternalReader> reader;
};

class ExternalScanSource final : public Source {
public:
   ExternalScanSource(const sql::plan::VirtualScan& plan, const sql::ColumnTable& columns)
      : plan_(plan), columns_(columns) {}

   void prepare(QueryContext& context) override {
      scan_.reset();
      io::ExternalScanSpec spec;
      for (const sql::plan::ScanColumn& column : plan_.columns)
         spec.columns.push_back(static_cast<uint32_t>(column.attribute - 1));
      BoundCollector bounds(plan_, columns_);
      for (const sql::ExprPtr& predicate : plan_.predicates)
         bounds.add(*predicate);
      spec.ranges = bounds.take();
      if (plan_.table.external->remote()) spec.query = sql::plan::remoteQuery(plan_);
      spec.memory = &context.memory();
      spec.keepsOrder = context.workers() == 1;
      spec.wake = [&context] { context.wake(); };
      scan_ = plan_.table.external->scan(std::move(spec));
   }
   uint32_t workersMax() const override { return scan_->readersMax(); }
   LocalStatePtr makeLocal(QueryContext&) override {
      auto local = std::make_unique<Local>();
      local->reader = scan_->makeReader();
      return local;
   }
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override {
      out.setDense(0);
      io::ExternalReader& reader = *static_cast<Local&>(local).reader;
      if (reader.next(out, context.settings().batchRows)) return SourceStatus::HaveOutput;
      return reader.isWaiting() ? SourceStatus::Blocked : SourceStatus::Done;
   }
   void describe(OperatorProfile& profile) const override {
      if (!scan_) return;
      for (auto& fact : scan_->facts())
         profile.notes.push_back(std::move(fact));
   }

private:
   const sql::plan::VirtualScan& plan_;
   const sql::ColumnTable& columns_;
   std::unique_ptr<io::ExternalScan> scan_;
};

} // namespace

std::vector<Stage> buildExternalScan(PlanBuilder& builder, const sql::plan::Node& node) {
   return stagesOfScan(builder, node,
                       builder.own<ExternalScanSource>(node.as<sql::plan::VirtualScan>(), builder.context().columns()));
}

} // namespace ouzel::executor
