#pragma once
#include <memory>

#include "common/value/batch.hpp"

namespace ouzel::storage {

class Table;
class Transaction;

/// Small: rows stay in memory until there are many (64 MiB). Bulk: full row groups are encoded at once and become
/// unpublished blocks (COPY, CREATE TABLE AS, INSERT ... SELECT).
enum class AppendMode : uint8_t { Small, Bulk };

/// Takes new rows of one table under one transaction. One per worker thread; several may fill one table at once, each
/// building its own blocks. Call finish(), else the rows are discarded.
class Appender {
public:
   Appender(Table& table, Transaction& transaction, AppendMode mode);
   ~Appender();

   /// Copy the live rows. Columns as the table's (attnum order, dropped ones included or, when `batch` has fewer
   /// columns, missing at the end and filled with the missing value); representations as the table's.
   void append(const Batch& batch);
   /// Hand the rows over to the transaction.
   void finish();
   uint64_t rowCount() const;

private:
   struct State;
   std::unique_ptr<State> state_;
};

} // namespace ouzel::storage
