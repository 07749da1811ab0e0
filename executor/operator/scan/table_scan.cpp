#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <span>

#include "common/format.hpp"
#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"
#include "executor/expression/conjunct_order.hpp"
#include "executor/operator/build.hpp"
#include "executor/operator/scan/scan_sources.hpp"
#include "executor/operator/scan/scan_stages.hpp"
#include "executor/pipeline/key_lookup.hpp"
#include "executor/pipeline/plan_builder.hpp"
#include "executor/pipeline/runtime_filter.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/prune_parts.hpp"
#include "storage/block/zone_key.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

// The scan of a stored table. For each vector of rows, in this order:
//
//    1. skip the vector if zone maps exclude all of its rows
//    2. test ranges and exclusions (column <op> constant) on encoded data
//    3. test runtime filters of joins, after decoding their columns for the remaining rows
//    4. evaluate the other predicates ("residuals"), in an order that the worker learns
//    5. decode the output columns that are not decoded yet, for the remaining rows only

namespace ouzel::executor {

using sql::CompareOp;
using sql::ExprKind;

namespace {

/// A lane reads at once rows whose strings pin pages of this part of the memory, but always so many bytes.
constexpr size_t pinnedDivisor = 64, pinnedMin = size_t{256} << 10;

/// How many bytes the strings of a column have where a predicate is true.
struct LengthFilter {
   uint32_t column = 0;
   uint32_t lower = 0, upper = UINT32_MAX;
   bool isExact = false; ///< the predicate is true for each of them
};

/// A predicate that is evaluated on decoded columns.
struct ResidualFilter {
   std::shared_ptr<const ExpressionProgram> program;
   std::vector<uint32_t> columns; ///< columns that the predicate reads
   std::optional<LengthFilter> length;
};

struct ColumnCompare {
   sql::ColumnId column;
   CompareOp op;
   const Value* value;
};

/// Matches `column op constant` and `constant op column`.
std::optional<ColumnCompare> asColumnCompare(const sql::Expr& expr) {
   const auto* compare = expr.getIf<sql::scalar::Compare>();
   if (!compare) return std::nullopt;
   const sql::Expr &lhs = *expr.args[0], &rhs = *expr.args[1];
   if (const Value* value = knownValue(rhs); value && lhs.kind == ExprKind::Column)
      return ColumnCompare{columnOf(lhs), compare->op, value};
   if (const Value* value = knownValue(lhs); value && rhs.kind == ExprKind::Column)
      return ColumnCompare{columnOf(rhs), sql::commuted(compare->op), value};
   return std::nullopt;
}

/// For `column = text` and `column <> ''`, which compare bytes (collations with other rules compare keys).
std::optional<LengthFilter> lengthLeft(const sql::Expr& expr, const ColumnSlots& slots) {
   const auto* compare = expr.getIf<sql::scalar::Compare>();
   if (!compare) return std::nullopt;
   const sql::Expr* column = expr.args[0].get();
   while (column->kind == ExprKind::Relabel)
      column = column->args[0].get();
   const Value* value = knownValue(*expr.args[1]);
   const bool isText = column->type.oid == oid::text || column->type.oid == oid::varchar;
   if (column->kind != ExprKind::Column || !isText || !value || value->isNull || value->type != PhysicalType::String)
      return std::nullopt;
   const auto bytes = static_cast<uint32_t>(value->bytes.size());
   const uint32_t slot = *slots.find(columnOf(*column));
   if (compare->op == CompareOp::Eq) return LengthFilter{slot, bytes, bytes, false};
   if (compare->op == CompareOp::Ne && bytes == 0) return LengthFilter{slot, 1, UINT32_MAX, true};
   return std::nullopt;
}

/// The values that a predicate allows for a column.
struct ColumnValues {
   sql::ColumnId column;
   std::vector<const Value*> values;
   bool areOrderKeys = false; ///< of a bpchar without a length: indexes have them, stored values have blanks besides
};

/// For `column = constant` and `column IN (constants)`. NULLs are left out, since NULL equals no value.
std::optional<ColumnValues> valuesLeft(const sql::Expr& expr, const sql::ColumnTable& table) {
   const auto of = [&](const sql::Expr& side, std::span<const sql::ExprPtr> args) -> std::optional<ColumnValues> {
      const sql::Expr* column = &side;
      while (column->kind == ExprKind::Relabel) // varchar is compared as text
         column = column->args[0].get();
      const bool areOrderKeys = sql::isWithoutBlanks(*column);
      if (areOrderKeys) column = column->args[0].get();
      if (column->kind != ExprKind::Column) return std::nullopt;
      ColumnValues left{columnOf(*column), {}, areOrderKeys};
      for (const sql::ExprPtr& arg : args) {
         if (isNullConstant(*arg)) continue;
         const Value* value = knownValue(*arg);
         // Values of another representation may have other hashes.
         const Representation& stored = table[left.column].repr;
         if (!value || !(arg->repr == stored) || value->type != stored.physical) return std::nullopt;
         left.values.push_back(value);
      }
      return left;
   };
   const std::span<const sql::ExprPtr> args(expr.args);
   if (compareOf(expr) == CompareOp::Eq) {
      auto left = of(*args[0], args.subspan(1));
      return left ? left : of(*args[1], args.first(1));
   }
   const auto* in = expr.getIf<sql::scalar::InList>();
   if (in && !in->negated) return of(*args[0], args.subspan(1));
   return std::nullopt;
}

uint64_t hashOf(const Value& value) {
   alignas(16) std::byte place[16];
   value.store(place);
   return hashValue(value.type, place);
}

class TableScan;

struct Local final : LocalState {
   std::unique_ptr<storage::RowGroupReader> reader;
   uint32_t source = 0; ///< that `reader` reads
   bool hasMorsel = false;
   uint32_t nextRow = 0;
   uint64_t rowsRead = 0; ///< of the morsel, which the source does not know yet
   std::vector<RowIndex> rows = std::vector<RowIndex>(batchRowsMax);
   Batch batch; ///< columns as in scanColumns; only decoded columns are set
   std::vector<uint8_t> isDecoded;
   std::vector<ExpressionState> residuals;
   ConjunctOrder residualOrder;
   /// Recent selectivity of a runtime filter; filters that drop hardly any row are left out.
   struct Record {
      uint64_t seen = 0, kept = 0;
   };
   std::vector<Record> records; ///< by runtime filter
};

class TableScan final : public Source {
public:
   TableScan(PlanBuilder& builder, const sql::plan::Node& node);

