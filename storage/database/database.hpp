#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/thread/task_runner.hpp"
#include "io/object_store/store_statistics.hpp"
#include "storage/base/write_use.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/database/database_types.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::io {
struct RetrieverStatistics;
}

namespace ouzel::storage {

class DatabaseFiles;

/// One open database: its tables, transactions, log and manifest. Only one process at a time can write to it.
///
/// Ownership: owns all parts; the governor and the task runner given to open() outlive it. Transactions and tables must
/// not be used after it is gone.
/// Threads: any; open and close are called once.
class Database {
public:
   /// Recover to the last acknowledged commit. Throws 55006 when another process has the database open, XX001 when the
   /// stored state is damaged.
   static std::unique_ptr<Database> open(const DatabaseOptions& options, MemoryGovernor& governor, TaskRunner& tasks);
   /// Without close(), the store and the log are left as after a crash.
   ~Database();

   /// The catalog as recovered; moved out on the first call.
   RecoveredCatalog takeRecoveredCatalog();
   /// The source of the catalog's bytes: each checkpoint stores them, and a later open returns them. Called between two
   /// commits; must reflect exactly the commits published so far. REQUIRES: set before the first checkpoint or close().
   void setCatalogImageSource(std::function<std::string()> source);

   std::unique_ptr<Transaction> begin();
   /// The snapshot that a serializable transaction reads with. From here on its reads are recorded. commit() checks
   /// them, and throws 40001 when the transaction has written and other commits have changed what it read.
   Snapshot beginSerializable(Transaction& transaction);
   /// Returns when the commit is durable and visible (`synchronous`), or only visible. When commit() throws, the
   /// transaction is aborted, except for 08007: another server took over meanwhile, and the outcome is unknown. 25006:
   /// it took over before.
   Timestamp commit(Transaction& transaction, CommitRequest request = {});
   void abort(Transaction& transaction);
   /// The writes of an open transaction as bytes, from which repeat() makes them again: see kept_writes.hpp.
   std::string describe(Transaction& transaction);
   void repeat(Transaction& transaction, std::string_view described);
   TransactionManager& transactions();

   /// A new empty table. find() knows it at once; it is durable with the commit, and gone after an abort. `place`:
   /// where its objects lie, see table_place.hpp.
   std::shared_ptr<Table> createTable(Transaction& transaction, std::vector<ColumnDefinition> columns,
                                      uint32_t place = 0);
   /// Takes effect at commit. TRUNCATE is a createTable plus a dropTable of the old storage.
   void dropTable(Transaction& transaction, StorageId id);
   /// Add a column at the end. Takes effect at once and is undone on abort. REQUIRES: the caller holds the relation
   /// exclusively.
   void addColumn(Transaction& transaction, StorageId id, ColumnDefinition column);
   /// Null when no such table exists.
   std::shared_ptr<Table> find(StorageId id) const;
   /// The ids of all tables.
   std::vector<StorageId> tables() const;

   /// A new OID, at least 16384. After a crash it is given out again only if no commit or checkpoint came after it.
   Oid allocateOid();

   /// Counters live outside transactions. A number that was set is durable with the next commit or syncLog() after it.
   /// An unknown id has no counter.
   void setCounter(Oid id, Counter counter);
   std::optional<Counter> counter(Oid id) const;
   std::vector<Oid> counters() const;
   /// Remove the counter; durable with the next checkpoint. Its id is not used again.
   void forgetCounter(Oid id);
   /// Return when everything appended to the log so far is on disk.
   void syncLog();
   /// Return when a manifest in the store covers the log up to `lsn` (Transaction::commitLsn(), walPosition()), so that
   /// these commits do not need the log. Throws what the thread's Interruptible throws, and 08007 when another server
   /// has taken over; the commit is then still visible here.
   void waitForStore(uint64_t lsn);

   /// For a database opened to follow: look for a newer checkpoint of the writer and make it visible. Older snapshots
   /// see the same rows as before, except in blocks that the writer has removed: reading such a block is 40001. False:
   /// there is no newer checkpoint. Throws the store's errors, and XX001; then the visible state has not changed.
   bool follow(const FollowCallback& publish);
   /// A snapshot needed a block that the writer has removed. Call follow() before taking a new snapshot.
   bool hasLostBlock() const;

   /// Turn deltas into blocks, publish a manifest, truncate the log. Transactions go on meanwhile.
   void checkpoint();
   /// Checkpoint, mark the manifest clean and release the lease. Throws 25006, and changes nothing in the store, when
   /// another server has taken over. REQUIRES: no transaction is open.
   void close();

   /// Read every block and verify every checksum. Returns the number of objects; calls `report` with one line for each
   /// fault.
   uint64_t check(const std::function<void(std::string_view)>& report);
   uint64_t walBytes() const;    ///< bytes of the log that a start would read
   uint64_t walPosition() const; ///< bytes written to the log over its whole life; 0 of a follower
   LogUse logUse() const;        ///< nothing of a follower
   CheckpointUse checkpointUse() const;
   /// Memory of rows that are not in blocks yet, in bytes, as charged to the ledger.
   size_t deltaBytes() const;
   /// Requests of the store to the network; empty for a directory.
   std::optional<io::RetrieverStatistics> storeStatistics() const;
   /// Counters of the store's cache on a local disk; empty when it has none.
   std::optional<io::CacheStatistics> cacheStatistics() const;

   DatabaseFiles& files(); ///< for tests

private:
   struct State;
   explicit Database(std::unique_ptr<State> state);
   std::unique_ptr<State> state_;
};

} // namespace ouzel::storage
