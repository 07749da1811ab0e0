#pragma once
#include <memory>

#include "common/value/batch.hpp"

namespace ouzel::storage {

class Table;
class Transaction;

/// Small: rows stay in memory until they take 64 MiB, and become blocks then. Bulk: full row groups are encoded at once
/// and become unpublished blocks (COPY, CREATE TABLE AS, INSERT ... SELECT).
enum class AppendMode : uint8_t { Small, Bulk };

/// Takes new rows of one table under one transaction. Without finish() the rows are discarded.
/// Threads: one per worker; several appenders may fill one table at once, each building its own blocks.
class Appender {
public:
   Appender(Table& table, Transaction& transaction, AppendMode mode);
   ~Appender();

   /// Copy the live rows. Columns and their representations are those of the table, dropped columns included, in attnum
   /// order. Columns that `batch` lacks at the end get their missing values.
   void append(const Batch& batch);
   /// Hand the rows over to the transaction.
   void finish();
   /// Writes a block of the rows that are in memory, however few.
   void writeRows();
   uint64_t rowCount() const;
   /// Of rows that are not in blocks yet.
   size_t bytesInMemory() const;

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::storage