   void foresee(QueryContext& context) override;
   bool isReadingAhead() const override { return sources_.isReadingAhead(); }
   void prepare(QueryContext& context) override;
   uint32_t workersMax() const override { return isEmpty_ ? 1 : std::max(1u, sources_.morsels()); }
   LocalStatePtr makeLocal(QueryContext& context) override;
   SourceStatus next(QueryContext& context, LocalState& local, Batch& out) override;
   double consumed() const override { return isEmpty_ ? 1 : sources_.consumed(); }
   void describe(OperatorProfile& profile) const override { sources_.describe(profile); }

private:
   struct RuntimeUse {
      RuntimeFilter* filter;
      uint32_t column;
   };
   std::optional<int16_t> attributeOf(uint32_t slot) const;
   bool isPath(uint32_t slot) const { return slot >= plan_.columns.size(); }
   void addPredicate(const sql::Expr& expr, PlanBuilder& builder);
   void addZone(const ColumnCompare& compare);
   void addPresence(uint32_t slot);
   void addValues(const sql::Expr& expr);
   std::optional<storage::KeyFilter> keysToLookUp() const;
   std::optional<std::vector<const Value*>> computedValues(size_t keyColumn) const;
   void chooseParts(sql::TableRef& table) const;
   storage::Snapshot snapshotFor(const QueryContext& context) const;
   Selection filterVector(QueryContext& context, Local& local, uint32_t first, uint32_t count, Selection rows);
   void decode(Local& local, uint32_t column, uint32_t first, uint32_t count, const Selection& rows);

