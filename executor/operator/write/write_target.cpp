#include "executor/operator/write/write_target.hpp"

#include <algorithm>
#include <numeric>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "executor/kernel/select.hpp"

namespace ouzel::executor {

namespace {

/// An insert of at least so many expected rows into each table builds blocks directly, if the tables are few: a worker
/// fills a row group of each at once.
constexpr double bulkRows = 20'000;
constexpr size_t sharedTablesMin = 64; ///< the workers share the appenders of more tables

} // namespace

WriteTarget::WriteTarget(ExecutionContext& context, const sql::Dml& dml, const ColumnSlots& slots, uint32_t width,
                         const sql::ColumnTable& columns, double expectedRows)
   : context_(context), dml_(dml), mode_(expectedRows >= bulkRows * static_cast<double>(partCount(dml.table)) &&
                                                 partCount(dml.table) <= sharedTablesMin
                                             ? storage::AppendMode::Bulk
                                             : storage::AppendMode::Small) {
   if (dml.isInstead) return;
   if (dml.rowId != sql::noColumn) rowIdSlot_ = slots.find(dml.rowId);
   if (dml.tableOid != sql::noColumn) tableOidSlot_ = slots.find(dml.tableOid);
   for (const sql::GetColumn& stored : dml.storedKeys)
      for (const sql::GetColumn& target : dml.target)
         if (target.attribute == stored.attribute)
            keySlots_.emplace_back(*slots.find(stored.column), *slots.find(target.column));
   std::vector<const sql::Expr*> expressions;
   for (const sql::Dml::PartKey& key : dml.partKeys)
      expressions.push_back(key.expr.get());
   if (!expressions.empty()) keyExpressions_ = ExpressionProgram::compile(std::span(expressions), slots, columns);
   const bool isPlaced = !dml.target.empty() && (dml.bounds || (dml.table.parts && !dml.table.parts->nodes.empty()));
   const std::vector<WrittenColumn> written =
       isPlaced ? writtenColumns(slots, width, columns) : std::vector<WrittenColumn>();
   if (dml.bounds && isPlaced) bounds_.emplace(dml.bounds, written);
   if (!dml.table.parts) {
      addTable(dml.table.storageId, nullptr, slots);
      return;
   }
   const sql::TableParts& parts = *dml.table.parts;
   for (const sql::TablePart& part : parts.parts) {
      byOid_.emplace(part.relation->oid, static_cast<uint32_t>(tables_.size()));
      addTable(static_cast<uint64_t>(part.relation->storage), &part, slots);
   }
   if (!parts.nodes.empty() && isPlaced) router_.emplace(dml.table.parts, written);
   if (tables_.size() <= sharedTablesMin) return;
   std::vector<storage::Table*> shared;
   for (const Table& table : tables_)
      shared.push_back(table.table);
   shared_.emplace(*context.transaction, std::move(shared));
}

/// The columns of the rows, and behind them what the partition keys compute.
std::vector<WrittenColumn> WriteTarget::writtenColumns(const ColumnSlots& slots, uint32_t width,
                                                       const sql::ColumnTable& columns) const {
   std::vector<WrittenColumn> written;
   for (const sql::GetColumn& column : dml_.target)
      written.push_back(
          {column.attribute, *slots.find(column.column), columns[column.column].type, columns[column.column].repr});
   for (uint32_t i = 0; i < dml_.partKeys.size(); ++i)
      written.push_back(
          {dml_.partKeys[i].attribute, width + i, dml_.partKeys[i].expr->type, keyExpressions_->representation(i)});
   return written;
}

void WriteTarget::addTable(uint64_t storageId, const sql::TablePart* part, const ColumnSlots& slots) {
   Table& added = tables_.emplace_back();
   if (part && !part->wrapper.empty()) return; // rows that come to it are refused
   added.table = context_.table(storageId);
   const auto stored = added.table->columns();
   for (const auto& column : *stored) {
      added.sources.push_back(-1);
      added.stored.push_back(column.representation);
   }
   for (const sql::GetColumn& target : dml_.target) {
      const int16_t own = part ? part->attributeOf(target.attribute) : target.attribute;
      if (own > 0) added.sources[static_cast<size_t>(own - 1)] = static_cast<int>(*slots.find(target.column));
   }
}

std::unique_ptr<WriteTarget::Local> WriteTarget::makeLocal() const {
   auto local = std::make_unique<Local>();
   local->appenders.resize(tables_.size());
   local->isWritten.resize(tables_.size());
   local->removed.resize(tables_.size());
   local->added.resize(tables_.size());
   return local;
}

template <typename Body>
void WriteTarget::forEachTable(Local& local, Selection rows, Body&& body) const {
   const uint32_t count = rows.count();
   if (count == 0) return;
   const uint32_t first = local.tables[rows.row(0)];
   bool isOne = true;
   for (uint32_t i = 1; i < count && isOne; ++i)
      isOne = local.tables[rows.row(i)] == first;
   if (isOne) return body(first, rows);
   local.order.resize(count);
   for (uint32_t i = 0; i < count; ++i)
      local.order[i] = rows.row(i);
   std::stable_sort(local.order.begin(), local.order.end(),
                    [&](uint32_t a, uint32_t b) { return local.tables[a] < local.tables[b]; });
   for (uint32_t i = 0; i < count;) {
      const uint32_t table = local.tables[local.order[i]];
      uint32_t some = 0;
      for (; i < count && local.tables[local.order[i]] == table; ++i)
         local.someRows[some++] = static_cast<RowIndex>(local.order[i]);
      body(table, Selection::list(local.someRows.data(), some));
   }
}

/// The table in which the old version of a row lies. A row without one, which MERGE inserts, goes to the table named.
uint32_t WriteTarget::tableOf(const Batch& in, uint32_t row) const {
   if (!tableOidSlot_) return 0;
   const Vector& oids = in.columns[*tableOidSlot_];
   if (oids.isNull(row)) return 0;
   const Value oid = Value::fromVector(oids, row);
   const auto found = byOid_.find(static_cast<Oid>(oid.i64));
   DCHECK(found != byOid_.end());
   return found->second;
}

/// Sets local.strengths: how each of the rows is locked.
void WriteTarget::chooseStrengths(Local& local, const Batch& in, Selection rows, bool isUpdate) const {
   using storage::LockStrength;
   const bool mayKeep = isUpdate && dml_.mayKeepKeys;
   local.strengths.assign(rows.count(), mayKeep ? LockStrength::NoKeyUpdate : LockStrength::Update);
   if (!mayKeep) return;
   for (const auto& [stored, changed] : keySlots_)
      for (uint32_t i = 0; i < rows.count(); ++i) {
         const uint32_t row = rows.row(i);
         if (!Value::fromVector(in.columns[stored], row).identical(Value::fromVector(in.columns[changed], row)))
            local.strengths[i] = LockStrength::Update;
      }
}

void WriteTarget::remove(Local& local, const Batch& in, Selection rows, bool isUpdate,
                         std::vector<uint8_t>& deletedNow) {
   const Vector& ids = in.columns[*rowIdSlot_];
   const auto idOf = [&](uint32_t row) { return static_cast<storage::RowId>(ids.value<int64_t>(row)); };
   deletedNow.assign(rows.count(), 0);
   chooseStrengths(local, in, rows, isUpdate);
   if (!hasParts()) {
      local.ids.clear();
      forEachRow(rows, [&](uint32_t row) { local.ids.push_back(idOf(row)); });
      local.removed[0] += tables_[0].table->deleteRows(*context_.transaction, *context_.snapshot, local.ids, deletedNow,
                                                       local.strengths);
      local.isWritten[0] = true;
      return;
   }
   local.tables.resize(batchRowsMax);
   std::vector<uint32_t> position(in.rowCount);
   for (uint32_t i = 0; i < rows.count(); ++i) {
      position[rows.row(i)] = i;
      local.tables[rows.row(i)] = tableOf(in, rows.row(i));
   }
   forEachTable(local, rows, [&](uint32_t table, Selection own) {
      local.someIds.clear();
      local.someStrengths.clear();
      forEachRow(own, [&](uint32_t row) {
         local.someIds.push_back(idOf(row));
         local.someStrengths.push_back(local.strengths[position[row]]);
      });
      local.someDeleted.assign(local.someIds.size(), 0);
      local.removed[table] += tables_[table].table->deleteRows(*context_.transaction, *context_.snapshot, local.someIds,
                                                               local.someDeleted, local.someStrengths);
      local.isWritten[table] = true;
      for (uint32_t i = 0; i < own.count(); ++i)
         deletedNow[position[own.row(i)]] = local.someDeleted[i];
   });
}

std::optional<SqlError> WriteTarget::place(Local& local, const Batch& in, Selection rows, FunctionContext& functions,
                                           Reservation& memory) {
   if (!hasParts() && !bounds_) return std::nullopt;
   if (!keyExpressions_) return placeRows(local, in, rows, functions);
   if (!local.keyExpressions) local.keyExpressions.emplace(keyExpressions_, functions, memory);
   Batch wider = in;
   const size_t width = wider.columns.size();
   wider.columns.resize(width + dml_.partKeys.size());
   keyExpressions_->evaluateAll(*local.keyExpressions, in, rows, wider.columns.data() + width);
   return placeRows(local, wider, rows, functions);
}

std::optional<SqlError> WriteTarget::placeRows(Local& local, const Batch& in, Selection rows,
                                               const FunctionContext& functions) {
   local.tables.resize(batchRowsMax);
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const uint32_t row = rows.row(i);
      if (bounds_ && !bounds_->hold(in, row, local.key))
         return SqlError(sqlstate::checkViolation,
                         "new row for relation \"" + dml_.table.name + "\" violates partition constraint")
             .table(dml_.table.schema, dml_.table.name);
      uint32_t table = 0;
      if (router_) {
         table = router_->find(in, row, local.key);
         if (table == PartitionRouter::none) return router_->missing(in, row, *functions.format, functions.catalog);
      } else if (hasParts()) {
         table = tableOf(in, row);
      }
      if (!tables_[table].table) {
         const sql::TablePart& part = dml_.table.parts->parts[table];
         catalog::throwNoAccess(part.wrapper, part.hasHandler, "writing to foreign tables");
      }
      local.tables[row] = table;
   }
   return std::nullopt;
}

