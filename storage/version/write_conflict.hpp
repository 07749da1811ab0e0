#pragma once
#include "common/error/sql_error.hpp"
#include "storage/base/ids.hpp"
#include "storage/version/lock_strength.hpp"

namespace ouzel::storage {

/// A row that a statement wants to delete or lock is held by another open transaction, or was deleted by a commit that
/// the snapshot does not see. The catcher may wait for the holder, roll the statement back and run it again; otherwise
/// the client gets 40001.
class WriteConflict : public SqlError {
public:
   /// `word`: the mark on the row, see DeleteMarks. `wanted`: the lock that it is in the way of.
   WriteConflict(StorageId conflictTable, RowId conflictRow, uint64_t word, LockStrength wanted);

   StorageId table;
   RowId row;
   TransactionId holder;  ///< 31 bits of the open transaction's id; 0: the deleter has committed
   Timestamp committedAt; ///< set when `holder` is 0
   LockStrength wanted;
   bool isShared = false; ///< the transaction that wants it shares the row already
};

} // namespace ouzel::storage
