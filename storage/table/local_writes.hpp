#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/table/change_log.hpp"
#include "storage/table/segment.hpp"

namespace ouzel::storage {

class Table;
struct TableCore;

/// What one transaction has written to one table and nobody else can see: new rows in segments of its own, and the list
/// of marks it has set on others' rows. Commit hands the segments to the table (small ones are copied to the shared
/// delta); abort drops them and takes the marks back.
///
/// Appenders and deletes of one statement may call in parallel; commit and rollback are called alone.
class LocalWrites {
public:
   explicit LocalWrites(std::shared_ptr<Table> table);
   ~LocalWrites();

   Table& table() { return *table_; }

   /// A finished appender's rows. Few rows are copied to a segment that takes the next statement's as well.
   void addDelta(std::unique_ptr<Delta> rows, uint32_t command);
   void addBlock(std::shared_ptr<Block> block, uint32_t command);
   /// Delete marks were set on `rows` of the segment.
   void addDeletes(const SegmentPtr& segment, std::vector<uint32_t> rows);
   /// Locks were set on `rows` of the segment by `command`.
   void addLocks(const SegmentPtr& segment, std::vector<uint32_t> rows, uint32_t command);

   struct Visible {
      SegmentPtr segment;
      uint32_t rows;
   };
   /// Own segments as a statement of command `commandId` sees them.
   std::vector<Visible> visible(uint32_t commandId) const;
   struct Range {
      SegmentPtr segment;
      uint32_t first, end;
   };
   /// Rows that commands from `commandId` on have inserted, those deleted since included.
   std::vector<Range> insertedSince(uint32_t commandId) const;
   /// Rows that commands from `commandId` on have deleted, in that order.
   std::vector<std::pair<SegmentPtr, std::vector<uint32_t>>> deletedSince(uint32_t commandId) const;
   SegmentPtr findSegment(SegmentId id) const;
   bool isEmpty() const; ///< locks aside
   uint64_t deletedRows() const;

   /// Undo what commands from `commandId` on have done. With `keepLocks`, what they deleted stays locked.
   void rollbackTo(uint32_t commandId, bool keepLocks = false);
   /// Take all locks back: the transaction ends.
   void releaseLocks();

   // Commit, in this order: encode() without locks; place() in commit order, under the commit lock; then, when the log
   // is durable, publish(). unplace() takes place() back when the log refuses.

   /// Rows for the log.
   struct LoggedRows {
      SegmentId segment = 0;
      uint32_t firstRow = 0, rowCount = 0;
      std::string batches;  ///< encodeBatch, one after the other, LZ4-compressed where that saves something
      uint64_t rawSize = 0; ///< before compression; 0: not compressed
   };
   struct LoggedBlock {
      SegmentId segment = 0;
      std::string objectName;
   };
   struct LoggedDeletes {
      SegmentId segment = 0;
      std::vector<uint32_t> rows; ///< ascending
   };
   void encode();
   void place();
   void unplace();
   void publish(Timestamp timestamp, Timestamp horizon);
   /// Rows added (where place() has put them) and deleted.
   std::vector<ChangedRows> changes() const;

   std::vector<LoggedRows> loggedRows;
   std::vector<LoggedBlock> loggedBlocks;
   std::vector<LoggedDeletes> loggedDeletes;

private:
   struct CommandRows {
      uint32_t command;
      uint32_t rowEnd;
   };
   struct Own {
      SegmentPtr segment;
      std::vector<CommandRows> commands;
      // Commit:
      bool isCopied = false; ///< its live rows went to `target`
      SegmentPtr target;
      uint32_t targetFirst = 0, targetEnd = 0;
   };
   struct Deletes {
      SegmentPtr segment;
      std::vector<uint32_t> rows;
   };

   struct Locks {
      SegmentPtr segment;
      std::vector<uint32_t> rows;
      uint32_t command;
   };
   bool isOwn(const SegmentPtr& segment) const REQUIRES(mutex_);

   const std::shared_ptr<Table> table_;
   mutable Mutex mutex_; ///< taken before the table's
   std::vector<Own> own_ GUARDED_BY(mutex_);
   std::vector<Deletes> deletes_ GUARDED_BY(mutex_);
   std::vector<Locks>
       locks_ GUARDED_BY(mutex_); ///< a row is in one of them at most, and keeps its place when it is deleted later
   SegmentPtr small_ GUARDED_BY(mutex_); ///< the own segment that takes few rows
};

} // namespace ouzel::storage
