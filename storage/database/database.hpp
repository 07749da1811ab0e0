#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/thread/task_runner.hpp"
#include "io/object_store/store_statistics.hpp"
#include "storage/buffer/memory_governor.hpp"
#include "storage/database/database_types.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::io {
struct RetrieverStatistics;
}

namespace ouzel::storage {

class DatabaseFiles;

/// One open data directory: its tables, transactions, log and manifest. Only one process at a time can write to it.
/// Thread-safe, except that open and close are called once.
class Database {
public:
   /// Recover to the last acknowledged commit. Throws 55006 when another process has the database open, XX001 when
   /// what is on disk cannot be trusted. `catalogImage` is called during checkpoints and yields the bytes a later open
   /// gets back; it must reflect exactly the commits published so far (it is called between two commits).
   static std::unique_ptr<Database> open(const DatabaseOptions& options, MemoryGovernor& governor, TaskRunner& tasks);
   /// Close without a checkpoint when close() was not called: what a crash would leave behind.
   ~Database();

   /// The catalog as recovered; moved out on the first call.
   RecoveredCatalog takeRecoveredCatalog();
   /// Where checkpoints get the catalog's bytes from. REQUIRES: set before the first checkpoint or close().
   /// Called between two commits; must reflect exactly the commits published so far.
   void setCatalogImageSource(std::function<std::string()> source);

   std::unique_ptr<Transaction> begin();
   /// The snapshot a serializable transaction reads with; from here on its reads are remembered and checked by
   /// commit(), which throws 40001 when others have changed what it read and it has written.
   Snapshot beginSerializable(Transaction& transaction);
   /// Returns when the commit is durable and visible (`synchronous`) or visible only. When it throws, the transaction
   /// has been aborted; but with 08007 nobody can know: another server took over meanwhile. 25006: it had before.
   Timestamp commit(Transaction& transaction, CommitRequest request = {});
   void abort(Transaction& transaction);
   TransactionManager& transactions();

   /// A new empty table, known to others (through find) at once but durable with the commit; vanishes on abort.
   std::shared_ptr<Table> createTable(Transaction& transaction, std::vector<ColumnDefinition> columns);
   /// Takes effect at commit. TRUNCATE is a createTable plus a dropTable of the old storage.
   void dropTable(Transaction& transaction, StorageId id);
   /// Add a column at the end at once; undone on abort. REQUIRES: the caller holds the relation exclusively.
   void addColumn(Transaction& transaction, StorageId id, ColumnDefinition column);
   /// Null when there is none.
   std::shared_ptr<Table> find(StorageId id) const;

   /// From the durable counter, at least 16384; not given out again after a crash unless nothing used it.
   Oid allocateOid();

   /// Counters live outside transactions. What was set is durable with the next commit or syncLog() after it. An
   /// unknown id has no counter.
   void setCounter(Oid id, Counter counter);
   std::optional<Counter> counter(Oid id) const;
   std::vector<Oid> counters() const;
   /// From the next checkpoint on; ids are not used again.
   void forgetCounter(Oid id);
   /// Return when everything appended to the log so far is on disk.
   void syncLog();
   /// Return when a manifest in the store covers the log up to `lsn` (Transaction::commitLsn(), walPosition()), so that
   /// it needs no log. Throws what the thread's Interruptible throws, and 08007 when another server has taken over:
   /// what is in the log is committed here all the same.
   void waitForStore(uint64_t lsn);

   /// Of a database opened to follow: look for a newer checkpoint of the writer and make it visible. Snapshots taken
   /// before go on seeing what they saw, but for blocks that the writer has removed: reading one is 40001. False: there
   /// is none. Throws what the store throws, and XX001; everything stays as it was then.
   bool follow(const FollowCallback& publish);
   /// A block was removed while it was needed: a new snapshot should come after follow().
   bool hasLostBlock() const;

   /// Turn the delta into blocks, publish a manifest, truncate the log. Others go on working meanwhile.
   void checkpoint();
   /// Checkpoint, mark the manifest clean and release the lease. Throws 25006, and leaves everything as it is, when
   /// another server has taken over. REQUIRES: no transaction is open.
   void close();

   /// Read every object and verify every checksum. Returns the number of objects; one line per fault to `report`.
   uint64_t check(const std::function<void(std::string_view)>& report);
   uint64_t walBytes() const;    ///< of the log, that a start would read
   uint64_t walPosition() const; ///< bytes written to the log over its whole life; 0 of a follower
   /// Memory of rows that are not in blocks yet, as charged to the ledger.
   size_t deltaBytes() const;
   /// Of the store: what it has asked the network for; empty for a directory.
   std::optional<io::RetrieverStatistics> storeStatistics() const;
   /// Of its cache on a local disk; empty when there is none.
   std::optional<io::CacheStatistics> cacheStatistics() const;

   DatabaseFiles& files(); ///< for tests

private:
   struct State;
   explicit Database(std::unique_ptr<State> state);
   std::unique_ptr<State> state_;
};

} // namespace ouzel::storage
