#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "executor/operator/write/partition_router.hpp"
#include "executor/operator/write/shared_appenders.hpp"
#include "executor/pipeline/query_context.hpp"
#include "sql/algebra/table_parts.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::executor {

/// The tables that a statement writes: one, or the parts of one. New rows of a partitioned table go to the partitions
/// that take them; those of a table with heirs stay in the table that the old row lies in. Shared by workers.
class WriteTarget {
public:
   /// `width`: the number of columns of the batches with the rows.
   WriteTarget(ExecutionContext& context, const sql::Dml& dml, const ColumnSlots& slots, uint32_t width,
               const sql::ColumnTable& columns, double expectedRows);

   /// The state of one worker.
   struct Local {
      std::vector<std::unique_ptr<storage::Appender>> appenders; ///< by table; null: not yet needed
      std::vector<uint32_t> tables;                              ///< by row of the batch, set by place()
      std::vector<bool> isWritten;                               ///< by table
      std::vector<uint64_t> removed, added;                      ///< rows by table
      std::optional<uint64_t> updates;                           ///< see noteUpdates()
      std::vector<Value> key;
      std::optional<ExpressionState> keyExpressions; ///< made when they are first computed
      std::vector<storage::RowId> ids, someIds;
      std::vector<uint8_t> someDeleted;
      std::vector<storage::LockStrength> strengths, someStrengths;
      std::vector<uint32_t> order;
      std::vector<RowIndex> someRows = std::vector<RowIndex>(batchRowsMax);
   };
   std::unique_ptr<Local> makeLocal() const;

   /// Deletes rows; `deletedNow`, one for each of `rows`, tells which had not been deleted before. `isUpdate`: they get
   /// new versions.
   void remove(Local& local, const Batch& in, Selection rows, bool isUpdate, std::vector<uint8_t>& deletedNow);
   /// Chooses the table of each new row. Returns the error of a row that belongs to none or not to the table named.
   std::optional<SqlError> place(Local& local, const Batch& in, Selection rows, FunctionContext& functions,
                                 Reservation& memory);
   /// Adds rows. REQUIRES: place() of the same rows.
   void append(Local& local, const Batch& in, Selection rows);
   /// Of the rows that are removed and added so many are old and new versions of the same.
   void noteUpdates(Local& local, uint64_t rows) const { local.updates = local.updates.value_or(0) + rows; }
   /// Hands the worker's rows over to the transaction.
   void finish(Local& local);
   /// Hands over the rows that workers have gathered together. REQUIRES: finish() of all workers.
   void finishShared();

   bool hasParts() const { return dml_.table.parts != nullptr; }
   size_t tableCount() const { return tables_.size(); }
   storage::Table& table(size_t i) { return *tables_[i].table; }
   /// The part in which place() has put a row; null: the table has no parts.
   const catalog::Relation* placeOf(const Local& local, uint32_t row) const;
   /// The rows of `rows` that place() has put into this table.
   Selection rowsOf(Local& local, uint32_t table, Selection rows) const;
   /// The storage columns of the table without parts, and where the batch has them; -1: a dropped column.
   const std::vector<int>& sources() const { return tables_[0].sources; }

private:
   struct Table {
      storage::Table* table = nullptr;
      std::vector<int> sources; ///< by storage column: input slot; -1: a column that the rows lack
      std::vector<Representation> stored;
   };
   void addTable(uint64_t storageId, const sql::TablePart* part, const ColumnSlots& slots);
   uint32_t tableOf(const Batch& in, uint32_t row) const;
   void chooseStrengths(Local& local, const Batch& in, Selection rows, bool isUpdate) const;
   std::optional<SqlError> placeRows(Local& local, const Batch& in, Selection rows, const FunctionContext& functions);
   std::vector<WrittenColumn> writtenColumns(const ColumnSlots& slots, uint32_t width,
                                             const sql::ColumnTable& columns) const;
   void appendTo(Local& local, uint32_t table, const Batch& in, Selection rows);
   void countUse(Local& local, size_t table);
   /// Calls `body(table, selection)` for each table with some of the rows.
   template <typename Body>
   void forEachTable(Local& local, Selection rows, Body&& body) const;

   ExecutionContext& context_;
   const sql::Dml& dml_;
   const storage::AppendMode mode_;
   std::vector<Table> tables_;
   std::map<Oid, uint32_t> byOid_;                           ///< tables by their relations
   std::shared_ptr<const ExpressionProgram> keyExpressions_; ///< of partition keys; null: there are none
   std::optional<PartitionRouter> router_;
   std::optional<SharedAppenders> shared_; ///< if the tables are many
   std::optional<TargetBounds> bounds_;
   std::optional<uint32_t> tableOidSlot_, rowIdSlot_;
   std::vector<std::pair<uint32_t, uint32_t>> keySlots_; ///< of Dml::storedKeys: the stored value, the new one
};

} // namespace ouzel::executor
