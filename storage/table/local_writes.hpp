#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/table/change_log.hpp"
#include "storage/table/row_shares.hpp"
#include "storage/table/segment.hpp"

namespace ouzel::storage {

class Table;
struct TableCore;

/// The uncommitted writes of one transaction to one table, which no other transaction sees: new rows in segments of its
/// own, and the list of delete marks it has set on committed rows. Commit hands the segments to the table (small ones
/// are copied to the shared delta); abort drops the segments and takes the marks back.
///
/// Threads: appenders and deletes of one statement may call in parallel; commit and rollback are called alone.
class LocalWrites {
public:
   LocalWrites(std::shared_ptr<Table> table, TransactionId transaction);
   ~LocalWrites();

   Table& table() { return *table_; }

   /// Add the rows of a finished appender. A small number of rows is copied to a segment that later statements add to
   /// as well.
   void addDelta(std::unique_ptr<Delta> rows, uint32_t command);
   void addBlock(std::shared_ptr<Block> block, uint32_t command);
   /// Note that delete marks were set on `rows` of the segment. `keepKeys`: some of them have the strength NoKeyUpdate.
   void addDeletes(const SegmentPtr& segment, std::vector<uint32_t> rows, bool keepKeys);
   /// Note that locks were set on `rows` of the segment by `command`. A row may get a stronger lock later.
   void addLocks(const SegmentPtr& segment, std::vector<uint32_t> rows, uint32_t command, LockStrength strength);
   /// Note that shares were added to the table's RowShares by `command`.
   void addShares(const std::vector<RowShares::Place>& places, uint32_t command, LockStrength strength);
   /// Whether some rows have been updated and have kept their keys.
   bool haveKeptKeys() const { return haveKeptKeys_.load(std::memory_order_relaxed); }
   /// Claims a row of the transaction, see RowShares, or takes the claim back.
   void claim(const SegmentPtr& segment, uint32_t row, uint32_t command);
   void unclaim(const SegmentPtr& segment, uint32_t row);

   /// Note that delete marks were set on `rows` of a retired segment, which only this transaction's reads heed.
   void addShadows(const SegmentPtr& segment, std::vector<uint32_t> rows);

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
   /// Rows that commands from `commandId` on have inserted, including rows deleted since.
   std::vector<Range> insertedSince(uint32_t commandId) const;
   /// Rows that commands from `commandId` on have deleted, in that order.
   std::vector<std::pair<SegmentPtr, std::vector<uint32_t>>> deletedSince(uint32_t commandId) const;
   SegmentPtr findSegment(SegmentId id) const;
   bool isEmpty() const; ///< locks do not count
   uint64_t deletedRows() const;

   /// Undo the inserts, deletes and locks of commands from `commandId` on. With `keepLocks`, rows they have deleted or
   /// locked stay locked.
   void rollbackTo(uint32_t commandId, bool keepLocks = false);
   /// Take all locks back, at the end of the transaction.
   void releaseLocks();

   // Commit, in this order: encode() without locks; place() in commit order, under the commit lock; publish() when the
   // log is durable. unplace() undoes place() when the log refuses the commit.

   /// Rows for the log.
   struct LoggedRows {
      SegmentId segment = 0;
      uint32_t firstRow = 0, rowCount = 0;
      std::string batches;  ///< by encodeBatch(), one after the other, LZ4-compressed where that saves bytes
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
   /// A lock that other transactions may share.
   struct Share {
      RowShares::Place place;
      LockStrength strength;
      uint32_t command;
   };
   /// Of committed rows; by strength: NoKeyUpdate, Update.
   using KeptRows = std::array<std::vector<LoggedDeletes>, 2>;
   struct Kept {
      std::string batches; ///< new rows, by encodeBatch()
      KeptRows deletes, locks;
      std::vector<Share> shares;
   };
   /// What another transaction needs to make the same writes; these stay as they are. Throws 0A000 if there are blocks.
   Kept keep();
   void encode();
   void place();
   void unplace();
   void publish(Timestamp timestamp, Timestamp horizon);
   /// Rows added (in the places that place() gave them) and rows deleted.
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
      bool isCopied = false; ///< its live rows are copied to `target`
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
      LockStrength strength;
   };
   using StrengthOf = std::map<std::pair<SegmentId, uint32_t>, LockStrength>; ///< by segment and row
   StrengthOf locksBefore(uint32_t command) const REQUIRES(mutex_);
   void undoDeletes(uint32_t commandId, bool keepLocks, const StrengthOf& staying) REQUIRES(mutex_);
   void undoLocks(uint32_t commandId, const StrengthOf& staying) REQUIRES(mutex_);
   void removeShares(uint32_t sinceCommand) REQUIRES(mutex_);
   void raiseClaimed() REQUIRES(mutex_);
   bool isOwn(const SegmentPtr& segment) const REQUIRES(mutex_);
   void removeShadows(uint32_t sinceCommand) REQUIRES(mutex_);

   const std::shared_ptr<Table> table_;
   const TransactionId transaction_;
   std::atomic<bool> haveKeptKeys_{false}, hasClaims_{false};
   mutable Mutex mutex_; ///< taken before the table's mutex
   std::vector<Own> own_ GUARDED_BY(mutex_);
   std::vector<Deletes> deletes_ GUARDED_BY(mutex_);
   std::vector<Deletes> shadows_ GUARDED_BY(mutex_); ///< of rows in `deletes_`, at their places before compaction
   std::vector<Locks> locks_ GUARDED_BY(mutex_);     ///< a row stays in them when it is deleted later
   std::vector<Share> shares_ GUARDED_BY(mutex_);
   SegmentPtr small_ GUARDED_BY(mutex_); ///< the own segment that small appends are copied to
};

} // namespace ouzel::storage
