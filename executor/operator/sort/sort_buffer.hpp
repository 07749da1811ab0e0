#pragma once
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/memory/large_memory.hpp"
#include "executor/kernel/compare.hpp"
#include "executor/materialize/batch_builder.hpp"
#include "executor/operator/sort/partition_bounds.hpp"
#include "executor/operator/sort/sort_key.hpp"

// Rows with sort keys, and their order. Each worker fills a SortRun of its own. SortBuffer takes the runs and sorts
// their rows in tasks that workers share (row_sorter.hpp). Rows never move: their addresses are sorted.

namespace ouzel::executor {

/// The address of a row: number of the run, and of the row in the run, both from 0.
struct RowAddress {
   uint32_t run = 0, row = 0;
};

/// The columns and the key of a SortBuffer's rows.
struct SortRowLayout {
   std::vector<Representation> columns; ///< stored with each row
   SortKeyLayout key;
   /// For each key column that is not exact, the stored column with its values; else UINT32_MAX.
   std::vector<uint32_t> keyColumns;
};

/// Rows of one worker in order of arrival. `keepRows`: only so many first rows in sort order are wanted; the run drops
/// other rows now and then; so it does for each partition with limitPartitions(). Not thread-safe while it is filled;
/// read-only after seal().
class SortRun {
public:
   static constexpr uint64_t keepAll = UINT64_MAX;
   SortRun(const SortRowLayout& layout, Reservation& memory, uint64_t keepRows = keepAll);

   /// `bounds` of the worker; it outlives the run.
   void limitPartitions(PartitionBounds* bounds) { bounds_ = bounds; }
   /// Copy the live rows of `rows`, whose columns are those of the layout; `keys` are the values of the key columns.
   void append(const Batch& rows, std::span<const Vector> keys);
   /// As append(), with encoded keys: the key of live row i is at keys + i * stride.
   void appendEncoded(const Batch& rows, const std::byte* keys) { appendSome(rows, {}, keys); }
   /// End the run: no more rows are added.
   void seal();
   /// Free the keys; key() must not be called afterwards.
   void releaseKeys() {
      keys_.clear();
      keyArena_.reset();
   }

   uint32_t rowCount() const { return rowCount_; }
   /// The bits in which the run's keys differ.
   const KeySpread& spread() const { return spread_; }
   /// A sealed run's keys may be changed, all in the same way. Afterwards the spread is that of the changed keys.
   std::byte* keyToChange(uint32_t row) { return keys_[row / batchRowsMax] + size_t{row % batchRowsMax} * stride_; }
   void setSpread(const KeySpread& spread) { spread_ = spread; }
   void addSpread(const KeySpread& spread) { spread_.add(spread); }
   /// Memory of rows and keys.
   size_t bytes() const { return closedBytes_ + builder_.bytes() + (keyArena_ ? keyArena_->chunkBytes() : 0); }
   /// With keepRows: the key of the last wanted row, for the worker's next run.
   std::vector<std::byte> takeThreshold() { return std::move(threshold_); }
   void setThreshold(std::vector<std::byte> key) { threshold_ = std::move(key); }
   const std::byte* threshold() const {
      return threshold_.empty() ? nullptr : threshold_.data();
   } ///< null: not known yet
   const std::byte* key(uint32_t row) const { return keys_[row / batchRowsMax] + size_t{row % batchRowsMax} * stride_; }
   const Batch& batchOf(uint32_t row) const { return batches_[row / batchRowsMax]->batch; }
   /// The stored value. Memory of NULL values is readable, too.
   const std::byte* value(uint32_t column, uint32_t row) const {
      const Vector& vector = batchOf(row).columns[column];
      return static_cast<const std::byte*>(vector.data) + size_t{row % batchRowsMax} * physicalSize(vector.type);
   }
   bool isNull(uint32_t column, uint32_t row) const {
      return !isValidBit(batchOf(row).columns[column].validity, row % batchRowsMax);
   }
   bool mayHaveNulls(uint32_t column) const { return mayHaveNulls_[column] != 0; }
   /// The arrays of the column's values, one for each batchRowsMax rows.
   const std::byte* const* columnBatches(uint32_t column) const { return columnBatches_[column].data(); }

private:
   template <typename IsWanted>
   void appendWanted(const Batch& rows, uint32_t count, IsWanted&& isWanted);
   void appendSome(const Batch& rows, std::span<const Vector> keys, const std::byte* encoded);
   void closeBatch();
   void dropRest();
   void dropRestOfPartitions();
   void keepOnly(std::vector<RowAddress> rows);