const catalog::Relation* WriteTarget::placeOf(const Local& local, uint32_t row) const {
   return hasParts() ? dml_.table.parts->parts[local.tables[row]].relation.get() : nullptr;
}

Selection WriteTarget::rowsOf(Local& local, uint32_t table, Selection rows) const {
   uint32_t count = 0;
   forEachRow(rows, [&](uint32_t row) {
      if (local.tables[row] == table) local.someRows[count++] = static_cast<RowIndex>(row);
   });
   return Selection::list(local.someRows.data(), count);
}

void WriteTarget::append(Local& local, const Batch& in, Selection rows) {
   if (!hasParts()) return appendTo(local, 0, in, rows);
   forEachTable(local, rows, [&](uint32_t table, Selection own) { appendTo(local, table, in, own); });
}

void WriteTarget::appendTo(Local& local, uint32_t table, const Batch& in, Selection rows) {
   static constexpr ValidityWord absent = 0;
   alignas(16) static constexpr std::byte zeros[16] = {};
   const Table& to = tables_[table];
   DCHECK(to.sources.size() == to.stored.size());
   Batch stored;
   for (size_t i = 0; i < to.sources.size(); ++i)
      stored.columns.push_back(to.sources[i] >= 0 ? in.columns[static_cast<size_t>(to.sources[i])]
                                                  : Vector::constant(to.stored[i].physical, zeros, &absent));
   stored.rowCount = in.rowCount;
   stored.selection = rows;
   local.isWritten[table] = true;
   local.added[table] += rows.count();
   if (shared_) return shared_->append(table, stored);
   if (!local.appenders[table]) local.appenders[table] = to.table->appender(*context_.transaction, mode_);
   local.appenders[table]->append(stored);
}

void WriteTarget::finish(Local& local) {
   for (size_t i = 0; i < tables_.size(); ++i) {
      if (local.appenders[i]) local.appenders[i]->finish();
      countUse(local, i);
      if (local.isWritten[i] && context_.noteWritten)
         context_.noteWritten(static_cast<uint64_t>(tables_[i].table->id()));
   }
}

/// A row that moves to another part is deleted in one and inserted into the other, as in PostgreSQL.
void WriteTarget::countUse(Local& local, size_t table) {
   const uint64_t removed = std::exchange(local.removed[table], 0), added = std::exchange(local.added[table], 0);
   uint64_t updated = std::min(removed, added);
   if (local.updates && !hasParts()) updated = std::min(updated, *local.updates);
   if (removed + added == 0) return;
   const auto use = context_.transaction->use().of(tables_[table].table->sharedUse());
   use->wrote(added - updated, updated, removed - updated);
}

void WriteTarget::finishShared() {
   if (shared_) shared_->finish();
}

} // namespace ouzel::executor