   // PROPERTIES
   const sql::plan::TableScan& plan_;
   const sql::ColumnTable& table_;
   ColumnSlots slots_;
   std::vector<uint32_t> outputSlots_;
   std::map<uint32_t, storage::ValueRange> ranges_; // by column
   std::vector<storage::ColumnRange> excluded_;
   std::vector<ResidualFilter> residuals_;
   std::vector<RuntimeUse> runtime_;
   storage::ScanSpec spec_;
   bool isEmpty_ = false;
   std::map<int16_t, std::vector<const Value*>> fixed_; // by attribute: values that predicates allow
   KeyLookup* keyLookup_ = nullptr;                     // published by a join above
   OrderBound* bound_ = nullptr;                        // of ORDER BY ... LIMIT above
   uint32_t orderSlot_ = 0;                             // the column that bound_ is about
   // STATE
   std::vector<storage::ColumnRange> activeRanges_; // set by prepare()
   std::vector<RuntimeUse> activeRuntime_;
   ScanSources sources_;
   size_t pinnedMax_ = 0; ///< bytes of the pages that a lane reads at once
   std::atomic<bool> hasAskedForAll_{false};
};

TableScan::TableScan(PlanBuilder& builder, const sql::plan::Node& node)
   : plan_(node.as<sql::plan::TableScan>()), table_(builder.context().columns()),
     slots_(std::span<const sql::ColumnId>(scanLayout(plan_))), outputSlots_(slotsOf(node.output, scanLayout(plan_))),
     sources_(plan_, table_) {
   for (const sql::plan::ScanColumn& column : plan_.columns)
      spec_.columns.push_back(column.attribute < 0 ? storage::ScanSpec::rowIdColumn
                                                   : static_cast<uint32_t>(column.attribute - 1));
   for (const sql::plan::ScanPath& path : plan_.paths)
      spec_.paths.push_back({static_cast<uint32_t>(path.attribute - 1), path.access});
   for (const sql::ExprPtr& predicate : plan_.predicates)
      addPredicate(*predicate, builder);
   if (const auto order = builder.wantedOrders.find(&node); order != builder.wantedOrders.end()) {
      bound_ = order->second.bound;
      orderSlot_ = *slots_.find(order->second.column);
      spec_.order = {spec_.columns[orderSlot_], bound_->isDescending, bound_->nullsFirst};
   }
   if (plan_.keyLookup != 0) keyLookup_ = &builder.keyLookup(plan_.keyLookup);
   if (builder.context().settings().runtimeFilters)
      for (const sql::plan::RuntimeFilterUse& use : plan_.runtimeFilters)
         if (const auto slot = slots_.find(use.column)) runtime_.push_back({&builder.runtimeFilter(use.filter), *slot});
}

/// The stored attribute in a slot; nothing for the row id, the table's OID and paths.
std::optional<int16_t> TableScan::attributeOf(uint32_t slot) const {
   if (slot >= plan_.columns.size() || plan_.columns[slot].attribute < 0) return std::nullopt;
   return plan_.columns[slot].attribute;
}

void TableScan::addPredicate(const sql::Expr& expr, PlanBuilder& builder) {
   if (expr.kind == ExprKind::And) {
      for (const sql::ExprPtr& arg : expr.args)
         addPredicate(*arg, builder);
      return;
   }
   addValues(expr);
   if (expr.kind == ExprKind::IsNotNull && expr.args[0]->kind == ExprKind::Column)
      if (const uint32_t slot = *slots_.find(columnOf(*expr.args[0])); isPath(slot)) addPresence(slot);
   if (const auto compare = asColumnCompare(expr)) {
      addZone(*compare);
      const uint32_t slot = *slots_.find(compare->column);
      const bool isRange = compare->op == CompareOp::Eq || compare->op == CompareOp::Ne ||
                           compare->op == CompareOp::Lt || compare->op == CompareOp::Le ||
                           compare->op == CompareOp::Gt || compare->op == CompareOp::Ge;
      if (isRange && isIntegerLike(compare->value->type) &&
          compare->value->type == table_[compare->column].repr.physical && (attributeOf(slot) || isPath(slot))) {
         const int64_t value = compare->value->i64;
         if (compare->op == CompareOp::Ne) {
            excluded_.push_back({slot, {value, value, true}});
            return;
         }
         storage::ValueRange& range = ranges_[slot];
         if (compare->op == CompareOp::Eq || compare->op == CompareOp::Le) range.upper = std::min(range.upper, value);
         if (compare->op == CompareOp::Eq || compare->op == CompareOp::Ge) range.lower = std::max(range.lower, value);
         if (compare->op == CompareOp::Lt) {
            if (value == INT64_MIN)
               isEmpty_ = true;
            else
               range.upper = std::min(range.upper, value - 1);
         }
         if (compare->op == CompareOp::Gt) {
            if (value == INT64_MAX)
               isEmpty_ = true;
            else
               range.lower = std::max(range.lower, value + 1);
         }
         return;
      }
   }
   ResidualFilter residual;
   residual.program = ExpressionProgram::compile(expr, slots_, table_);
   std::vector<sql::ColumnId> read;
   sql::collectColumns(expr, read);
   for (const sql::ColumnId column : read)
      residual.columns.push_back(*slots_.find(column));
   residual.length = lengthLeft(expr, slots_);
   residuals_.push_back(std::move(residual));
}

void TableScan::addZone(const ColumnCompare& compare) {
   const uint32_t slot = *slots_.find(compare.column);
   const std::optional<int16_t> attribute = attributeOf(slot);
   if (!attribute && !isPath(slot)) return;
   storage::ZonePredicate zone;
   if (attribute) zone.column = static_cast<uint32_t>(*attribute - 1);
   const storage::ZoneKey key = storage::zoneKeyOf(*compare.value);
   switch (compare.op) {
   case CompareOp::Eq: zone.lower = zone.upper = key; break;
   case CompareOp::Lt:
   case CompareOp::Le: zone.upper = key; break;
   case CompareOp::Gt:
   case CompareOp::Ge: zone.lower = key; break;
   default: return;
   }
   if (attribute)
      spec_.zonePredicates.push_back(zone);
   else if (compare.value->type != table_[compare.column].repr.physical)
      addPresence(slot);
   else
      spec_.pathPredicates.push_back({slot - static_cast<uint32_t>(plan_.columns.size()), zone.lower, zone.upper});
}

/// Only rows with a value at the path can satisfy the predicates.
void TableScan::addPresence(uint32_t slot) {
   spec_.pathPredicates.push_back({slot - static_cast<uint32_t>(plan_.columns.size())});
}

/// Pass the values that the predicate allows to storage, and keep them for the chosen index.
void TableScan::addValues(const sql::Expr& expr) {
   auto left = valuesLeft(expr, table_);
   if (!left) return;
   const std::optional<int16_t> attribute = attributeOf(*slots_.find(left->column));
   if (!attribute) return;
   if (!left->areOrderKeys) {
      storage::ValuePredicate predicate;
      predicate.column = static_cast<uint32_t>(*attribute - 1);
      for (const Value* value : left->values)
         predicate.values.push_back({storage::zoneKeyOf(*value), hashOf(*value)});
      std::sort(predicate.values.begin(), predicate.values.end(),
                [](const auto& a, const auto& b) { return a.key < b.key; });
      spec_.valuePredicates.push_back(std::move(predicate));
   }
   const auto& indexed = plan_.lookupAttributes;
   if (std::find(indexed.begin(), indexed.end(), *attribute) != indexed.end())
      fixed_.try_emplace(*attribute, std::move(left->values));
}

/// The keys to look up in an index: the keys that a join has built, or every combination of values that predicates
/// allow. Null: the scan uses no index.
std::optional<storage::KeyFilter> TableScan::keysToLookUp() const {
   storage::KeyFilter filter;
   const auto setColumns = [&](const std::vector<int16_t>& attributes) {
      for (const int16_t attribute : attributes)
         filter.columns.push_back(static_cast<uint32_t>(attribute - 1));
   };
   const auto setComputed = [&] {
      filter.computed = plan_.lookupIndex->computed;
      filter.columns = filter.computed->inputs();
   };
   if (keyLookup_ && keyLookup_->isPublished()) {
      DCHECK(!plan_.keyLookupAttributes.empty());
      if (plan_.lookupIndex)
         setComputed();
      else
         setColumns(plan_.keyLookupAttributes);
      filter.hashes = keyLookup_->hashes();
      return filter;
   }
   filter.hashes.push_back(0);
   bool isFirst = true;
   const auto combine = [&](const std::vector<const Value*>& values) {
      std::vector<uint64_t> longer;
      for (const uint64_t prefix : filter.hashes)
         for (const Value* value : values) {
            const uint64_t hash = hashOf(*value);
            longer.push_back(isFirst ? hash : hashCombine(prefix, hash));
         }
      filter.hashes = std::move(longer);
      isFirst = false;
   };
   if (!plan_.lookupValues.empty()) {
      setComputed();
      for (size_t i = 0; i < plan_.lookupValues.size(); ++i) {
         const auto values = computedValues(i);
         if (!values) return std::nullopt;
         combine(*values);
      }
      return filter;
   }
   if (plan_.lookupAttributes.empty()) return std::nullopt;
   setColumns(plan_.lookupAttributes);
   for (const int16_t attribute : plan_.lookupAttributes) {
      const auto values = fixed_.find(attribute);
      if (values == fixed_.end()) return std::nullopt;
      combine(values->second);
   }
   return filter;
}

/// The values that predicates allow for a column of a computed key, NULLs left out; null: one of them is not known.
std::optional<std::vector<const Value*>> TableScan::computedValues(size_t keyColumn) const {
   std::vector<const Value*> values;
   const PhysicalType physical = storedRepresentation(plan_.lookupIndex->key[keyColumn]->type).physical;
   for (const sql::ExprPtr& expr : plan_.lookupValues[keyColumn]) {
      if (isNullConstant(*expr)) continue;
      const Value* value = knownValue(*expr);
      if (!value || value->type != physical) return std::nullopt;
      values.push_back(value);
   }
   return values;
}

/// Leaves out the partitions that the predicates exclude with the values that they have now, and those without keys of
/// the joins above.
/// Whether a runtime filter's bounds, which are integers, are values of the type.
static bool keepsKeyAsInteger(Oid type) {
   switch (type) {
   case oid::int2:
   case oid::int4:
   case oid::int8:
   case oid::date:
   case oid::time:
   case oid::timestamp:
   case oid::timestamptz: return true;
   default: return false;
   }
}

void TableScan::chooseParts(sql::TableRef& table) const {
   std::vector<sql::GetColumn> columns;
   for (const sql::plan::ScanColumn& column : plan_.columns)
      columns.push_back({column.column, column.attribute});
   pruneParts(table, columns, plan_.predicates);
   sql::PartConditions joined;
   for (const RuntimeUse& use : activeRuntime_) {
      const std::optional<int16_t> attribute = attributeOf(use.column);
      if (!attribute || !use.filter->hasBounds() || !isPartitionKey(*table.parts, *attribute)) continue;
      if (!keepsKeyAsInteger(table_[plan_.columns[use.column].column].type.oid)) continue;
      catalog::PartitionCondition& condition = joined[*attribute];
      condition.lower = Value::integer(PhysicalType::I64, use.filter->lower());
      condition.upper = Value::integer(PhysicalType::I64, use.filter->upper());
   }
   pruneParts(table, joined);
}

/// Reading ahead before the joins have published their filters is safe: filters can only remove row groups. Of a table
/// with parts nothing is read ahead: joins may exclude most of them.
void TableScan::foresee(QueryContext& context) {
   if (isEmpty_ || plan_.looksUp()) return;         // a lookup may need only few rows
   if (plan_.seesWith || plan_.table.parts) return; // WITH may not have run yet
   sources_.foresee(context, spec_);
}

storage::Snapshot TableScan::snapshotFor(const QueryContext& context) const {
   storage::Snapshot snapshot = *context.execution.snapshot;
   if (plan_.seesWith && context.execution.transaction)
      snapshot.commandId = context.execution.transaction->commandId(); // each statement in WITH ends with a next one
   return snapshot;
}

void TableScan::prepare(QueryContext& context) {
   activeRanges_.clear();
   for (const auto& [column, range] : ranges_) {
      isEmpty_ = isEmpty_ || range.isEmpty();
      activeRanges_.push_back({column, range});
   }
   activeRanges_.insert(activeRanges_.end(), excluded_.begin(), excluded_.end());
   storage::ScanSpec spec = spec_;
   const size_t staticZones = spec.zonePredicates.size();
   activeRuntime_.clear();
   for (const RuntimeUse& use : runtime_) {
      if (!use.filter->isPublished()) continue;
      if (use.filter->isEmpty()) isEmpty_ = true;
      if (use.filter->hasBounds() && attributeOf(use.column)) {
         storage::ZonePredicate zone;
         zone.column = spec.columns[use.column];
         zone.lower = use.filter->lower();
         zone.upper = use.filter->upper();
         spec.zonePredicates.push_back(zone);
      }
      activeRuntime_.push_back(use);
   }
   spec.keys = keysToLookUp();
   sources_.start(context, spec, staticZones, snapshotFor(context), [&](sql::TableRef& table) { chooseParts(table); });
   isEmpty_ = isEmpty_ || sources_.size() == 0;
   hasAskedForAll_.store(!isReadingAhead(), std::memory_order_relaxed);
   const size_t limit = std::min(context.memory().limit(), context.execution.memoryLimit);
   pinnedMax_ = std::max(limit / pinnedDivisor / std::max(context.workers(), 1u), pinnedMin);
}

LocalStatePtr TableScan::makeLocal(QueryContext& context) {
   auto local = std::make_unique<Local>();
   local->batch.columns.resize(plan_.columns.size() + plan_.paths.size());
   local->isDecoded.resize(plan_.columns.size() + plan_.paths.size());
   local->records.resize(activeRuntime_.size());
   for (const ResidualFilter& residual : residuals_) {
      local->residuals.emplace_back(residual.program, context.functions(), context.memory());
      local->residualOrder.add(residual.program->isTotal(), residual.program->isVolatile());
   }
   return local;
}

void TableScan::decode(Local& local, uint32_t column, uint32_t first, uint32_t count, const Selection& rows) {
   DCHECK(column < local.isDecoded.size());
   if (std::exchange(local.isDecoded[column], 1)) return;
   local.batch.columns[column] = sources_.isConstant(local.source, column)
                                     ? sources_.constant(local.source, column)
                                     : local.reader->read(column, first, count, rows);
}

Selection TableScan::filterVector(QueryContext&, Local& local, uint32_t first, uint32_t count, Selection rows) {
   storage::RowGroupReader& reader = *local.reader;
   RowIndex* list = local.rows.data();
   const auto narrow = [&](uint32_t kept) {
      if (kept < rows.count()) rows = Selection::list(list, kept);
   };
   DCHECK(count <= storage::vectorRows);
   DCHECK(local.records.size() == activeRuntime_.size());
   if (!activeRanges_.empty()) narrow(reader.filterRanges(activeRanges_, first, count, rows, list));
   if (bound_ && !bound_->nullsFirst && rows.count() > 0 && reader.canFilterRange(orderSlot_))
      if (const auto bound = bound_->value())
         narrow(reader.filterRange(orderSlot_, first, count,
                                   bound_->isDescending ? storage::ValueRange{*bound, INT64_MAX}
                                                        : storage::ValueRange{INT64_MIN, *bound},
                                   rows, list));
   for (size_t i = 0; i < activeRuntime_.size() && rows.count() > 0; ++i) {
      const RuntimeUse& use = activeRuntime_[i];
      Local::Record& record = local.records[i];
      // After 32 vectors a filter that keeps nearly all rows is used only now and then.
      if (record.seen > 65'536 && record.kept > record.seen - record.seen / 16) {
         if ((record.seen += 64, record.kept += 64, record.seen % 8192) != 0) continue;
      }
      const uint32_t before = rows.count();
      if (use.filter->hasBounds() && reader.canFilterRange(use.column))
         narrow(reader.filterRange(use.column, first, count, {use.filter->lower(), use.filter->upper()}, rows, list));
      if (rows.count() > 0 && use.filter->isSelective()) {
         decode(local, use.column, first, count, rows);
         narrow(use.filter->filter(local.batch.columns[use.column], rows, list));
      }
      record.seen += before;
      record.kept += rows.count();
   }
   return local.residualOrder.apply(rows, [&](uint32_t i, Selection left) {
      if (const auto& length = residuals_[i].length) {
         const auto kept = reader.filterLength(length->column, first, count, length->lower, length->upper, left, list);
         if (kept && *kept < left.count()) left = Selection::list(list, *kept);
         if (kept && (length->isExact || *kept == 0)) return left;
      }
      for (const uint32_t column : residuals_[i].columns)
         decode(local, column, first, count, left);
      return residuals_[i].program->filter(local.residuals[i], local.batch, left, list);
   });
}

SourceStatus TableScan::next(QueryContext& context, LocalState& state, Batch& out) {
   auto& local = static_cast<Local&>(state);
   out.setDense(0);
   if (isEmpty_) return SourceStatus::Done;
   // Pass over up to 32 vectors without rows; then return, so that the caller checks time and cancellation.
   for (int attempts = 0; attempts < 32; ++attempts) {
      if (!local.hasMorsel) {
         storage::Morsel morsel;
         while (!sources_[local.source].next(morsel, bound_ ? bound_->value() : std::nullopt)) {
            if (local.source + 1 == sources_.size()) return SourceStatus::Done;
            ++local.source;
            local.reader.reset();
         }
         if (!local.reader) local.reader = sources_[local.source].makeReader(); // many parts have one row group
         if (!sources_[local.source].isReadingAhead() && !hasAskedForAll_.exchange(true, std::memory_order_relaxed))
            context.foresee();
         local.reader->open(morsel);
         local.hasMorsel = true;
         local.nextRow = 0;
      }
      const uint32_t total = local.reader->rowCount();
      if (local.nextRow >= total) {
         local.hasMorsel = false;
         sources_.countRows(local.source, std::exchange(local.rowsRead, 0));
         continue;
      }
      const uint32_t first = local.nextRow;
      const uint32_t vectorEnd = (first / storage::vectorRows + 1) * storage::vectorRows;
      uint32_t count = std::min({context.settings().batchRows, vectorEnd - first, total - first});
      local.nextRow = first + count;
      if (local.reader->canSkip(first, count)) continue;
      count = local.reader->rowsWithin(first, count, pinnedMax_);
      local.nextRow = first + count;
      std::fill(local.isDecoded.begin(), local.isDecoded.end(), uint8_t{0});
      local.batch.rowCount = count;
      const Selection visible = local.reader->visible(first, count);
      local.rowsRead += visible.count();
      const Selection rows = filterVector(context, local, first, count, visible);
      if (rows.count() == 0) continue;
      out.columns.resize(outputSlots_.size());
      for (size_t i = 0; i < outputSlots_.size(); ++i) {
         decode(local, outputSlots_[i], first, count, rows);
         out.columns[i] = local.batch.columns[outputSlots_[i]];
      }
      out.rowCount = count;
      out.selection = rows;
      return SourceStatus::HaveOutput;
   }
   return SourceStatus::HaveOutput;
}

} // namespace

std::vector<Stage> buildTableScan(PlanBuilder& builder, const sql::plan::Node& node) {
   Stage stage;
   stage.source = builder.own<TableScan>(builder, node);
   stage.sourceProfile = builder.profileOf(node);
   return {std::move(stage)};
}

} // namespace ouzel::executor
