#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/sync/mutex.hpp"
#include "storage/table/appender.hpp"
#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

namespace ouzel::executor {

/// The new rows of a statement that writes many tables, such as an INSERT into a thousand partitions. All workers fill
/// one appender for each table, so that neither memory nor the number of blocks grows with the workers. Rows gather in
/// memory, up to a share of the server's; then those of the tables with the most become blocks.
///
/// Threads: append() by all workers, finish() by one, after the last append().
class SharedAppenders {
public:
   SharedAppenders(storage::Transaction& transaction, std::vector<storage::Table*> tables);

   /// Errors: 53200, if the rows in blocks have not made room enough.
   void append(size_t table, const Batch& rows);
   /// Hands the rows over to the transaction.
   void finish();

private:
   struct Shared {
      storage::Table* table = nullptr;
      Mutex mutex;
      std::unique_ptr<storage::Appender> appender GUARDED_BY(mutex); ///< null: there was no row yet
      size_t bytes GUARDED_BY(mutex) = 0;                            ///< the part of `bytes_`
   };
   bool tryAppend(Shared& shared, const Batch& rows);
   void add(Shared& shared, const Batch& rows) REQUIRES(shared.mutex);
   void writeLargest(size_t seen);

   storage::Transaction& transaction_;
   std::vector<Shared> tables_;
   std::atomic<size_t> bytes_{0}; ///< of all rows in memory
   Mutex writing_;                ///< held by the worker that turns rows into blocks; taken before those of tables
};

} // namespace ouzel::executor
