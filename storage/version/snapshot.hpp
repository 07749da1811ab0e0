#pragma once
#include "storage/base/ids.hpp"

namespace ouzel::storage {

/// Decides which rows a statement sees: those committed up to `commitTimestamp`, and those that its own transaction
/// wrote in commands before `commandId`. A plain value; valid as long as its transaction.
struct Snapshot {
   Timestamp commitTimestamp = 0;
   TransactionId transactionId = 0; ///< 0: of no transaction
   uint32_t commandId = 0;
   bool operator==(const Snapshot&) const = default;
};

} // namespace ouzel::storage
