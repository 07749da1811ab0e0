#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/batch.hpp"
#include "storage/base/column_slice.hpp"
#include "storage/base/document_columns.hpp"
#include "storage/block/chunk_encoder.hpp"

namespace ouzel::storage {

/// Rows in memory, column by column, append-only: those of a delta segment, or those that an appender gathers to
/// encode.
///
/// Threads: one writer at a time, which the owner ensures. A reader needs no lock for rows that it knows from
/// rowCount() or a commit. Arrays grow by copying; the delta keeps the old arrays, so pointers of readers stay valid,
/// unless it is private.
/// Errors: memory is charged to the reservation before use; when it refuses, 53200 is thrown and no row is added.
class Delta {
public:
   Delta(std::vector<PhysicalType> types, Reservation& memory, DocumentColumns documents = {});
   ~Delta();
   Delta(const Delta&) = delete;
   Delta& operator=(const Delta&) = delete;

   const std::vector<PhysicalType>& types() const { return types_; }
   const DocumentColumns& documents() const { return documents_; }
   uint32_t rowCount() const { return rowCount_.load(std::memory_order_acquire); }
   uint32_t room() const { return blockRowsMax - rowCount_.load(std::memory_order_relaxed); }
   uint32_t rowGroupCount() const { return (rowCount() + rowGroupRows - 1) / rowGroupRows; }
   size_t bytes() const { return memory_.used(); }

   /// Copy the live rows of `batch`, all or none. Columns that it lacks are filled from `missing`. REQUIRES: room()
   /// rows at most.
   void append(const Batch& batch, const std::vector<Value>& missing = {});
   /// Allocate whole row groups from the start: for bulk loads.
   void expectMany() { expectsMany_ = true; }
   /// A private delta has no readers: it frees arrays that have grown.
   void setPrivate(bool isPrivate) { isPrivate_ = isPrivate; }
   /// Forget the rows from `rowCount` on. REQUIRES: no reader knows these rows, and no thread sketches them.
   void truncate(uint32_t rowCount);
   /// Forget all rows, keep the memory. REQUIRES: no reader.
   void clear();

   /// `count` flat values inside one row group. The last validity word may be written to while it is read, but bits of
   /// rows that the reader knows do not change.
   ColumnSlice slice(uint32_t column, uint32_t firstRow, uint32_t count) const;
   /// The slices of all columns.
   std::vector<ColumnSlice> slices(uint32_t firstRow, uint32_t count) const;

   /// Sketches of the first `rows` rows, computed from the last call's. The caller makes one call at a time.
   const std::vector<ColumnSketch>& sketches(uint32_t rows);
   /// What the documents of the first `rows` rows have at their paths, or of some rows more; null: the column is not
   /// one of documents. Made as sketches() are.
   const DocumentSummary* documentsOf(uint32_t column, uint32_t rows);

private:
   struct Column {
      std::atomic<char*> values{nullptr};
      std::atomic<ValidityWord*> validity{nullptr};
   };
   struct RowGroup {
      uint32_t capacity = 0;
      std::unique_ptr<Column[]> columns;
   };
   static constexpr uint32_t rowGroupsMax = blockRowsMax / rowGroupRows;

   void reserveRows(uint32_t rowGroup, uint32_t rows);
   void appendColumn(uint32_t column, const Vector& vector, const Selection& rows, uint32_t firstSelected,
                     uint32_t count, uint32_t target);
   ValidityWord* writableValidity(uint32_t rowGroup, uint32_t column);
   struct Buffer {
      std::unique_ptr<char[]> memory;
      size_t bytes;
      uint32_t rowGroup;
   };
   char* allocate(size_t bytes, uint32_t rowGroup);
   void freeOld(uint32_t rowGroup, size_t end);

   const std::vector<PhysicalType> types_;
   const DocumentColumns documents_;
   Reservation memory_;
   Arena strings_;
   std::array<std::atomic<RowGroup*>, rowGroupsMax> groups_{};
   std::vector<Buffer> buffers_;
   std::atomic<uint32_t> rowCount_{0};
   bool expectsMany_ = false, isPrivate_ = false;
   std::vector<ColumnSketch> sketches_;
   uint32_t sketchedRows_ = 0;
   struct Summarized {
      DocumentSummary summary;
      uint32_t rows = 0;
   };
   /// The summaries of rows that are committed or one transaction's own are used without the mutex. It is for
   /// truncate(), which a failed commit calls while others plan.
   Mutex summariesMutex_;
   std::vector<Summarized> summaries_ GUARDED_BY(summariesMutex_); ///< by position in documents_.columns
};

} // namespace ouzel::storage
