#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "storage/table/table.hpp"
#include "storage/table/transaction.hpp"

// The writes of an open transaction as bytes from which another process makes the same transaction again: what a
// prepared transaction (two-phase commit) leaves behind for the time after a restart.
//
// Rows are named by their ids. They stay valid as long as rows carry marks of the transaction: compaction leaves
// segments with such rows alone, and a restart gives rows the ids that they had.

namespace ouzel::storage {

/// Throws 0A000 for what the bytes cannot hold: new, dropped or changed tables, and blocks that the transaction has
/// loaded. REQUIRES: no statement of the transaction runs.
std::string describeWrites(Transaction& transaction);

/// Makes the same writes in `transaction`, a new one. Throws XX001 when the tables do not have what the bytes name.
/// REQUIRES: no other transaction has changed the rows meanwhile.
void repeatWrites(Transaction& transaction, std::string_view bytes,
                  const std::function<std::shared_ptr<Table>(StorageId)>& find);

} // namespace ouzel::storage