   const SortRowLayout* layout_;
   Reservation* memory_;
   uint64_t keepRows_;
   /// With keepRows: how many more rows wait until the rest is dropped. Few at first, since the scan below may leave
   /// out rows as soon as there is a threshold.
   uint32_t surplusMax_ = 32;
   PartitionBounds* bounds_ = nullptr; ///< null: partitions have no limit
   uint32_t stride_;
   std::vector<uint32_t> slots_;
   BatchBuilder builder_;
   std::unique_ptr<Arena> keyArena_;
   std::vector<std::unique_ptr<OwnedBatch>> batches_;
   std::vector<std::byte*> keys_; // one array of batchRowsMax keys per batch
   std::vector<std::vector<const std::byte*>> columnBatches_;
   std::vector<uint8_t> mayHaveNulls_;
   KeySpread spread_;
   uint32_t rowCount_ = 0;
   size_t closedBytes_ = 0;           // bytes of batches_
   std::vector<std::byte> threshold_; // with keepRows: key of the last wanted row; empty: not known yet
   std::vector<std::byte> scratch_;
   std::vector<RowIndex> passing_;
};

/// Three-way comparison by key columns [fromColumn, toColumn). `valueA(column)` and `valueB(column)` return the address
/// of the row's stored value.
template <typename ValueA, typename ValueB>
inline int compareKeys(const SortRowLayout& layout, const std::byte* keyA, const std::byte* keyB, uint32_t fromColumn,
                       uint32_t toColumn, ValueA&& valueA, ValueB&& valueB) {
   if (fromColumn >= toColumn) return 0;
   const auto& columns = layout.key.columns();
   uint32_t at = columns[fromColumn].offset;
   if (!layout.key.isExact())
      for (uint32_t i = fromColumn; i < toColumn; ++i) {
         const SortKeyLayout::Column& column = columns[i];
         if (column.isExact) continue;
         if (const int order = std::memcmp(keyA + at, keyB + at, column.end - at)) return order;
         at = column.end;
         if (!SortKeyLayout::isUnresolved(column, keyA)) continue;
         const uint32_t stored = layout.keyColumns[i];
         const int order = valueOrder(column.type)(valueA(stored), valueB(stored));
         if (order != 0) return column.descending ? -order : order;
      }
   const uint32_t end = columns[toColumn - 1].end;
   return at < end ? std::memcmp(keyA + at, keyB + at, end - at) : 0;
}

/// Compares rows of runs by their keys.
class RowOrder {
public:
   RowOrder(const SortRowLayout& layout, std::span<const SortRun* const> runs) : layout_(&layout), runs_(runs) {}
   /// Three-way comparison by key columns [fromColumn, toColumn).
   int compare(RowAddress a, RowAddress b, uint32_t fromColumn, uint32_t toColumn) const;
   int compare(RowAddress a, RowAddress b) const {
      return compare(a, b, 0, static_cast<uint32_t>(layout_->key.columns().size()));
   }

private:
   const SortRowLayout* layout_;
   std::span<const SortRun* const> runs_;
};

class KeyRanks;
class RowSorter;

/// All runs, and the order of their rows. Owns the runs. Filled through addRun() by one thread at a time; sorted by
/// tasks in rounds, as in Sink::finishTasks(); then read by any number of threads.
class SortBuffer {
public:
   explicit SortBuffer(SortRowLayout layout);
   ~SortBuffer();

   /// The rows as they were added.
   const SortRowLayout& layout() const { return layout_; }
   void addRun(std::unique_ptr<SortRun> run);
   /// The tasks of the next round; 0: the rows are sorted. `isAll`: the rows will not be merged with others, so that
   /// their keys may be changed to sort them faster.
   uint32_t sortTasks(uint32_t workers, Reservation& memory, bool isAll);
   void sortTask(uint32_t task);
   /// Called after the last task.
   void finishSort();
   /// Instead of sorting: the rows were added in sort order, run after run.
   void keepArrivalOrder(Reservation& memory);
   /// Free the keys. The order stays; rows can no longer be compared.
   void releaseKeys();
   void clear();

   /// Take the runs away before they are sorted.
   std::vector<std::unique_ptr<SortRun>> takeRuns();
   /// Memory that sorting needs per row, in addition to the row and its key.
   static constexpr size_t sortBytesPerRow = 24 + sizeof(RowAddress) + 8;

   uint64_t rowCount() const { return rowCount_; }
   /// Addresses in sort order.
   std::span<const RowAddress> order() const { return {order_.as<RowAddress>(), rowCount_}; }
   std::span<const SortRun* const> runs() const { return runPointers_; }
   RowOrder rowOrder() const { return RowOrder(ranked_ ? *ranked_ : layout_, runs()); }
   bool mayHaveNulls(uint32_t column) const;

private:
   const SortRowLayout layout_;
   std::vector<std::unique_ptr<SortRun>> runs_;
   std::vector<const SortRun*> runPointers_;
   uint64_t rowCount_ = 0;
   // STATE of sorting
   enum class Step : uint8_t { Begin, CollectTexts, ReplaceTexts, Split, Sort };
   Step step_ = Step::Begin;
   std::unique_ptr<KeyRanks> ranks_;       // exists while tasks replace texts by ranks
   std::unique_ptr<SortRowLayout> ranked_; // of the changed keys; null: they are as they were
   std::unique_ptr<RowSorter> sorter_;     // exists while tasks sort
   LargeMemory order_;
};

/// Copy stored column `column` of these rows to out[0...) and validity (null: the column has no NULLs). Strings are not
/// copied: the views point into the runs.
void gatherRows(std::span<const SortRun* const> runs, std::span<const RowAddress> rows, uint32_t column,
                PhysicalType type, void* out, ValidityWord* validity);

} // namespace ouzel::executor
