#include "executor/operator/write/shared_appenders.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

namespace {

/// The statement's rows may take the server's memory divided by this; another statement may do the same.
constexpr size_t memoryDivisor = 4;

} // namespace

SharedAppenders::SharedAppenders(storage::Transaction& transaction, std::vector<storage::Table*> tables)
   : transaction_(transaction), tables_(tables.size()) {
   for (size_t i = 0; i < tables.size(); ++i)
      tables_[i].table = tables[i];
}

void SharedAppenders::append(size_t table, const Batch& rows) {
   Shared& shared = tables_[table];
   if (!tryAppend(shared, rows)) { // others use the memory
      writeLargest(bytes_.load(std::memory_order_relaxed));
      const MutexLock lock(shared.mutex);
      add(shared, rows);
   }
   const size_t bytes = bytes_.load(std::memory_order_relaxed);
   if (bytes > shared.table->memoryLimit() / memoryDivisor) writeLargest(bytes);
}

/// False: there is no memory, and no row was added.
bool SharedAppenders::tryAppend(Shared& shared, const Batch& rows) {
   const MutexLock lock(shared.mutex);
   const uint64_t before = shared.appender ? shared.appender->rowCount() : 0;
   try {
      add(shared, rows);
      return true;
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::outOfMemory || !shared.appender || shared.appender->rowCount() != before) throw;
      return false;
   }
}

void SharedAppenders::add(Shared& shared, const Batch& rows) {
   if (!shared.appender) shared.appender = shared.table->appender(transaction_, storage::AppendMode::Small);
   shared.appender->append(rows);
   const size_t bytes = shared.appender->bytesInMemory();
   bytes_.fetch_add(bytes - shared.bytes, std::memory_order_relaxed);
   shared.bytes = bytes;
}

/// Writes blocks of the rows of tables that have more than the mean, until half of the memory is free. `seen`: how much
/// there was when the caller found that it is too much.
void SharedAppenders::writeLargest(size_t seen) {
   const MutexLock writing(writing_);
   const size_t before = bytes_.load(std::memory_order_relaxed);
   if (before < seen / 4 * 3) return; // another worker has just written them
   const size_t mean = before / tables_.size();
   for (Shared& shared : tables_) {
      if (bytes_.load(std::memory_order_relaxed) <= before / 2) break;
      const MutexLock lock(shared.mutex);
      if (!shared.appender || shared.bytes < mean) continue;
      shared.appender->writeRows();
      bytes_.fetch_sub(shared.bytes, std::memory_order_relaxed);
      shared.bytes = 0;
   }
}

void SharedAppenders::finish() {
   for (Shared& shared : tables_) {
      const MutexLock lock(shared.mutex);
      if (shared.appender) shared.appender->finish();
   }
}

} // namespace ouzel::executor
