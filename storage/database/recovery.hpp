#pragma once
#include <memory>

#include "storage/database/counters.hpp"
#include "storage/database/retired_segments.hpp"
#include "storage/database/stored_state.hpp"
#include "storage/wal/log.hpp"

namespace ouzel::storage {

/// What a start finds out, for the parts of the database that go on from there.
struct RecoveredDatabase {
   RecoveredCatalog catalog;
   StoredState stored;
   std::unique_ptr<Log> log; ///< read-only: not started
   Timestamp lastCommit = 1;
};

/// From a directory to a database: the newest manifest gives the blocks and what is deleted in them, the log gives the
/// commits since. Rows come back under the ids they had. Fills `context` (ids), `tables`, `counters` and `retired`;
/// when this server is to write, publishes its first manifests and starts the log. Throws XX001 when what is on disk
/// cannot be trusted. REQUIRES: all of them are empty, and nobody else uses them.
RecoveredDatabase recoverDatabase(DatabaseFiles& files, StorageContext& context, TableRegistry& tables,
                                  Counters& counters, RetiredSegments& retired);

} // namespace ouzel::storage
