#pragma once
#include <memory>

#include "storage/database/counters.hpp"
#include "storage/database/retired_segments.hpp"
#include "storage/database/stored_state.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// The result of a recovery, from which the Database makes its parts.
struct RecoveredDatabase {
   RecoveredCatalog catalog;
   StoredState stored;
   std::unique_ptr<Log> log; ///< read-only: not started
   Timestamp lastCommit = 1;
};

/// Recover a database: the newest manifest gives the blocks and the rows deleted in them, the log gives the commits
/// since. Rows keep their ids. Fills `context` (ids), `tables`, `counters` and `retired`. When opened to write,
/// publishes the first manifests of this server's epoch and starts the log. A table whose stored state is damaged is
/// there, but without segments (TableCore::damage). Throws XX001 when the manifest, the catalog or the log is damaged,
/// or when the log has changes of a damaged table. REQUIRES: the four are empty, and no other thread uses them.
RecoveredDatabase recoverDatabase(DatabaseFiles& files, StorageContext& context, TableRegistry& tables,
                                  Counters& counters, RetiredSegments& retired);

} // namespace ouzel::storage
