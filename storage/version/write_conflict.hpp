#pragma once
#include "common/error/sql_error.hpp"
#include "storage/base/ids.hpp"

namespace ouzel::storage {

/// A row that a statement wants to delete or lock is in another transaction's hands, or was deleted by one that the
/// snapshot does not see. Who catches it may wait for the holder, roll the statement back and run it again; else it is
/// the client's 40001.
class WriteConflict : public SqlError {
public:
   /// `word`: the mark on the row, see DeleteMarks.
   WriteConflict(StorageId conflictTable, RowId conflictRow, uint64_t word);

   StorageId table;
   RowId row;
   TransactionId holder;  ///< 31 bits of the open transaction's id; 0: it has committed,
   Timestamp committedAt; ///< at this time
};

} // namespace ouzel::storage
